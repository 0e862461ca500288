package syntax

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The grammar of docs/language.md and that of tree.go are the same language: the
// sentences of each are sentences of the other.
func TestDocumentedGrammar(t *testing.T) {
	doc, random := documentedGrammar(t), rand.New(rand.NewPCG(1, 1))
	lines := map[string]string{"NUM": "1", "STRING": `"x"`, "CTX": "$tid", "name": "a", "anyname": "a", "expr": "x", "sep": ",\n"}
	taken := 0
	for range 3000 {
		text := strings.Join(sentence(nil, doc, [][]term{{{name: "script"}}}, lines, random), " ")
		if text == "" {
			continue
		}
		src := newSource(t, text)
		errs := &mistakes{src: src}
		for _, piece := range arrange(src, scan(src, errs), errs) {
			if _, err := statementParser().ParseFromLexer(upgrade(piece.words)); err != nil {
				t.Fatalf("docs/language.md allows what is a mistake:\n%s\n%v", text, err)
			}
			taken++
		}
	}
	here := map[string][][]term{}
	for _, p := range grammar {
		here[p.name] = p.alts
	}
	words := map[string]string{"Expr": "x", "TypeExpr": "u8", "Field": "a", "Emit Ident": "max", "Action Ident": "start", "One Ident": "enter", "Ident": "a", "Number": "1", "String": `"x"`, "newline": ","}
	for range 6000 {
		tokens := sentence(nil, here, [][]term{{{name: "Item"}}}, words, random)
		if _, list := Parse(newSource(t, strings.Join(tokens, " "))); len(list) > 0 {
			continue // of those that the grammar takes and checks.go does not
		}
		taken++
		r := recognizer{doc, tokens}
		if !slices.Contains(r.alternatives(doc["script"], 0), len(tokens)) {
			t.Fatalf("docs/language.md does not have:\n%s", strings.Join(tokens, " "))
		}
	}
	if taken < 5000 {
		t.Errorf("only %d statements were tried", taken)
	}
}

// documentedGrammar reads the rules of the page.
func documentedGrammar(t *testing.T) map[string][][]term {
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Grammar\n")
	rules := map[string][][]term{}
	for _, m := range regexp.MustCompile(`(?m)^    (\w+) += ((?:.|\n {6,})+)`).FindAllStringSubmatch(text, -1) {
		r := docReader(regexp.MustCompile(`"[^"]+"|\w+|[^\s]`).FindAllString(m[2], -1))
		rules[m[1]] = r.alternatives()
		if len(r) > 0 {
			t.Fatalf("rule %s: cannot read %q", m[1], r)
		}
	}
	for _, name := range []string{"event", "hist", "on", "trace", "param", "const", "import", "option"} {
		if rules[name] == nil {
			t.Fatalf("no rule %s was read", name)
		}
	}
	return rules
}

// docReader is the rest of a rule.
type docReader []string

func (r *docReader) alternatives() [][]term {
	alts := [][]term{{}}
	for len(*r) > 0 {
		w := (*r)[0]
		if w == "]" || w == "}" || w == ")" {
			return alts
		}
		*r = (*r)[1:]
		var t term
		switch {
		case w == "|":
			alts = append(alts, []term{})
			continue
		case w == "[" || w == "{" || w == "(":
			t = term{group: r.alternatives(), repeat: map[string]byte{"[": '?', "{": '*', "(": 0}[w]}
			*r = (*r)[1:]
		case w[0] == '"':
			t.literal = strings.Trim(w, `"`)
		default:
			t.name = w
		}
		alts[len(alts)-1] = append(alts[len(alts)-1], t)
	}
	return alts
}

// sentence appends the tokens of a random sentence. Words spells what has no rule,
// and what is special in a rule: "Rule Name".
func sentence(out []string, rules map[string][][]term, alts [][]term, words map[string]string, random *rand.Rand) []string {
	return sentenceIn(out, "", rules, alts, words, random)
}

func sentenceIn(out []string, in string, rules map[string][][]term, alts [][]term, words map[string]string, random *rand.Rand) []string {
	for _, t := range alts[random.IntN(len(alts))] {
		n := 1
		if t.repeat != 0 {
			n = random.IntN(2)
		}
		if t.look != 0 {
			n = 0
		}
		for range n {
			special, ok := words[in+" "+t.name]
			switch {
			case t.literal != "":
				out = append(out, t.literal)
			case t.group != nil:
				out = sentenceIn(out, in, rules, t.group, words, random)
			case ok:
				out = append(out, special)
			case words[t.name+t.token] != "":
				out = append(out, words[t.name+t.token])
			default:
				out = sentenceIn(out, t.name, rules, rules[t.name], words, random)
			}
		}
	}
	return out
}

// recognizer finds where the rules of the page can end in a text's tokens.
type recognizer struct {
	rules  map[string][][]term
	tokens []string
}

func (r recognizer) alternatives(alts [][]term, at int) (ends []int) {
	for _, seq := range alts {
		here := []int{at}
		for _, t := range seq {
			var next []int
			for _, p := range here {
				next = append(next, r.term(t, p)...)
			}
			here = next
		}
		ends = append(ends, here...)
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

func (r recognizer) term(t term, at int) []int {
	if t.repeat == 0 {
		return r.once(t, at)
	}
	ends := []int{at}
	for i := 0; i < len(ends); i++ {
		for _, end := range r.once(t, ends[i]) {
			if !slices.Contains(ends, end) && (t.repeat == '*' || i == 0) {
				ends = append(ends, end)
			}
		}
	}
	return ends
}

func (r recognizer) once(t term, at int) []int {
	if t.group != nil {
		return r.alternatives(t.group, at)
	}
	if alts := r.rules[t.name]; alts != nil {
		return r.alternatives(alts, at)
	}
	if t.name == "sep" && (at == len(r.tokens) || r.tokens[at] != ",") {
		return []int{at} // a line end, or the end of the braces
	}
	if at == len(r.tokens) {
		return nil
	}
	word := r.tokens[at]
	name := isLetter(word[0]) && !keywords[word]
	if ok := map[string]bool{"": word == t.literal, "NUM": isDigit(word[0]), "STRING": word[0] == '"', "CTX": word[0] == '$',
		"name": name, "anyname": name, "expr": name || isDigit(word[0]) || word[0] == '"', "sep": word == ","}[t.name]; ok {
		return []int{at + 1}
	}
	return nil
}
