package target

import (
	"testing"

	"github.com/eptrace/ep/lang/types"
)

// TestUserArgs: each row of the table is a parameter that some kernel has, and it
// is a pointer to user memory on every kernel that has it.
func TestUserArgs(t *testing.T) {
	seen := map[string]bool{}
	for _, embedded := range EmbeddedNames() {
		k, err := Embedded(embedded)
		if err != nil {
			t.Fatal(err)
		}
		for name, params := range userArgs {
			proto, err := k.FuncProto("", name)
			if err != nil {
				continue
			}
			for _, param := range params {
				for _, p := range proto.Params {
					if p.Name != param {
						continue
					}
					seen[name+" "+param] = true
					if to, ok := p.Type.(types.Pointer); !ok || !to.User {
						t.Errorf("%s: %s of %s is %s", embedded, param, name, p.Type)
					}
				}
			}
		}
	}
	for name, params := range userArgs {
		for _, param := range params {
			if !seen[name+" "+param] {
				t.Errorf("no kernel has a function %s with a parameter %s", name, param)
			}
		}
	}
}
