package object

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/command"
	"github.com/hexops/autogold/v2"
)

// TestPrograms lists what is known of the programs of testdata. The offsets in
// the golden files were compared with those of nm, readelf and objdump.
func TestPrograms(t *testing.T) {
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			f := openProgram(t, name)
			var b strings.Builder
			fmt.Fprintf(&b, "%s, fixed: %v\n", f.Arch(), f.Fixed())
			tables, err := f.allTables()
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, table := range tables {
				for e := range table.all {
					if e.mayBeCode() && e.typ != elf.STT_NOTYPE && e.section != 0 && !seen[e.name] {
						seen[e.name] = true
						listFunction(&b, f, e.name)
					}
				}
			}
			probes, err := f.Probes()
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range probes {
				listProbe(t, &b, f, p)
			}
			autogold.ExpectFile(t, autogold.Raw(b.String()))
		})
	}
}

func listFunction(b *strings.Builder, f *File, name string) {
	s, err := f.Function(name)
	if err != nil {
		fmt.Fprintf(b, "\n%s: %v\n", name, err)
		return
	}
	fmt.Fprintf(b, "\n%s: %v of %d bytes at 0x%x in %s, offset 0x%x\n", name, s.Kind, s.Size, s.Value, s.Section, s.Offset)
	if s.Demangled != "" {
		fmt.Fprintf(b, "\t%s\n", s.Demangled)
	}
	params, result, err := f.Params(s)
	if err != nil {
		return
	}
	for _, p := range params {
		fetch := "?"
		if p.Fetch != nil {
			fetch = strings.Fields(line(&command.Uprobe{Path: "/x", Args: []command.Arg{{Name: "a", Fetch: p.Fetch}}}))[2][2:]
		}
		fmt.Fprintf(b, "\t%s: %v = %s\n", p.Name, p.Type, fetch)
	}
	fmt.Fprintf(b, "\tresult: %v\n", result)
}

// line prints a uprobe.
func line(u *command.Uprobe) string {
	u.EventName = command.EventName{Group: "g", Name: "e"}
	s, _ := command.Print(u)
	return s
}

func listProbe(t *testing.T, b *strings.Builder, f *File, name string) {
	provider, probe, _ := strings.Cut(name, ":")
	sites, err := f.USDT(provider, probe)
	if err != nil {
		fmt.Fprintf(b, "\n%s: %v\n", name, err)
		return
	}
	fmt.Fprintf(b, "\n%s\n", name)
	for _, site := range sites {
		u := &command.Uprobe{Path: f.Path(), Offset: site.Offset, RefCtr: site.RefCtr}
		for i, a := range site.Args {
			if a.Err != nil {
				fmt.Fprintf(b, "\t%v\n", a.Err)
				continue
			}
			u.Args = append(u.Args, command.Arg{Name: fmt.Sprintf("a%d", i), Fetch: a.Fetch, Type: a.Type})
		}
		text := line(u)
		if err := command.Check(u); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		fmt.Fprintf(b, "\t%s\n", text)
	}
}
