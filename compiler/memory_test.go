package compiler_test

import (
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/lang/source"
)

// The types of a kernel that gcc built do not tell a `__user` pointer from
// another: what the script says of an argument holds.
func TestAnArgumentOfAFunctionMayBeSaidToBeTheCallers(t *testing.T) {
	tests := []struct{ name, target, script, want string }{
		{"entry", "6.1-x86_64", "trace func do_sys_openat2.enter { f = str(filename as user *char) }",
			"p:ep_caller/do_sys_openat2_enter do_sys_openat2 f=+0($arg2):ustring"},
		{"return", "6.17-x86_64", "trace func vfs_read { f = str(buf as user *char) }",
			"f:ep_caller/vfs_read vfs_read%return f=+0($arg2):ustring"},
		{"known", "6.17-x86_64", "trace func do_sys_openat2.enter { f = str(filename) }",
			"f:ep_caller/do_sys_openat2_enter do_sys_openat2 f=+0($arg2):ustring"},
		{"kernel", "6.17-x86_64", "trace func getname_kernel.enter { f = str(filename) }",
			"f:ep_caller/getname_kernel_enter getname_kernel f=+0($arg1):string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, err := source.New("caller.ep", tt.script)
			if err != nil {
				t.Fatal(err)
			}
			p, list := compiler.Compile(src, embedded(t, tt.target), compiler.Options{})
			if p == nil {
				t.Fatalf("%s\n%v", tt.script, list)
			}
			if got := p.Writes[0].Data; got != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.script, got, tt.want)
			}
		})
	}
}
