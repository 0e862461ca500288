package compiler

import (
	"testing"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/format"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/stdlib"
)

// TestModulesCompile holds ep's own modules to what is asked of any script: they
// compile for the default target without a warning, alone and imported, and are
// in the one style.
func TestModulesCompile(t *testing.T) {
	on, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	if len(stdlib.Modules()) < 20 {
		t.Errorf("got %d modules", len(stdlib.Modules()))
	}
	for _, path := range stdlib.Modules() {
		t.Run(path, func(t *testing.T) {
			text, ok := stdlib.Module(path)
			if !ok {
				t.Fatal("listed, and not there")
			}
			src, err := source.New(path, text)
			if err != nil {
				t.Fatal(err)
			}
			if p, list := Compile(src, on, Options{}); p == nil || len(list) > 0 {
				t.Errorf("got plan %v and %v", p != nil, list)
			}
			if got, _ := format.Format(src); got != text {
				t.Errorf("not in the one style; it would be:\n%s", got)
			}
			user, err := source.New("user.ep", "import \""+path+"\" as m\ntrace sched.sched_switch\n")
			if err != nil {
				t.Fatal(err)
			}
			if p, list := Compile(user, on, Options{}); p == nil || len(list) > 0 || len(p.Writes) != 1 {
				t.Errorf("imported and not used: got %v and %v", p, list)
			}
		})
	}
}
