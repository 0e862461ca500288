package syntax

import "github.com/eptrace/ep/lang/source"

// Tree is any part of a Script: an Item, an Expr, a TypeExpr or one of the
// structs between them.
type Tree interface{ Span() source.Span }

// Walk calls visit for n and, if it returns true, for the parts of n in the
// order of the text. Parts that are absent are not visited.
func Walk(n Tree, visit func(Tree) bool) {
	if !visit(n) {
		return
	}
	Children(n, func(c Tree) { Walk(c, visit) })
}

// one calls f for a part unless it is absent. It is generic because a nil
// pointer in a Tree is not a nil Tree.
func one[T any, P interface {
	*T
	Tree
}](f func(Tree), p P) {
	if p != nil {
		f(p)
	}
}

// expr calls f for an expression unless it is absent.
func expr(f func(Tree), x Expr) {
	if x != nil {
		f(x)
	}
}

// typ calls f for a type unless it is absent.
func typ(f func(Tree), t TypeExpr) {
	if t != nil {
		f(t)
	}
}

// Children calls f for each direct part of n that is present, in the order of
// the text.
func Children(n Tree, f func(Tree)) {
	switch n := n.(type) {
	case *Script:
		for _, c := range n.Items {
			f(c)
		}
	case *Event, *Hist, *On, *Trace, *Param, *Const, *Import, *Option, *Bad:
		itemChildren(n, f)
	case *Then:
		one(f, n.Stage)
		for _, c := range n.By {
			one(f, c)
		}
	case *Key:
		one(f, n.Name)
		expr(f, n.Value)
	case *Emit:
		one(f, n.On)
		expr(f, n.Value)
		exprs(n.Per, f)
	case *Stage:
		for _, c := range n.Sources {
			one(f, c)
		}
		one(f, n.As)
		expr(f, n.Where)
		for _, c := range n.Lets {
			one(f, c)
		}
	case *Let:
		one(f, n.Name)
		expr(f, n.Value)
	case *Source:
		for _, c := range n.Alts {
			one(f, c)
		}
	case *Alt:
		one(f, n.One)
	case *One:
		one(f, n.Name)
		one(f, n.Path)
		one(f, n.Func)
		one(f, n.End)
		one(f, n.Offset)
		one(f, n.Sig)
	case *Func:
		one(f, n.Module)
		one(f, n.Addr)
		one(f, n.Name)
	case *Path:
		one(f, n.Text)
		one(f, n.Param)
	case *Sig:
		for _, c := range n.Params {
			one(f, c)
		}
		typ(f, n.Result)
	case *Par:
		one(f, n.Name)
		typ(f, n.Type)
	case *Fields:
		for _, c := range n.List {
			one(f, c)
		}
	case *Field:
		if n.Name == nil { // `$ret: s32`
			expr(f, n.Value)
			typ(f, n.Type)
			break
		}
		one(f, n.Name)
		typ(f, n.Type)
		expr(f, n.Value)
	case *SortKey:
		one(f, n.Name)
	case *Action:
		one(f, n.Verb)
		one(f, n.Target)
	case *QName:
		one(f, n.Group)
		one(f, n.Name)
	case *TypeName:
		one(f, n.Name)
	case *PointerType:
		typ(f, n.Elem)
	case *ArrayType:
		one(f, n.Len)
		typ(f, n.Elem)
	default:
		exprChildren(n, f)
	}
}

func itemChildren(n Tree, f func(Tree)) {
	switch n := n.(type) {
	case *Event:
		one(f, n.Name)
		one(f, n.From)
		for _, c := range n.Then {
			one(f, c)
		}
		one(f, n.Size)
		expr(f, n.Having)
		one(f, n.Emit)
		one(f, n.Fields)
	case *Hist:
		one(f, n.Name)
		one(f, n.Stage)
		for _, c := range n.By {
			one(f, c)
		}
		one(f, n.Values)
		for _, c := range n.Sort {
			one(f, c)
		}
		one(f, n.Size)
	case *On:
		one(f, n.Stage)
		one(f, n.Times)
		for _, c := range n.Do {
			one(f, c)
		}
	case *Trace:
		one(f, n.Stage)
		one(f, n.Fields)
		one(f, n.Print)
	case *Param:
		one(f, n.Name)
		typ(f, n.Type)
		expr(f, n.Value)
	case *Const:
		one(f, n.Name)
		typ(f, n.Type)
		expr(f, n.Value)
	case *Import:
		one(f, n.Path)
		one(f, n.As)
	case *Option:
		one(f, n.Name)
		expr(f, n.Value)
	case *Bad:
	}
}

func exprChildren(n Tree, f func(Tree)) {
	switch n := n.(type) {
	case *Ident, *Number, *String, *Char, *BadExpr:
	case *Context:
		exprs(n.Args, f)
	case *Selector:
		expr(f, n.X)
		expr(f, n.Sel)
	case *Index:
		expr(f, n.X)
		expr(f, n.I)
	case *Call:
		one(f, n.Func)
		exprs(n.Args, f)
	case *Unary:
		expr(f, n.X)
	case *Binary:
		expr(f, n.X)
		expr(f, n.Y)
	case *In:
		expr(f, n.X)
		for _, c := range n.Set {
			one(f, c)
		}
	case *Range:
		expr(f, n.Lo)
		expr(f, n.Hi)
	case *Cast:
		expr(f, n.X)
		typ(f, n.Type)
	case *Paren:
		expr(f, n.X)
	default:
		panic("internal error: unknown node")
	}
}

func exprs(list []Expr, f func(Tree)) {
	for _, x := range list {
		f(x)
	}
}
