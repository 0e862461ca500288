package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/journal"
	"golang.org/x/sys/unix"
)

// facts are what a machine says of itself that tells causes apart.
type facts struct {
	root     bool   // this process is root
	lockdown string // "integrity", "confidentiality"; "" for none
}

func (t *Transaction) facts() facts {
	f := facts{root: os.Geteuid() == 0}
	if t.Root == nil {
		return f
	}
	// "none [integrity] confidentiality" (security/lockdown/lockdown.c)
	text, err := fs.ReadFile(t.Root, "sys/kernel/security/lockdown")
	if err != nil {
		return f
	}
	_, rest, _ := strings.Cut(string(text), "[")
	if mode, _, ok := strings.Cut(rest, "]"); ok && mode != "none" {
		f.lockdown = mode
	}
	return f
}

// verdict is what is said of an Error.
type verdict struct {
	code    diag.Code
	message string
	todo    string // one thing to do; "" if there is none
}

// Diagnostic says e for a person, at the place of the script: one cause, in the
// kernel's words where it has any, and one thing to do.
func (e *Error) Diagnostic() diag.Diagnostic {
	v := e.verdict()
	d := diag.Diagnostic{Severity: diag.Error, Code: v.code, Source: e.Script, Span: e.Span, Message: v.message}
	if e.Way == "" && e.Data != "" {
		at := "the command was"
		if e.Log != nil {
			at = "the kernel's error_log: " + e.Log.String() + "; the command was"
			if e.Byte >= 0 {
				at = fmt.Sprintf("the kernel's error_log: %s, at byte %d of", e.Log, e.Byte)
			}
		}
		d.Notes = append(d.Notes, note("%s: %s", at, e.Data))
	}
	if v.todo != "" {
		d.Notes = append(d.Notes, note("%s", v.todo))
	}
	return d
}

// note is a Note without a place.
func note(format string, args ...any) diag.Note {
	return diag.Note{Span: source.NoSpan, Message: fmt.Sprintf(format, args...)}
}

// verdict tells the causes apart. The kernel's errnos are translated here and
// nowhere else.
func (e *Error) verdict() verdict {
	what, doing := e.what(), e.doing()
	var number unix.Errno
	_ = errors.As(e.Err, &number) // 0 if there is none
	switch {
	case e.Way != "":
		return e.wayVerdict()
	case errors.Is(e.Err, errNotAsAsked):
		return verdict{diag.KernelDiffers, "this kernel took " + what + " and made something else of it",
			"please report the kernel's version and this script: ep should know of it"}
	case number == unix.EROFS:
		return verdict{diag.NotPermitted, "cannot " + doing + ": tracefs is mounted read-only", "mount -o remount,rw " + usualMount}
	case number == unix.EPERM || number == unix.EACCES:
		return e.denied(doing)
	case number == unix.EEXIST:
		return verdict{diag.NameInUse, "cannot " + doing + ": there is one already", "end what made it, or give the script's event another name"}
	case number == unix.EBUSY:
		return verdict{diag.EventBusy, "cannot change " + what + " while something uses it", "'ep status' shows what ep has made; turn the others' off that use it"}
	case number == unix.ENOENT && e.opening():
		return e.missing()
	case number == unix.ENODEV && e.Log == nil:
		return verdict{diag.NotOnMachine, "this kernel lacks what " + what + " is made of", "compile for this machine: --target live"}
	case number == unix.ENOMEM && setting(e.File) == "buffer_size_kb":
		return verdict{diag.KernelRefused, "the kernel has no memory for a buffer of " + e.Data + " KiB for each CPU", "give 'option buffer' a smaller size"}
	case number == unix.ENOMEM:
		return verdict{diag.KernelRefused, "the kernel has no memory for " + what, "give its histograms a smaller 'size'"}
	case e.Log != nil:
		return verdict{diag.KernelRefused, "this kernel refused " + what + ": " + lowerFirst(strings.TrimSuffix(e.Log.Text, ".")), ""}
	case number != 0:
		return verdict{diag.KernelRefused, fmt.Sprintf("this kernel refused %s, and only says '%v'", what, number), "'ep check --target live' may say more"}
	}
	return verdict{diag.KernelRefused, fmt.Sprintf("cannot %s: %v", doing, e.Err), ""}
}

// usualMount is where tracefs mostly is.
const usualMount = "/sys/kernel/tracing"

func (e *Error) wayVerdict() verdict {
	switch {
	case e.step.dynamic():
		return verdict{diag.NameInUse, fmt.Sprintf("event '%s' is taken: %s", e.step.event(), e.Way),
			"end what made it, or give the script's event another name or group"}
	case e.step.Kind == journal.Command:
		return verdict{diag.NameInUse, "cannot " + e.doing() + ": " + e.Way, "let the script have an instance of its own (without --top-level)"}
	}
	return verdict{diag.NameInUse, "cannot " + e.doing() + ": " + e.Way, "let the script have an instance of its own (without --top-level)"}
}

// denied tells why the kernel permits something not.
func (e *Error) denied(doing string) verdict {
	switch {
	case e.facts.lockdown != "":
		return verdict{diag.NotPermitted, fmt.Sprintf("cannot %s: this kernel is locked down (%s)", doing, e.facts.lockdown),
			"kprobes and reads of memory are not allowed so (man 7 kernel_lockdown); it is mostly due to Secure Boot"}
	case !e.facts.root:
		return verdict{diag.NotPermitted, "cannot " + doing + ": permission denied", "run ep as root (sudo ep …), or have tracefs opened to your group"}
	}
	return verdict{diag.NotPermitted, "cannot " + doing + ": the kernel does not permit it, though this is root", "in a container, run ep on the host"}
}

// missing tells which file there is not.
func (e *Error) missing() verdict {
	if e.step.dynamic() {
		return verdict{diag.NotOnMachine, "this kernel takes no new events: tracefs has no dynamic_events",
			"it takes a kernel built with CONFIG_PROBE_EVENTS or CONFIG_SYNTH_EVENTS"}
	}
	if e.step.Kind == journal.Instance {
		return verdict{diag.NotOnMachine, "this kernel has no instances", "use --top-level"}
	}
	file := setting(e.File)
	if name := eventInFile(e.File); name != "" {
		if file == "trigger" {
			return verdict{diag.NotOnMachine, "event '" + name + "' is not there, or takes no triggers", "it takes a kernel built with CONFIG_HIST_TRIGGERS"}
		}
		return verdict{diag.NotOnMachine, "this machine has no event '" + name + "'", "compile for this machine: --target live"}
	}
	return verdict{diag.NotOnMachine, "this kernel's tracefs has no " + file, ""}
}

// opening reports whether the file could not even be opened.
func (e *Error) opening() bool {
	var p *fs.PathError
	return errors.As(e.Err, &p) && p.Op != "write"
}

// eventInFile returns "group.event" of a file of an event, "" of others.
func eventInFile(file string) string {
	parts := strings.Split(file, "/")
	if len(parts) < 4 || parts[len(parts)-4] != "events" {
		return ""
	}
	return parts[len(parts)-3] + "." + parts[len(parts)-2]
}

// what names what a step makes or sets.
func (e *Error) what() string {
	switch c := e.step.cmd.(type) {
	case *command.Eprobe:
		return "the eprobe '" + c.String() + "'"
	case *command.Kprobe:
		return "the kprobe '" + c.String() + "'"
	case *command.Fprobe:
		return "the fprobe '" + c.String() + "'"
	case *command.Tprobe:
		return "the tracepoint probe '" + c.String() + "'"
	case *command.Uprobe:
		return "the uprobe '" + c.String() + "'"
	case *command.Synthetic:
		return "the synthetic event '" + c.Name + "'"
	case *command.Hist:
		return "the histogram on '" + c.Event.String() + "'"
	case *command.Trigger:
		return "the trigger '" + string(c.Kind) + "' on '" + c.Event.String() + "'"
	case *command.Filter:
		return "the filter of '" + c.Event.String() + "'"
	case *command.Enable:
		return "the event '" + c.Event.String() + "'"
	}
	if e.step.dynamic() {
		return "the event '" + e.step.event().String() + "'"
	}
	if e.step.Kind == journal.Instance {
		return "the instance '" + path.Base(e.File) + "'"
	}
	return path.Base(e.File)
}

// doing says what a step does, after "cannot".
func (e *Error) doing() string {
	if _, ok := e.step.cmd.(*command.Enable); ok {
		return "turn " + strings.TrimPrefix(e.what(), "the event ") + " on"
	}
	if e.step.Kind == journal.Value {
		return "set " + e.what()
	}
	return "make " + e.what()
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && !(s[1] >= 'A' && s[1] <= 'Z') {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}
