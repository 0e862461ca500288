package proof

import (
	"bytes"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
)

// seed is a script of testdata/scripts with what proves it.
type seed struct {
	name    string
	example example // what a kernel's document does by hand
	// refusal is the code by which the compiler refuses the script on a kernel
	// where it cannot work, "" where it can.
	refusal func(vm.Kernel) diag.Code
	// work gives the script something to record, and checks the records.
	work func(b *bench)
}

func seedCases() []vm.Case {
	noEprobes := func(k vm.Kernel) diag.Code {
		if !eprobes(k) {
			return diag.MissingFeature
		}
		return ""
	}
	noArrays := func(k vm.Kernel) diag.Code {
		if code := noEprobes(k); code != "" || arrays(k) {
			return code
		}
		return diag.KernelQuirk
	}
	never := func(vm.Kernel) diag.Code { return "" }
	var list []vm.Case
	for _, s := range []seed{
		{"switch.ep", switchExample, noEprobes, workSwitch},
		{"openat.ep", openatExample, noEprobes, workOpenat},
		{"openat_raw.ep", openatRawExample, noArrays, workOpenatRaw},
		{"wakeup.ep", wakeupExample, noEprobes, workWakeup},
		{"blk_update.ep", blkUpdateExample, never, workBlkUpdate},
	} {
		name := "script-" + strings.TrimSuffix(strings.ReplaceAll(s.name, "_", "-"), ".ep")
		list = append(list, on(name, every, s.prove))
	}
	return append(list, on("script-openat-without-syscall-events", eprobes, proveOpenatWithoutEvents))
}

// prove proves that the script does on this kernel what it says, or is refused.
func (s seed) prove(b *bench) {
	if code := s.refusal(b.Kernel()); code != "" {
		b.refused(s.name, "", code)
		return
	}
	theirs := b.document(s.example)
	p := b.compile(s.name, "")
	b.sameAsEmbedded(p)
	before := b.state(touched(p))
	for range 2 { // the second time shows that the first left nothing behind
		a := b.apply(p)
		ours := b.listing(p)
		b.showsPlan(p, ours)
		if !command.EqualButNames(theirs, ours) {
			b.Errorf("the document's objects, in the form that ep gives them:\n%s\nep's:\n%s", lines(theirs), lines(ours))
		}
		s.work(b)
		a.undo()
		b.same(s.name, before, b.state(touched(p)))
	}
}

// sameAsEmbedded demands that a plan for the live kernel is the one for the
// embedded target of its name: what ep shows on any machine is what works here.
func (b *bench) sameAsEmbedded(p *plan.Plan) {
	t, err := target.Embedded(b.Kernel().Name)
	if err != nil {
		b.Fatalf("%v", err)
	}
	other, list := compiler.Compile(p.Script, t, compiler.Options{})
	if other == nil {
		b.Fatalf("for the embedded target:\n%s", rendered(list))
	}
	live, embedded := echo(b, p), echo(b, other)
	if live != embedded {
		b.Errorf("the plan for the live kernel:\n%s\nfor the embedded target:\n%s", live, embedded)
	}
}

func echo(b *bench, p *plan.Plan) string {
	var out bytes.Buffer
	if err := emit.Echo(&out, p); err != nil {
		b.Fatalf("%v", err)
	}
	return out.String()
}

// listing returns what the kernel shows of the objects that a plan makes: all
// dynamic events, then the triggers of the plan's events in the plan's order.
func (b *bench) listing(p *plan.Plan) []command.Command {
	var files []string
	for _, name := range touched(p) {
		if strings.HasSuffix(name, "/trigger") {
			files = append(files, name)
		}
	}
	return b.shown(files)
}

// shown returns what the kernel shows in dynamic_events and the trigger files.
func (b *bench) shown(triggers []string) []command.Command {
	var list []command.Command
	for _, name := range append([]string{"dynamic_events"}, triggers...) {
		text := b.read(name)
		found, err := command.ParseAll(name, text)
		if err != nil {
			b.Fatalf("%s: %v in\n%s", name, err, text)
		}
		for _, c := range found {
			list = append(list, command.Shown(c))
		}
	}
	return list
}

// showsPlan demands that the kernel shows the objects of a plan, and no others.
func (b *bench) showsPlan(p *plan.Plan, shown []command.Command) {
	var want []command.Command
	add := func(dynamic bool) {
		for _, w := range p.Writes {
			if (w.File == "dynamic_events") != dynamic || !dynamic && !strings.HasSuffix(w.File, "/trigger") {
				continue
			}
			c, err := command.Parse(w.File, w.Data)
			if err != nil {
				b.Fatalf("%s: %q: %v", w.File, w.Data, err)
			}
			want = append(want, command.Shown(c))
		}
	}
	add(true)
	add(false)
	if lines(want) != lines(shown) {
		b.Errorf("the plan's objects:\n%s\nthe kernel's:\n%s", lines(want), lines(shown))
	}
}

func lines(list []command.Command) string {
	var s strings.Builder
	for _, c := range list {
		s.WriteString(c.File() + ": " + command.Line(c) + "\n")
	}
	return strings.TrimSuffix(s.String(), "\n")
}
