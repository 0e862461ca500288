package check

import (
	"go/constant"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// hist checks a hist statement. Several sources share one table: each must have
// what its keys and values name.
func (c *checker) hist(h *syntax.Hist) *ir.Hist {
	out := &ir.Hist{Whole: h.Span(), Paused: h.Paused, Span: h.Stage.Span()}
	if h.Name != nil {
		if h.Name.Group != nil {
			c.invalidName(h.Name.Span(), "histogram", c.src.Slice(h.Name.Span()), "a histogram's name has no group")
		}
		out.Name, out.Span = h.Name.Name.Text(), h.Name.Span()
		if !command.ValidVarName(out.Name) {
			c.invalidName(out.Span, "histogram", out.Name, "a histogram's name is made of letters, digits and '_'")
		}
	}
	var scopes []*scope
	for i, src := range c.expand(h.Stage.Sources) {
		one := *h.Stage
		one.Sources = []*syntax.Source{src}
		holder := &ir.Event{Span: h.Stage.Span()}
		sc := c.newScope()
		before := len(c.list)
		if c.stage(holder, sc, &one, nil) {
			continue
		}
		if i > 0 && len(c.list) > before {
			c.noteSource(before, src)
		}
		if holder.Stages[0].Source == nil {
			return nil
		}
		if h.Stage.As == nil && h.Stage.Where == nil && i == 0 {
			out.Span = holder.Stages[0].Span
			if h.Name != nil {
				out.Span = h.Name.Span()
			}
		}
		out.Stages = append(out.Stages, holder.Stages[0])
		scopes = append(scopes, sc)
	}
	if len(out.Stages) == 0 {
		return nil
	}
	if out.Name == "" {
		out.Name = c.nameOfHist(h, out.Stages[0].Source)
	}
	names := map[string]source.Span{"count": source.NoSpan}
	for _, k := range h.By {
		if key := c.histKey(scopes, k); key != nil {
			if k.Name == nil && key.Name == "count" {
				c.countNamed(key.Span)
				continue
			}
			c.histName(names, key.Name, key.Span)
			out.Keys = append(out.Keys, key)
		} else if name := keyName(k); name != "" {
			names[name] = k.Span() // what is said of it is enough
		}
	}
	if len(out.Keys) > command.MaxHistKeys {
		c.tooManyHistKeys(h.By[command.MaxHistKeys].Span(), len(out.Keys))
	}
	if h.Values != nil {
		for _, f := range h.Values.List {
			if v := c.histValue(scopes, f); v != nil {
				c.histName(names, v.Name, v.Span)
				out.Values = append(out.Values, v)
			} else if f.Name != nil {
				names[f.Name.Text()] = f.Name.Span()
			}
		}
	}
	if sums, _ := out.Sums(); len(sums) > command.MaxHistVals {
		c.tooManyValues(sums[command.MaxHistVals].Span, len(sums))
	}
	c.histSort(out, h, names)
	if h.Size != nil {
		out.Size = c.size(h.Size)
	}
	c.likelyHist(out)
	return out
}

// nameOfHist names a histogram that the script does not: after its source, and where
// that name is an event's or another's, after its keys too.
func (c *checker) nameOfHist(h *syntax.Hist, src ir.Source) string {
	base := sourceBase(src)
	if _, taken := c.decls[base]; !taken && c.inline[base] == 0 {
		return c.inlineName(src)
	}
	name := base + "_by"
	for _, k := range h.By {
		name += "_" + keyName(k)
	}
	if _, taken := c.decls[name]; taken || c.inline[name] > 0 || len(h.By) == 0 || len(name) > longestHist || !command.ValidVarName(name) {
		return c.inlineName(src)
	}
	c.inline[name] = 1
	return name
}

// longestHist is as long as a name that is made up may be, so that those made of
// it stay within the kernel's.
const longestHist = 40

// histName enters the name of a key or value.
func (c *checker) histName(names map[string]source.Span, name string, sp source.Span) {
	if at, taken := names[name]; taken {
		if !at.Valid() {
			c.countTaken(sp)
			return
		}
		c.duplicateField(sp, name, at)
		return
	}
	names[name] = sp
}

// keyName is the name that a key has or gives itself, "" if it has none.
func keyName(k *syntax.Key) string {
	if k.Name != nil {
		return k.Name.Text()
	}
	value := syntax.Unparen(k.Value)
	if call, ok := value.(*syntax.Call); ok && len(call.Args) > 0 {
		value = call.Args[0]
	}
	return selfName(uncastSyntax(value))
}

// histKey checks `[name =] E`, with E perhaps log2(x) or bucket(x, n).
func (c *checker) histKey(scopes []*scope, k *syntax.Key) *ir.HistKey {
	out := &ir.HistKey{Span: k.Span()}
	value := syntax.Unparen(k.Value)
	if call, ok := value.(*syntax.Call); ok {
		switch call.Func.Text() {
		case "log2":
			out.Slot = ir.Log2
		case "bucket":
			out.Slot = ir.Buckets
		}
		if out.Slot != ir.Each {
			f := functions[call.Func.Text()]
			if n := len(call.Args); n != f.least {
				c.argumentCount(call.Span(), call.Func.Text(), f.least, f.most, n)
				return nil
			}
			value = call.Args[0]
			if out.Slot == ir.Buckets && !c.bucketWidth(scopes[0], out, call) {
				return nil
			}
		}
	}
	switch call, ok := value.(*syntax.Call); {
	case ok && !isFunction(call.Func.Text()):
		c.unknownFunction(call.Func.Span(), call.Func.Text())
		return nil
	case k.Name != nil:
		out.Name, out.Span = k.Name.Text(), k.Name.Span()
	default:
		out.Name = selfName(uncastSyntax(value))
		if out.Name == "" {
			c.keyWantsName(k.Span())
			return nil
		}
	}
	if out.Exprs, out.Type = c.perScope(scopes, value); out.Exprs == nil {
		return nil
	}
	x := out.Exprs[0]
	switch t := out.Type.(type) {
	case types.Int, types.Duration, types.Bool, types.Pointer:
		if out.Slot != ir.Each && !types.Numeric(t) {
			c.notANumber(x, c.src.Slice(k.Value.Span()))
			return nil
		}
		if out.Slot != ir.Each && types.BigEndian(t) {
			c.networkOrder(x, "grouping")
			return nil
		}
	case types.String, types.Stack:
		if out.Slot != ir.Each {
			c.notANumber(x, "log2() and bucket()")
			return nil
		}
	default:
		c.notAKey(x)
		return nil
	}
	return out
}

// bucketWidth checks the n of bucket(x, n): a positive constant in x's unit.
func (c *checker) bucketWidth(sc *scope, out *ir.HistKey, call *syntax.Call) bool {
	x := c.expr(call.Args[0], sc)
	n := c.expr(call.Args[1], sc)
	if types.IsInvalid(x.Type()) || types.IsInvalid(n.Type()) {
		return false
	}
	if !types.Numeric(x.Type()) {
		c.notANumber(x, "bucket()")
		return false
	}
	k, ok := n.(*ir.Const)
	if !ok {
		c.notConstant(n)
		return false
	}
	fitted, ok := c.fit(k, x, nil)
	if !ok {
		return false
	}
	v := fitted.Value
	if d, ok := x.Type().(types.Duration); ok {
		unit := constant.MakeUint64(d.Unit.NS())
		q := constant.BinaryOp(v, tokens["/"], unit)
		if !constant.Compare(constant.BinaryOp(q, tokens["*"], unit), tokens["=="], v) {
			c.bucketUnit(k.Sp, d.Unit)
			return false
		}
		v = q
	}
	width, exact := constant.Uint64Val(v)
	if !exact || width == 0 {
		c.bucketZero(k.Sp)
		return false
	}
	out.Bucket = width
	return true
}

// uncastSyntax takes casts off, for a key's name.
func uncastSyntax(e syntax.Expr) syntax.Expr {
	for {
		switch x := syntax.Unparen(e).(type) {
		case *syntax.Cast:
			e = x.X
		default:
			return x
		}
	}
}

// perScope checks e in each source's scope. The types must agree.
func (c *checker) perScope(scopes []*scope, e syntax.Expr) ([]ir.Expr, types.Type) {
	var out []ir.Expr
	for _, sc := range scopes {
		x := c.storable(c.expr(e, sc))
		if types.IsInvalid(x.Type()) {
			return nil, types.Invalid{}
		}
		if len(out) > 0 && !sameTableType(out[0].Type(), x.Type()) {
			c.mismatched(e.Span(), out[0], x)
			return nil, types.Invalid{}
		}
		out = append(out, x)
	}
	return out, out[0].Type()
}

// sameTableType reports whether two sources' values can stand in one column of
// one table.
func sameTableType(a, b types.Type) bool {
	_, textA := a.(types.String)
	_, textB := b.(types.String)
	return textA == textB && (textA || types.Size(a) == types.Size(b) && types.Signed(a) == types.Signed(b))
}

// histValue checks `name = sum(E)` and `name = avg(E)`.
func (c *checker) histValue(scopes []*scope, f *syntax.Field) *ir.HistValue {
	if f.Name == nil || f.Value == nil {
		if f.Name != nil && f.Name.Text() == "count" {
			c.countTaken(f.Span())
			return nil
		}
		c.valueForm(f.Span(), f.Name, nil)
		return nil
	}
	call, ok := syntax.Unparen(f.Value).(*syntax.Call)
	if !ok || call.Func.Text() != "sum" && call.Func.Text() != "avg" {
		c.valueForm(f.Value.Span(), f.Name, call)
		return nil
	}
	if len(call.Args) != 1 {
		c.argumentCount(call.Span(), call.Func.Text(), 1, 1, len(call.Args))
		return nil
	}
	out := &ir.HistValue{Name: f.Name.Text(), Span: f.Name.Span(), Mean: call.Func.Text() == "avg"}
	if out.Exprs, out.Type = c.perScope(scopes, call.Args[0]); out.Exprs == nil {
		return nil
	}
	if !types.Numeric(out.Type) {
		c.notANumber(out.Exprs[0], call.Func.Text()+"()")
		return nil
	}
	if types.BigEndian(out.Type) {
		c.networkOrder(out.Exprs[0], call.Func.Text()+"()")
		return nil
	}
	return out
}

// histSort checks `sort by`.
func (c *checker) histSort(out *ir.Hist, h *syntax.Hist, names map[string]source.Span) {
	for _, s := range h.Sort {
		name := s.Name.Text()
		if _, ok := names[name]; !ok {
			c.unknownSort(s.Name.Span(), name, sortedKeys(names))
			continue
		}
		out.Sort = append(out.Sort, ir.HistSort{Name: name, Desc: s.Desc, Span: s.Name.Span()})
	}
	if len(out.Sort) > command.MaxSort {
		c.tooManySorts(h.Sort[command.MaxSort].Span(), len(out.Sort))
	}
}

// emit checks `emit on max(E) [per K, …]`: over the new event's fields and, of a
// single stage, the source's.
func (c *checker) emit(e *syntax.Emit, of *scope) *ir.Emit {
	in := *of
	in.below = true
	out := &ir.Emit{Max: e.On.Text() == "max", Value: c.expr(e.Value, &in), Span: e.Value.Span()}
	for _, p := range e.Per {
		x := c.expr(p, &in)
		if types.IsInvalid(x.Type()) {
			continue
		}
		if _, text := x.Type().(types.String); !text && !types.Scalar(x.Type()) {
			c.notAKey(x)
			continue
		}
		out.Per = append(out.Per, x)
	}
	if len(out.Per) > command.MaxHistKeys {
		c.tooManyHistKeys(e.Per[command.MaxHistKeys].Span(), len(out.Per))
	}
	if types.IsInvalid(out.Value.Type()) {
		return out
	}
	if !types.Numeric(out.Value.Type()) {
		c.notANumber(out.Value, "'emit on "+e.On.Text()+"'")
	} else if out.Max && types.BigEndian(out.Value.Type()) {
		c.networkOrder(out.Value, "'emit on max'")
	}
	return out
}

// on checks an on statement.
func (c *checker) on(o *syntax.On) {
	holder := &ir.Event{Span: o.Stage.Span()}
	sc := c.newScope()
	if sources := c.expand(o.Stage.Sources); len(sources) != 1 {
		for _, src := range sources {
			one, stage := *o, *o.Stage
			stage.Sources = []*syntax.Source{src}
			one.Stage = &stage
			c.on(&one)
		}
		return
	}
	c.stage(holder, sc, o.Stage, nil)
	out := &ir.On{Stage: holder.Stages[0], Span: holder.Stages[0].Span, Whole: o.Span()}
	if o.Times != nil {
		n, unit, err := o.Times.Value()
		if err != nil || unit != "" || n < 1 || n > 1<<31-1 {
			c.badNumber(o.Times.Span(), o.Times.Raw, "how often, 1 or more")
			return
		}
		out.Times = int(n)
	}
	verbs := map[string]ir.Verb{"start": ir.Start, "stop": ir.Stop, "snapshot": ir.Snapshot, "stack": ir.Stack}
	for _, a := range o.Do {
		act := ir.Action{Verb: verbs[a.Verb.Text()], Span: a.Span()}
		if a.Target != nil && !c.actionTarget(&act, a.Target) {
			continue
		}
		out.Actions = append(out.Actions, act)
	}
	if out.Stage.Source != nil {
		c.likelySource(out.Stage)
		c.likelyComparisons(holder.Stages, out.Stage.Where)
		c.likelyTask(holder.Stages, map[*ir.Stage]bool{}, out.Stage.Where)
		c.prog.Ons = append(c.prog.Ons, out)
	}
}

// actionTarget resolves what is started or stopped: an event or a hist.
func (c *checker) actionTarget(a *ir.Action, q *syntax.QName) bool {
	name, span := qname(q)
	if d, ok := c.decls[name]; ok {
		d.used = true
		c.resolve(d)
		switch {
		case d.event != nil:
			a.Event = d.event
		case d.hist != nil:
			a.Hist = d.hist
		default:
			switch d.item.(type) {
			case *syntax.Event, *syntax.Hist: // reported
			default:
				c.notAnEvent(span, name, d.span)
			}
			return false
		}
		return true
	}
	if q.Group == nil {
		c.unknownEventName(span, name)
		return false
	}
	if !c.t.HasEvent(q.Group.Text(), q.Name.Text()) {
		c.unknownEvent(q, q.Group.Text(), q.Name.Text())
		return false
	}
	if q.Group.Text() == "ftrace" {
		c.alwaysOn(span, name)
		return false
	}
	a.Group, a.Name = q.Group.Text(), q.Name.Text()
	return true
}
