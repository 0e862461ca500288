package events

import (
	"fmt"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// throughOps returns what decodes the fields that tell whether field could be read.
func throughOps(field plan.Field, f *target.Format) ([]op, error) {
	var out []op
	for _, name := range field.Through {
		k := f.Field(name)
		if k == nil {
			return nil, fmt.Errorf("the event has no field '%s', which tells whether it could be read", name)
		}
		p := plan.Field{Name: name, Type: types.Int{Size: k.Size}, Kernel: k.Decl}
		if k.Loc != target.InPlace || k.Array {
			p.Type = types.String{}
		}
		o, err := newOp(p, k)
		if err != nil {
			return nil, err
		}
		o.canFault = true
		out = append(out, o)
	}
	return out, nil
}

// firstPage ends the addresses at which nothing is mapped, from both ends: of NULL
// with an offset, and of the kernel's error pointers.
const firstPage = 4096

// unread reports whether a pointer leads nowhere, or a text could not be read.
func (o *op) unread(record []byte) bool {
	var v Value
	o.decode(record, &v)
	if o.kind == opNumber {
		return v.State == Present && (v.Num < firstPage || v.Num >= 1<<64-firstPage)
	}
	return v.State != Present || string(v.Data) == plan.Unread
}
