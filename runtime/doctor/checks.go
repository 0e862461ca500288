package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/eptrace/ep/compiler/target"
)

// tracefs opens the machine as a target.
func (x *examination) tracefs() {
	const check = "tracefs"
	x.report.Release = strings.TrimSpace(x.read(target.PathRelease))
	x.report.Arch = strings.TrimSpace(x.read(target.PathArch))
	t, err := target.Open("live", x.m.Root)
	if err == nil {
		_, err = t.Systems()
	}
	switch {
	case err == nil:
		x.t, x.dir = t, t.Tracefs()
		x.report.Tracefs = "/" + t.Tracefs()
		x.report.Release, x.report.Arch = t.Release(), string(t.Arch())
		x.find(check, OK, "mounted at "+x.report.Tracefs, "")
	case errors.Is(err, fs.ErrPermission):
		x.find(check, Broken, "it is mounted, and this user may not enter it", "become root, or have it mounted with a group of yours: mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing")
	default:
		x.noTracefs(check)
	}
}

// noTracefs tells a tracefs that is not mounted from a kernel without one.
func (x *examination) noTracefs(check string) {
	if !strings.Contains(x.read("proc/filesystems"), "\ttracefs\n") {
		x.find(check, Broken, "this kernel has no tracefs", "it takes a kernel with CONFIG_FTRACE and CONFIG_KPROBE_EVENTS or another of its tracers")
		return
	}
	for line := range strings.Lines(x.read("proc/mounts")) {
		words := strings.Fields(line)
		if len(words) > 2 && words[2] == "tracefs" {
			x.find(check, Broken, fmt.Sprintf("it is mounted at %s, and is empty or cannot be read there", words[1]), "become root; under lockdown it is empty for everybody")
			return
		}
	}
	x.find(check, Broken, "it is not mounted", "as root: mount -t tracefs tracefs /sys/kernel/tracing")
}

// permission tells whether what a script needs may be written.
func (x *examination) permission() {
	const check = "permission"
	if x.m.Writable == nil {
		return
	}
	for _, f := range []string{"dynamic_events", "kprobe_events", "tracing_on"} {
		name := path.Join(x.dir, f)
		if _, err := fs.Stat(x.m.Root, name); err != nil {
			continue
		}
		if err := x.m.Writable(name); err != nil {
			x.find(check, Broken, fmt.Sprintf("this user may not write to %s", f), "become root: ep compile, check, list and explain work without")
			return
		}
	}
	x.find(check, OK, "this user may write to it", "")
}

// lockdown reads what the kernel forbids everybody. All of tracefs and every
// kprobe falls under confidentiality (security/security.c, lockdown_reasons).
func (x *examination) lockdown() {
	const check = "lockdown"
	text := x.read(target.PathLockdown)
	_, rest, ok := strings.Cut(text, "[")
	mode, _, _ := strings.Cut(rest, "]")
	switch {
	case !ok:
		x.find(check, OK, "none: the kernel has no lockdown, or does not tell", "")
	case mode == "confidentiality":
		x.find(check, Broken, "confidentiality: the kernel lets nobody use tracefs", "boot with lockdown=integrity or less; with Secure Boot the distribution decides")
	default:
		x.find(check, OK, mode, "")
	}
}

// switches reads what turns parts of tracing off at run time.
func (x *examination) switches() {
	if strings.TrimSpace(x.read("proc/sys/kernel/ftrace_enabled")) == "0" {
		x.find("ftrace", Limit, "function tracing is off, and so are fprobes", "as root: sysctl kernel.ftrace_enabled=1")
	}
	if strings.TrimSpace(x.read("sys/kernel/debug/kprobes/enabled")) == "0" {
		x.find("kprobes", Limit, "kprobes are turned off", "as root: echo 1 > /sys/kernel/debug/kprobes/enabled")
	}
	if strings.TrimSpace(x.read(path.Join(x.dir, "tracing_on"))) == "0" {
		x.find("recording", Limit, "recording is off at the top level", "as root: echo 1 > "+x.report.Tracefs+"/tracing_on; what is recorded in an instance is not affected")
	}
	if tracer := strings.TrimSpace(x.read(path.Join(x.dir, "current_tracer"))); tracer != "nop" && tracer != "" {
		x.find("tracer", Limit, fmt.Sprintf("somebody's tracer '%s' is on at the top level, and fills the buffer", tracer), "record in an instance: --instance NAME")
	}
}

// types tells whether functions' arguments and structs are known by name, and
// whether ep knows the architecture.
func (x *examination) types() {
	_, err := fs.Stat(x.m.Root, target.PathBTF)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.find("types", Limit, "this kernel has no type information (BTF): arguments of functions are not known by name", "declare them by position, func F(a, b); or take a kernel with CONFIG_DEBUG_INFO_BTF")
	case err != nil:
		x.find("types", Limit, "the kernel's type information cannot be read", "become root")
	default:
		x.find("types", OK, "the kernel tells its types (BTF)", "")
	}
	if _, err := fs.Stat(x.m.Root, path.Join(x.dir, target.FileFunctions)); errors.Is(err, fs.ErrNotExist) {
		x.find("functions", Limit, "this kernel does not list the functions that can be probed", "it takes CONFIG_DYNAMIC_FTRACE; names are then not checked before")
	}
	if len(x.t.Syscalls()) == 0 {
		x.find("architecture", Limit, fmt.Sprintf("ep has no table of the system calls of '%s'", x.report.Arch), "")
	}
}

// options are what tracing is made of, with what is lacking without each.
// Before since there is no such option, and no lack.
var options = []struct {
	name, lacking string
	since         target.Version
}{
	{name: "CONFIG_KPROBE_EVENTS", lacking: "no kprobes, and no func where fprobes lack too"},
	{"CONFIG_FPROBE_EVENTS", "no fprobes and no tracepoint sources; func is done by kprobes", target.Version{Major: 6, Minor: 5}},
	{"CONFIG_EPROBE_EVENTS", "no events made of others, save by joins", target.Version{Major: 6, Minor: 17}},
	{name: "CONFIG_UPROBE_EVENTS", lacking: "no ufunc, uprobe and usdt"},
	{name: "CONFIG_HIST_TRIGGERS", lacking: "no hist, no joins, no spans"},
	{name: "CONFIG_SYNTH_EVENTS", lacking: "no joins and no spans"},
	{name: "CONFIG_FTRACE_SYSCALLS", lacking: "no events of single system calls; syscall is done by raw_syscalls, if it is at all"},
	{name: "CONFIG_DYNAMIC_FTRACE", lacking: "no fprobes"},
	{name: "CONFIG_TRACER_SNAPSHOT", lacking: "no snapshots"},
	{name: "CONFIG_BOOTTIME_TRACING", lacking: "no tracing by bootconfig"},
}

// configuration reads how the kernel was built.
func (x *examination) configuration() {
	const check = "config"
	off := 0
	for _, o := range options {
		on, known := x.t.Config(o.name)
		if !known {
			x.find(check, Limit, "the kernel's configuration cannot be read; what it can do is told by tracefs alone", "it is read from /boot/config-RELEASE or /proc/config.gz")
			return
		}
		if !on && x.t.Version().AtLeast(o.since) {
			off++
			x.find(check, Limit, o.name+" is off: "+o.lacking, "it takes another kernel")
		}
	}
	if off == 0 {
		x.find(check, OK, "built with all that tracing is made of", "")
	}
}
