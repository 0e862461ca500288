package syntax

import "reflect"

// spell returns the tokens, but the commas, that the values of a tree stand for.
// It knows the language by itself: neither the grammar nor the places of nodes
// help, so that a token that the parser drops is missed here.
func spell(s *Script) []string {
	w := &speller{}
	for _, item := range s.Items {
		w.item(item)
	}
	return w.out
}

type speller struct{ out []string }

// put appends words; what is not a word is spelled, unless it is absent.
func (w *speller) put(parts ...any) {
	for _, part := range parts {
		switch p := part.(type) {
		case nil:
		case string:
			w.out = append(w.out, p)
		case Tree:
			if !reflect.ValueOf(p).IsNil() {
				w.node(p)
			}
		default:
			list := reflect.ValueOf(p)
			for i := range list.Len() {
				w.put(list.Index(i).Interface())
			}
		}
	}
}

// clause puts a clause unless its last part, or all of a list, is absent.
func (w *speller) clause(parts ...any) {
	v := reflect.ValueOf(parts[len(parts)-1])
	if v.IsValid() && !v.IsZero() {
		w.put(parts...)
	}
}

func (w *speller) flag(set bool, word string) {
	if set {
		w.put(word)
	}
}

func (w *speller) item(item Item) {
	switch n := item.(type) {
	case *Event:
		w.put("event", n.Name, "from", n.From, n.Then)
		w.clause("size", n.Size)
		w.clause("having", n.Having)
		w.put(n.Emit, n.Fields)
	case *Hist:
		w.put("hist", n.Name)
		w.flag(n.Paused, "paused")
		w.flag(n.Name != nil, "from")
		w.put(n.Stage)
		w.clause("by", n.By)
		w.put(n.Values)
		w.clause("sort", "by", n.Sort)
		w.clause("size", n.Size)
	case *On:
		w.put("on", n.Stage)
		w.clause("times", n.Times)
		w.put("do", n.Do)
	case *Trace:
		w.put("trace", n.Stage, n.Fields)
		w.flag(n.Paused, "paused")
		w.clause("print", n.Print)
	case *Param:
		w.put("param", n.Name)
		w.clause(":", n.Type)
		w.clause("=", n.Value)
	case *Const:
		w.put("const", n.Name)
		w.clause(":", n.Type)
		w.put("=", n.Value)
	case *Import:
		w.put("import", n.Path)
		w.clause("as", n.As)
	case *Option:
		w.put("option", n.Name, n.Value)
	}
}

func (w *speller) node(n Tree) {
	switch n := n.(type) {
	case *Then:
		w.put("then", n.Stage, "by", n.By)
	case *Key:
		w.put(n.Name)
		w.flag(n.Name != nil, "=")
		w.put(n.Value)
	case *Emit:
		w.put("emit", "on", n.On, "(", n.Value, ")")
		w.clause("per", n.Per)
	case *Stage:
		w.put(n.Sources)
		w.clause("as", n.As)
		w.clause("where", n.Where)
		w.clause("let", n.Lets)
	case *Let:
		w.put(n.Name, "=", n.Value)
	case *Source:
		for i, alt := range n.Alts {
			w.flag(i > 0, "else")
			w.put(alt)
		}
	case *Alt:
		w.put(n.One)
		w.flag(n.Optional, "?")
	case *One:
		w.one(n)
	case *Func:
		w.put(n.Module)
		w.flag(n.Module != nil, ":")
		w.put(n.Addr)
		w.flag(n.Param, "(")
		w.put(n.Name)
		w.flag(n.Param, ")")
	case *Path:
		w.put(n.Text)
		w.flag(n.Param != nil, "(")
		w.put(n.Param)
		w.flag(n.Param != nil, ")")
	case *Sig:
		w.put("(", n.Params, ")")
		w.clause(":", n.Result)
	case *Par:
		w.put(n.Name)
		w.clause(":", n.Type)
	case *Fields:
		w.put("{", n.List, "}")
	case *Field:
		if n.Name == nil {
			w.put(n.Value)
			w.clause(":", n.Type)
			break
		}
		w.put(n.Name)
		w.clause(":", n.Type)
		w.clause("=", n.Value)
	case *SortKey:
		w.put(n.Name)
		w.flag(n.Desc, "desc")
	case *Action:
		w.put(n.Verb, n.Target)
	case *QName:
		w.put(n.Group)
		w.flag(n.Group != nil, ".")
		w.put(n.Name)
	case *TypeName:
		w.put(n.Name)
	case *PointerType:
		w.flag(n.User, "user")
		w.put("*", n.Elem)
	case *ArrayType:
		w.put("[", n.Len, "]", n.Elem)
	default:
		w.expr(n)
	}
}

func (w *speller) one(n *One) {
	if n.Kind == KindName {
		w.put(n.Name)
		return
	}
	w.put(n.Kind.String(), n.Path)
	w.flag(n.Path != nil, ":")
	w.put(n.Func)
	w.clause(".", n.End)
	w.clause("+", n.Offset)
	w.put(n.Sig)
}

func (w *speller) expr(n Tree) {
	switch n := n.(type) {
	case *Ident:
		w.put(n.Raw)
	case *Number:
		w.put(n.Raw)
	case *String:
		w.put(n.Raw)
	case *Char:
		w.put(n.Raw)
	case *Context:
		w.put("$" + n.Name)
		if n.Args != nil {
			w.put("(", n.Args, ")")
		}
	case *Selector:
		w.put(n.X)
		w.flag(n.Arrow, "->")
		w.flag(!n.Arrow, ".")
		w.put(n.Sel)
	case *Index:
		w.put(n.X, "[", n.I, "]")
	case *Call:
		w.put(n.Func, "(", n.Args, ")")
	case *Unary:
		w.put(string(n.Op), n.X)
	case *Binary:
		w.put(n.X, string(n.Op), n.Y)
	case *In:
		w.put(n.X, "in", "{", n.Set, "}")
	case *Range:
		w.put(n.Lo)
		w.clause("..", n.Hi)
	case *Cast:
		w.put(n.X, "as", n.Type)
	case *Paren:
		w.put("(", n.X, ")")
	}
}
