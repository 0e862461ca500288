package syntax

import (
	"cmp"
	"slices"
	"sort"

	"github.com/alecthomas/participle/v2"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// Parse turns a text into a tree. It always returns one, and never panics.
//
// The way of a text: scan cuts it into tokens; arrange cuts the tokens into
// statements; participle parses each statement by the grammar of tree.go. What
// participle cannot parse is explained (explain.go), passed over, and the rest
// of the statement parsed again, so that one mistake in each clause and each
// field is told. A statement that cannot be mended this way is a *Bad item.
//
// The Diagnostics are errors only, in order of place, at most 50 and one that
// says that the rest was not read. The time is linear in the length of the text.
func Parse(src *source.Source) (*Script, diag.List) {
	p := &parser{src: src, errs: &mistakes{src: src}}
	scanned := &mistakes{src: src}
	s := &Script{Source: src, tokens: scan(src, scanned)}
	pieces := arrange(src, s.tokens, scanned)
	for _, t := range s.tokens {
		if t.Kind == TokenInvalid {
			p.invalid = append(p.invalid, t.Span)
		}
	}
	p.scanned = make(map[source.Span]bool, len(scanned.list))
	p.told = slices.Clone(p.invalid)
	for _, d := range scanned.list {
		p.scanned[d.Span] = true
		p.told = append(p.told, d.Span)
	}
	slices.SortFunc(p.told, func(a, b source.Span) int { return cmp.Compare(a.Start, b.Start) })
	scanned.list = scanned.list.Sort()
	for _, piece := range pieces {
		if p.enough(scanned, piece.words[0].start) {
			p.errs.more = true
			s.Items = append(s.Items, &Bad{place(piece.words, pieces[len(pieces)-1].words)})
			break
		}
		s.Items = append(s.Items, p.statement(piece))
	}
	return s, finish(src, scanned, p.errs)
}

// ParseValue parses a text that is one expression, such as the value of
// `--set name=value`. The result is never nil.
func ParseValue(src *source.Source) (Expr, diag.List) {
	errs := &mistakes{src: src}
	tokens := scan(src, errs)
	var words []word
	for _, piece := range arrange(src, tokens, errs) {
		words = append(words, piece.words...)
	}
	bad := &BadExpr{Node{EndPos: Position{Offset: len(src.Text())}}}
	if len(words) == 0 {
		errs.add(newMistake(diag.Syntax, bad.Span(), "expected a value"))
		return bad, finish(src, errs)
	}
	c := &cursor{lex: upgrade(words)}
	x, err := c.operandFirst()
	if err == nil && !c.peek().EOF() {
		if err = c.afterExpr(); err == nil {
			err = newMistake(diag.Syntax, spanOf(c.peek()), "unexpected %s", quote(c.peek().Value)).note("a value is one expression")
		}
	}
	if err != nil {
		if errs.list == nil {
			errs.add(asMistake(err))
		}
		return bad, finish(src, errs)
	}
	return x, finish(src, errs)
}

// operandFirst parses the expression that a text must begin with.
func (c *cursor) operandFirst() (Expr, error) {
	if !beginsExpr(c.peek()) {
		return nil, wantFirst("a value", c.peek())
	}
	return c.binary(1)
}

// finish joins lists of mistakes into one that is sorted and capped.
func finish(src *source.Source, lists ...*mistakes) diag.List {
	var all diag.List
	more := false
	for _, m := range lists {
		all = append(all, m.list...)
		more = more || m.more
	}
	all = all.Sort()
	if len(all) > maxErrors {
		all, more = all[:maxErrors], true
	}
	if more {
		last := &mistakes{src: src}
		last.add(tooManyErrors(source.Pos(len(src.Text()))))
		all = append(all, last.list...)
	}
	return all
}

// parser holds what the statements of one text share.
type parser struct {
	src     *source.Source
	errs    *mistakes
	invalid []source.Span        // of the invalid tokens
	scanned map[source.Span]bool // places of the mistakes in single tokens
	told    []source.Span        // both of these, in order
}

// maxWords limits a statement, below what participle repeats (MaxIterations);
// maxRepairs is how often a statement is parsed again.
const (
	maxWords   = 900_000
	maxRepairs = 8
)

// enough reports whether as many mistakes are told before a place as are shown:
// what follows it is not read.
func (p *parser) enough(scanned *mistakes, at source.Pos) bool {
	n := sort.Search(len(scanned.list), func(i int) bool { return scanned.list[i].Span.Start >= at })
	return n+len(p.errs.list) >= maxErrors
}

// statement parses one piece.
func (p *parser) statement(pc piece) Item {
	words := pc.words
	whole := place(words, words)
	if len(words) > maxWords {
		// The last word, not the first too many: go1.26 has no arm64 code for so large a constant index.
		p.errs.add(statementTooLong(words[len(words)-1].span()))
		return &Bad{whole}
	}
	var first *mistake
	defer func() { p.ensureTold(whole.Span(), first) }()
	for range maxRepairs {
		st, err := statementParser().ParseFromLexer(upgrade(words))
		if err == nil {
			p.fieldMistakes(st.Item)
			p.checkItem(st.Item)
			return st.Item
		}
		m, from, to := p.report(pc.head, words, err)
		if first == nil {
			first = m
		}
		if to <= from {
			break
		}
		for i := from; i < to; i++ {
			words[i].kind = TokenInvalid
		}
	}
	p.block(words)
	return &Bad{whole}
}

// ensureTold tells first, the mistake for which words of a statement were passed
// over, if nothing else was told about that statement: what is passed over must
// never go unsaid.
func (p *parser) ensureTold(statement source.Span, first *mistake) {
	if first == nil || p.errs.full() || p.toldWithin(statement) {
		return
	}
	p.errs.add(first)
}

// toldWithin reports whether a mistake in the statement has been told.
func (p *parser) toldWithin(statement source.Span) bool {
	if n := len(p.errs.list); n > 0 && statement.Contains(p.errs.list[n-1].Span) {
		return true // statements are parsed in the order of the text
	}
	return firstWithin(p.told, statement)
}

// firstWithin reports whether the first of some ordered places that begins in
// sp also ends in it.
func firstWithin(places []source.Span, sp source.Span) bool {
	i := sort.Search(len(places), func(i int) bool { return places[i].Start >= sp.Start })
	return i < len(places) && sp.Contains(places[i])
}

// place returns the place from the first of some words to the last of others.
func place(from, to []word) Node {
	first, last := &from[0], &to[len(to)-1]
	return Node{position(first, first.start), position(last, last.end)}
}

func position(w *word, at source.Pos) Position {
	return Position{Offset: int(at), Line: int(w.line)}
}

// report tells what is wrong with a statement that participle refused, and
// returns it with the words to pass over.
func (p *parser) report(head string, words []word, err error) (m *mistake, from, to int) {
	if m, ok := err.(*mistake); ok {
		p.add(m)
		// The words of the mistake, or those behind it if it is that they are
		// missing.
		i := sort.Search(len(words), func(i int) bool { return words[i].start >= m.d.Span.Start })
		e := explainer{outline: outlineOf(head, words), i: i}
		from, to = e.clause()
		return m, from, to
	}
	perr, ok := err.(participle.Error)
	if !ok {
		panic("internal error: participle: " + err.Error())
	}
	at := source.Pos(perr.Position().Offset)
	i := sort.Search(len(words), func(i int) bool { return words[i].start >= at })
	for i < len(words) && words[i].kind == TokenInvalid {
		i++
	}
	m, from, to = explain(head, words, i)
	if m.d.Code == diag.UnclosedBracket && i == len(words) && p.lastFieldIsWrong(words) {
		return m, 0, 0 // block tells what is wrong with the field
	}
	p.add(m)
	return m, from, to
}

// add tells m, unless it only follows from a bad token.
func (p *parser) add(m *mistake) {
	if p.scanned[m.d.Span] {
		return
	}
	if m.gap.Valid() && m.gap.Len() > 0 && firstWithin(p.invalid, m.gap) {
		return
	}
	p.errs.add(m)
}

// block tells the mistakes within the braces of a statement that could not be
// parsed.
func (p *parser) block(words []word) {
	o := outlineOf("", words)
	for _, c := range o.clauses {
		if c.name != "{" {
			continue
		}
		e := explainer{outline: o, i: c.at}
		// The error, if any, has been told; the fields before it are in f.
		f, _ := fieldsParser().ParseFromLexer(upgrade(words[c.at:e.skipBraces()]))
		p.mistakesOf(f)
	}
}

// lastFieldIsWrong reports whether the block of a statement is not closed and
// ends in a field with a mistake.
func (p *parser) lastFieldIsWrong(words []word) bool {
	for _, c := range outlineOf("", words).clauses {
		if c.name != "{" {
			continue
		}
		f, err := fieldsParser().ParseFromLexer(upgrade(words[c.at:]))
		return err != nil && len(f.List) > 0 && f.List[len(f.List)-1].mistake != nil
	}
	return false
}

// fieldMistakes tells the mistakes that the fields of an item keep.
func (p *parser) fieldMistakes(item Item) {
	switch n := item.(type) {
	case *Event:
		p.mistakesOf(n.Fields)
	case *Hist:
		p.mistakesOf(n.Values)
	case *Trace:
		p.mistakesOf(n.Fields)
	}
}

func (p *parser) mistakesOf(f *Fields) {
	if f == nil {
		return
	}
	for _, field := range f.List {
		if field.mistake != nil {
			p.add(field.mistake)
			field.mistake = nil
		}
	}
}
