package object

import (
	"errors"
	"testing"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// TestMembersOfStructs looks for members in the debug information of programs of
// every architecture.
func TestMembersOfStructs(t *testing.T) {
	for _, name := range programs[:5] {
		f := openProgram(t, name)
		sym, err := f.Function("nine")
		if err != nil {
			t.Fatal(err)
		}
		params, _, err := f.Params(sym)
		if err != nil || len(params) != 9 {
			t.Fatalf("%s: got %d parameters and %v", name, len(params), err)
		}
		p, _ := params[3].Type.(types.Pointer)
		point, ok := p.Elem.(types.Struct)
		if !ok || point.Name != "point" || point.File != "/"+name {
			t.Errorf("%s: got %#v: want a struct of the program", name, params[3].Type)
			continue
		}
		y, err := f.Member(point, "y")
		if err != nil || y.Offset != 4 || y.Type != (types.Int{Size: 4, Signed: true}) {
			t.Errorf("%s: got %+v and %v", name, y, err)
		}
		if _, err := f.Member(point, "z"); !errors.Is(err, target.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", name, err)
		}
		if names, err := f.Members(point); err != nil || len(names) != 2 || names[0] != "x" {
			t.Errorf("%s: got %q and %v", name, names, err)
		}
	}
}
