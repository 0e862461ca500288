package proof

import (
	"errors"
	"strings"

	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/vm"
)

// applyCases prove that a refusal of the kernel finds its way back into the
// script, and that nothing is left of what was done before it.
var applyCases = []vm.Case{
	on("refused-probe", every, func(b *bench) {
		b.refusedAt("event seek from kprobe shmem_file_llseek(file, offset, whence) {\n\toffset: s64\n\twhence: u32\n}\ntrace seek",
			"whence=$arg3:u32", "whence=$arg3:u3x", "Unknown type", "whence")
	}),
	on("refused-variable", eprobes, func(b *bench) {
		b.refusedAt("event seen from syscall openat { file = str(filename), flags }\ntrace seen",
			"=flags", "=flagz", "Couldn't find field", "flags")
	}),
	on("refused-far-out", eprobes, func(b *bench) {
		// The caret stands further right than a byte can count.
		name := "seen_" + strings.Repeat("x", 50)
		b.refusedAt("event "+name+" from syscall openat { dfd, filename, flags, mode, end = $ret }\ntrace "+name,
			"=mode", "=moda", "Couldn't find field", "mode")
	}),
	on("refused-filter", eprobes, func(b *bench) {
		b.refusedAt("event late from sched.sched_waking as w then sched.sched_switch as s by w.pid == s.next_pid having lat > 5ms { lat = s.$time - w.$time }\ntrace late",
			"lat > 5000000", "lat > 5000x00", "", "5ms")
	}),
	on("refused-in-instance", eprobes, func(b *bench) {
		b.refusedAt("option instance ep_proof\nevent seen from syscall openat { file = str(filename), flags }\ntrace seen",
			"=flags", "=flagz", "Couldn't find field", "flags")
	}),
}

// refusedAt compiles a script, spoils one of the commands, and demands that
// apply reports that write, with the kernel's words, at the text of the script.
func (b *bench) refusedAt(script, right, wrong, words, at string) {
	p := b.compile("proof.ep", script)
	spoilt := false
	for i := range p.Writes {
		w := &p.Writes[i]
		if strings.Contains(w.Data, right) && !spoilt {
			w.Data = strings.Replace(w.Data, right, wrong, 1)
			spoilt = true
		}
	}
	if !spoilt {
		b.Fatalf("no command has %q in %s", right, echo(b, p))
	}
	before := b.state(touched(p))
	_, err := apply.Apply(b.Context(), b.fs, p)
	var refused *apply.Error
	if !errors.As(err, &refused) {
		b.Fatalf("got %v, want an *apply.Error", err)
	}
	b.Logf("%v", err)
	if refused.Log == nil || !strings.Contains(refused.Log.Text, words) {
		b.Errorf("the kernel's words: got %+v, want %q in them", refused.Log, words)
	}
	if got := p.Script.Slice(refused.Span); got != at {
		b.Errorf("the place is %q (byte %d of %q), want %q", got, refused.Byte, refused.Data, at)
	}
	b.same("the refused script", before, b.state(touched(p)))
}
