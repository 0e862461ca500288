// Package snapshot saves what a target is made of, off a machine into one
// file that compiler/target reads. It reads through fs.FS and changes nothing.
//
// A snapshot says what the kernel is, not what the machine is doing: no
// addresses, no dynamic events, no contents of files that hold state. The same
// kernel gives the same bytes.
package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/target"
)

// Options says what to save besides the formats, README, the kernel's
// configuration and the names of the functions that can be probed.
type Options struct {
	BTF     bool // the kernel's type information: about 5 MB, 1.6 MB compressed; that of loaded modules where it is small
	Symbols bool // the names of all symbols, without addresses: 1 MB compressed
}

// Missing is something that a snapshot could not have, and why. The snapshot
// is sound without it, but knows less.
type Missing struct {
	Path string // from the machine's root
	Err  error  // fs.ErrNotExist and fs.ErrPermission, wrapped, are the common ones
}

// String returns one line for a person.
func (m Missing) String() string {
	switch {
	case errors.Is(m.Err, fs.ErrPermission):
		return "/" + m.Path + ": permission denied"
	case errors.Is(m.Err, fs.ErrNotExist):
		return "/" + m.Path + ": not there"
	}
	return fmt.Sprintf("/%s: %v", m.Path, m.Err)
}

// Save writes the target that root shows to w. root is what target.Open takes.
// It returns what could not be read, sorted by path. The error is about w, the
// context, or a root without a readable tracefs (as target.Open tells it).
func Save(ctx context.Context, root fs.FS, w io.Writer, opts Options) ([]Missing, error) {
	t, err := target.Open("live", root)
	if err != nil {
		return nil, err
	}
	s := &saver{ctx: ctx, target: t, root: root, files: map[string][]byte{}}
	s.system()
	s.tracefs()
	if err := s.events(); err != nil {
		return nil, err
	}
	s.symbols(opts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var names []string
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	p := target.NewPacker(w)
	for _, name := range names {
		if err := p.Add(name, s.files[name]); err != nil {
			return nil, fmt.Errorf("write snapshot: %w", err)
		}
	}
	if err := p.Close(); err != nil {
		return nil, fmt.Errorf("write snapshot: %w", err)
	}
	slices.SortFunc(s.missing, func(a, b Missing) int { return strings.Compare(a.Path, b.Path) })
	return s.missing, nil
}

// saver collects the files of one snapshot.
type saver struct {
	ctx     context.Context
	target  *target.Target
	root    fs.FS
	files   map[string][]byte // by the path that a saved target has them at
	missing []Missing
}

// read returns a file of the machine; nil, and a note of it, if it cannot.
func (s *saver) read(name string) []byte {
	if s.ctx.Err() != nil {
		return nil
	}
	data, err := fs.ReadFile(s.root, name)
	if err != nil {
		s.missing = append(s.missing, Missing{name, err})
		return nil
	}
	return data
}

// copy saves a file of the machine as change makes it.
func (s *saver) copy(name string, change func([]byte) []byte) {
	if data := s.read(name); data != nil {
		s.files[name] = change(data)
	}
}

func same(b []byte) []byte { return b }

// system saves what tells the release, the architecture and the configuration.
func (s *saver) system() {
	s.copy(target.PathRelease, same)
	s.copy(target.PathVersion, same)
	if a := s.target.Arch(); a != "" {
		// The kernel's own file of it is new in v6.1.
		s.files[target.PathArch] = []byte(string(a) + "\n")
	}
	if text := s.target.ConfigText(); text != nil {
		s.files[target.ConfigPath(s.target.Release())] = traceConfig(text)
	} else if s.target.Release() != "" {
		s.missing = append(s.missing, Missing{target.ConfigPath(s.target.Release()), fs.ErrNotExist})
	}
	if data, err := fs.ReadFile(s.root, target.PathLockdown); err == nil {
		s.files[target.PathLockdown] = data // securityfs is seldom mounted in small systems: no note
	}
}

// configWords are parts of the names of those options that have to do with
// tracing.
var configWords = []string{"PROBE", "TRAC", "HIST", "BTF", "SYNTH", "LOCKDOWN", "USER_EVENTS", "KALLSYMS", "BPF_SYSCALL", "X86_KERNEL_IBT", "CC_VERSION"}

// traceConfig keeps the lines of a configuration that have to do with tracing.
func traceConfig(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		name := bytes.TrimPrefix(line, []byte("# "))
		name, _, _ = bytes.Cut(name, []byte("="))
		name, _, _ = bytes.Cut(name, []byte(" "))
		if !bytes.HasPrefix(name, []byte("CONFIG_")) {
			continue
		}
		for _, w := range configWords {
			if bytes.Contains(name, []byte(w)) {
				b.Write(line)
				break
			}
		}
	}
	return b.Bytes()
}

// tracefs saves README, the lists of clocks and tracers, and the names of the
// other files: what is there tells what the kernel was built with, while their
// contents are state.
func (s *saver) tracefs() {
	in := s.target.Tracefs()
	for _, dir := range []string{"", "options"} {
		entries, err := fs.ReadDir(s.root, path.Join(in, dir))
		if err != nil {
			s.missing = append(s.missing, Missing{path.Join(in, dir), err})
			continue
		}
		for _, e := range entries {
			if !e.IsDir() {
				s.files[path.Join(target.PathTracefs, dir, e.Name())] = nil
			}
		}
	}
	s.tracefsFile(target.FileReadme, same)
	s.tracefsFile("available_tracers", same)
	s.tracefsFile("trace_clock", func(b []byte) []byte {
		// "[local] global …": which is set is state.
		return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("["), nil), []byte("]"), nil)
	})
	s.tracefsFile(target.FileFunctions, sortLines)
}

func (s *saver) tracefsFile(name string, change func([]byte) []byte) {
	if data := s.read(path.Join(s.target.Tracefs(), name)); data != nil {
		s.files[path.Join(target.PathTracefs, name)] = change(data)
	}
}

// sortLines sorts a list, which makes it smaller when it is compressed and the
// same on every boot.
func sortLines(b []byte) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	slices.SortFunc(lines, bytes.Compare)
	return bytes.Join(lines, nil)
}

// events saves the formats, save those of dynamic events. Its error is the
// context's, or one about the list of events.
func (s *saver) events() error {
	dynamic := s.dynamicEvents()
	systems, err := s.target.Systems()
	if err != nil {
		return err
	}
	for _, system := range systems {
		names, err := s.target.Events(system)
		if err != nil {
			s.missing = append(s.missing, Missing{path.Join(s.target.Tracefs(), "events", system), err})
			continue
		}
		for _, event := range names {
			if s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			if !dynamic[system+"/"+event] {
				s.tracefsFile(path.Join("events", system, event, "format"), same)
			}
		}
	}
	return nil
}

// dynamicEvents returns which events are dynamic, as "system/event". Lines of
// the list begin with "p:GROUP/EVENT ", "r10:GROUP/EVENT ", "s:synthetic/NAME⇥".
func (s *saver) dynamicEvents() map[string]bool {
	dynamic := map[string]bool{}
	data, err := fs.ReadFile(s.root, path.Join(s.target.Tracefs(), "dynamic_events"))
	if err != nil {
		return dynamic // an old kernel; or it is noted already that it cannot be read
	}
	for line := range strings.Lines(string(data)) {
		_, rest, _ := strings.Cut(line, ":")
		if i := strings.IndexAny(rest, " \t\n"); i >= 0 {
			rest = rest[:i]
		}
		dynamic[rest] = true
	}
	return dynamic
}

// symbols saves the lists of symbols without their addresses, and the types.
func (s *saver) symbols(opts Options) {
	s.copy(target.PathBlacklist, func(b []byte) []byte {
		var out [][]byte
		for line := range bytes.Lines(b) {
			if _, name, ok := bytes.Cut(line, []byte("\t")); ok {
				out = append(out, append([]byte("0x0-0x0\t"), name...))
			}
		}
		return sortLines(bytes.Join(out, nil))
	})
	if opts.Symbols {
		s.copy(target.PathKallsyms, namesOnly)
	}
	if opts.BTF {
		s.copy(target.PathBTF, same)
		s.moduleTypes()
	}
}

// maxModuleTypes is how large the type information of a module may be to be
// saved. Most have 10 to 60 KiB; some drivers of graphics have a megabyte.
const maxModuleTypes = 128 << 10

// moduleTypes saves the types of the modules that are loaded. It is of use
// only beside the kernel's, whose types it refers to.
func (s *saver) moduleTypes() {
	dir := path.Dir(target.PathBTF)
	entries, err := fs.ReadDir(s.root, dir)
	if err != nil || s.files[target.PathBTF] == nil {
		return // it is noted already that the kernel's cannot be read
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		info, err := e.Info()
		if name == target.PathBTF || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > maxModuleTypes {
			s.missing = append(s.missing, Missing{name, errTooLarge})
			continue
		}
		s.copy(name, same)
	}
}

var errTooLarge = errors.New("too large to be saved")

// madeUp are beginnings of names that no source text has: padding before
// functions, tables of exported symbols, constants inside of functions, what
// macros make of tracepoints, system calls and security hooks.
var madeUp = []string{
	"__pfx_", "__UNIQUE_ID", "__func__.", "__FUNCTION__.", "__PRETTY_FUNCTION__.", "__ksymtab", "__kstrtab", "__crc_",
	"__initcall_", "__setup_", "__already_done.", "__warned.", "__key.", "__msg.", "__bug_table", "_rs.", "CSWTCH.", ".L", "$",
	"__SCK__", "__SCT__", "__BTF_ID__", "security_hook_active_", "__compound_literal", "__param_str",
	"TRACE_SYSTEM_", "__TRACE_SYSTEM_", "__tpstrtab_", "__event_", "print_fmt_", "event_class_", "trace_event_fields_",
	"trace_event_type_funcs_", "__bpf_trace_tp_map_", "__syscall_meta_", "__p_syscall_meta_", "types__", "args__",
}

// namesOnly reduces kallsyms to "0 TYPE NAME" and the module, sorted by name
// within a type.
func namesOnly(b []byte) []byte {
	var out bytes.Buffer
next:
	for line := range bytes.Lines(b) {
		_, rest, ok := bytes.Cut(line, []byte(" "))
		_, name, named := bytes.Cut(rest, []byte(" "))
		if !ok || !named {
			continue
		}
		for _, p := range madeUp {
			if bytes.HasPrefix(name, []byte(p)) {
				continue next
			}
		}
		out.WriteString("0 ")
		out.Write(rest)
	}
	return sortLines(out.Bytes())
}
