package sourceproof

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/eptrace/ep/compiler/object"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
)

// userCases prove probes in user space, on a program made for that
// (compiler/object/testdata/src/program.c): it calls nine() ten times with
// arguments that its round tells.
var userCases = []vm.Case{
	on("ufunc", every, proveUserFunction),
	on("ufunc-span", joins, proveUserSpan),
	on("uprobe", every, proveUprobe),
	on("usdt", every, proveMark),
	on("user-join", joins, proveUserJoin),
	on("user-32-bit", func(k vm.Kernel) bool { return isX86(k) && joins(k) }, prove32Bit),
	on("user-refused", every, proveUserRefused),
}

// rounds is how often the program goes round its loop.
const rounds = 10

// nine is what the program's function returns in a round.
func nine(n int) int { return n + 200 + 'e' + n + 2*n + 5 + 1 + 1000 + n + 65535 - 5 }

// program is the path of the program for the guest's architecture.
func program(b *bench) string {
	name := programDir + "loose-arm64"
	if isX86(b.Kernel()) {
		name = programDir + "loose-x86_64"
	}
	if err := os.Chmod(name, 0o755); err != nil {
		b.Fatalf("%v", err)
	}
	return name
}

// runs runs a program once and sets pid.
func runs(path string, pid *int) func() error {
	return func() error {
		cmd := exec.Command(path)
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
			err = nil // it exits with a count
		}
		if cmd.Process != nil {
			*pid = cmd.Process.Pid
		}
		return err
	}
}

// at puts the program's path into a script.
func at(path, script string) string { return strings.ReplaceAll(script, "PATH", `"`+path+`"`) }

func each(f func(n int) string) []string {
	var rows []string
	for n := range rounds {
		rows = append(rows, f(n))
	}
	return rows
}

func proveUserFunction(b *bench) {
	path, pid := program(b), 0
	r := b.run(at(path, `
event e from ufunc PATH:nine.enter { a, b, text = str(text), x = p->x, y = p->y, e, f, g }
event x from ufunc PATH:nine.exit { $ret }
event some from ufunc PATH:nine.enter where a > 6 && p->y != 16 { a }
event declared from ufunc PATH:nine.enter(a: s32, _, t: user *char) { a, t = str(t), c = t[1] }
trace e, x, some, declared`), runs(path, &pid))
	r.wantBy("e", pid, "a b text x y e f g", each(func(n int) string {
		return fmt.Sprintf("%d 200 ep was here %d %d %d 65535 -5", n, n, 2*n, 1000+n)
	})...)
	r.wantBy("x", pid, "ret", each(func(n int) string { return fmt.Sprint(nine(n)) })...)
	r.wantBy("some", pid, "a", "7", "9")
	r.wantBy("declared", pid, "a t c", each(func(n int) string { return fmt.Sprintf("%d ep was here 'p'", n) })...)
}

func proveUserSpan(b *bench) {
	path, pid := program(b), 0
	r := b.run(at(path, `
event span from ufunc PATH:nine where a != 3 { a, e, $ret, x = enter(p->x), later = p->y, text = str(text), took = $elapsed }
event nothing from ufunc PATH:nothing { took = $elapsed }
trace span, nothing`), runs(path, &pid))
	var rows []string
	for n := range rounds {
		if n != 3 {
			rows = append(rows, fmt.Sprintf("%d %d %d %d %d ep was here", n, 1000+n, nine(n), n, 2*n))
		}
	}
	r.wantBy("span", pid, "a e ret x later text", rows...)
	for _, took := range r.by("nothing", pid, "took") {
		if d, err := time.ParseDuration(took); err != nil || d < 0 {
			b.Errorf("took %q: %v", took, err)
		}
	}
	if n := len(r.by("nothing", pid, "took")); n != rounds {
		b.Errorf("got %d, want %d", n, rounds)
	}
}

// proveUprobe: by name, by address, and inside.
func proveUprobe(b *bench) {
	path, pid := program(b), 0
	f, err := object.Open(os.DirFS("/"), path)
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer f.Close()
	sym, err := f.Function("nine")
	if err != nil {
		b.Fatalf("%v", err)
	}
	first := "x0"
	if isX86(b.Kernel()) {
		first = "di"
	}
	script := fmt.Sprintf(at(path, `
event byName from uprobe PATH:nine(a: s32) { a }
event byAddress from uprobe PATH:%#x(a: s32) { a }
event byRegister from uprobe PATH:nine { a = $reg(%s) as s32 }
event ends from uprobe PATH:nine { comm = $comm }
trace byName, byAddress, byRegister, ends`), sym.Value, first)
	r := b.run(script, runs(path, &pid))
	rows := each(func(n int) string { return fmt.Sprint(n) })
	r.wantBy("byName", pid, "a", rows...)
	r.wantBy("byAddress", pid, "a", rows...)
	r.wantBy("byRegister", pid, "a", rows...)
	if n := len(r.by("ends", pid, "comm")); n != rounds {
		b.Errorf("got %d, want %d: %s", n, rounds, r)
	}
}

// proveMark: a probe with several sites, whose arguments are in other places in
// each, is one event.
func proveMark(b *bench) {
	path, pid := program(b), 0
	r := b.run(at(path, `
event loop from usdt PATH:ep:loop(n, text: user *char, five, minus) { n, text = str(text), five, minus }
event odd from usdt PATH:ep:odd { arg1 }
event even from usdt PATH:ep:odd(n) where n < 0 { n }
event global from usdt PATH:ep:global(_, level, n) { level, n }
trace loop, odd, even, global`), runs(path, &pid))
	sign := func(n int) int {
		if n%2 == 0 {
			return -n
		}
		return n
	}
	r.wantBy("loop", pid, "n text five minus", each(func(n int) string { return fmt.Sprintf("%d ep was here 5 %d", n, -n) })...)
	r.wantBy("odd", pid, "arg1", each(func(n int) string { return fmt.Sprint(sign(n)) })...)
	r.wantBy("even", pid, "n", "-2", "-4", "-6", "-8")
	r.wantBy("global", pid, "level n", each(func(n int) string { return fmt.Sprintf("7 %d", n) })...)
}

// proveUserJoin: a function of the program, then one of its static probes.
func proveUserJoin(b *bench) {
	path, pid := program(b), 0
	r := b.run(at(path, `
event both from ufunc PATH:nine.enter as call then usdt PATH:ep:global(_, level, n) as mark by $tid
{ call.a, text = str(call.text), mark.level, took = mark.$time - call.$time }
trace both`), runs(path, &pid))
	r.wantBy("both", pid, "a text level", each(func(n int) string { return fmt.Sprintf("%d ep was here 7", n) })...)
}

// prove32Bit: of a program with 32-bit pointers, what lies in registers and on the
// stack, and what is behind one pointer.
func prove32Bit(b *bench) {
	path, pid := programDir+"program-i386", 0
	if err := os.Chmod(path, 0o755); err != nil {
		b.Fatalf("%v", err)
	}
	r := b.run(at(path, `
event e from ufunc PATH:nine.enter { a, e, f, g }
event x from ufunc PATH:nine.exit { r = $ret as s32 }
event mark from usdt PATH:ep:odd(n) { n }
event wr from syscall write.enter { fd }
event end from syscall exit.enter { error_code }
trace e, x, mark, wr, end`), runs(path, &pid))
	r.wantBy("e", pid, "a e f g", each(func(n int) string { return fmt.Sprintf("%d %d 65535 -5", n, 1000+n) })...)
	r.wantBy("x", pid, "r", each(func(n int) string { return fmt.Sprint(nine(n)) })...)
	// Its call 1 is exit, and that of this kernel is write: neither is seen.
	r.wantBy("wr", pid, "fd")
	r.wantBy("end", pid, "error_code")
	b.refused(at(path, "trace ufunc PATH:nine.enter { t = str(text) }"), diag.NotStorable)
	b.refused(at(path, "trace ufunc PATH:nine.enter { x = p->x }"), diag.NotStorable)
}

func proveUserRefused(b *bench) {
	path := program(b)
	b.refused(at(path, "trace ufunc PATH:nine.exit { a }"), diag.MissingFeature)
	b.refused(at(path, "trace ufunc PATH:nine.enter { z = p->z }"), diag.UnknownField)
	b.refused(at(path, "trace ufunc PATH:ninee.enter { $comm }"), diag.UnknownSymbol)
	b.refused(at(path, "trace ufunc PATH:level.enter { $comm }"), diag.UnknownSymbol)
	b.refused(at(path, "trace usdt PATH:ep:lop { $comm }"), diag.UnknownSymbol)
	b.refused("trace ufunc \"/init\":`runtime.main` { $comm }", diag.NotProbeable)
	b.refused("trace ufunc \"/no/such/file\":nine { $comm }", diag.UnknownFile)
	b.refused("trace ufunc \"/proc/version\":nine { $comm }", diag.UnknownFile)
}
