package syntax

import (
	"reflect"
	"sync"

	"github.com/eptrace/ep/lang/source"
)

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

// Children calls f for each direct part of n that is present, in the order of
// the text, which is the order of the fields of n's struct: the grammar's.
func Children(n Tree, f func(Tree)) {
	if field, ok := n.(*Field); ok && field.Name == nil { // `$ret: s32`
		visitPart(reflect.ValueOf(&field.Value).Elem(), f)
		visitPart(reflect.ValueOf(&field.Type).Elem(), f)
		return
	}
	v := reflect.ValueOf(n).Elem()
	for _, i := range partsOf(v.Type()) {
		visitPart(v.Field(i), f)
	}
}

func visitPart(v reflect.Value, f func(Tree)) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			f(v.Index(i).Interface().(Tree))
		}
	} else if !v.IsNil() {
		f(v.Interface().(Tree))
	}
}

var (
	treeType = reflect.TypeFor[Tree]()
	parts    sync.Map // of a node's type: the indexes of the fields that hold parts
)

func partsOf(t reflect.Type) []int {
	if known, ok := parts.Load(t); ok {
		return known.([]int)
	}
	var list []int
	for i := range t.NumField() {
		field := t.Field(i)
		typ := field.Type
		if typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if field.IsExported() && !field.Anonymous && typ.Implements(treeType) {
			list = append(list, i)
		}
	}
	parts.Store(t, list)
	return list
}
