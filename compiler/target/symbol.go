package target

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/eptrace/ep/lang/diag"
)

// SymbolState is what may be done with a kernel symbol.
type SymbolState uint8

// The states of a symbol.
const (
	SymbolUnknown    SymbolState = iota // the target has no list to tell by
	SymbolAbsent                        // all symbols are listed and it is not there
	SymbolUnlisted                      // no function that can be probed; the target does not list other symbols, so it may be absent or be anything else
	SymbolData                          // it is there and is data
	SymbolFixed                         // a function that no probe may be put on: notrace, inlined everywhere, or of the start-up
	SymbolFprobeOnly                    // a function on the kprobes' black list: an fprobe is possible, a kprobe is not
	SymbolProbeable                     // a function that kprobes and fprobes may be put on
)

// Function is what the target's lists say of one symbol.
type Function struct {
	State SymbolState
	// Modules names where each function of this name is: the module, "" for
	// the kernel itself. Several functions may bear one name; since v6.6
	// (commit b022f0c7e404) the kernel refuses a kprobe on such a name.
	Modules []string
}

// TextStart reports whether name marks where the kernel's code begins. Such a name
// is not a function, but kprobes and perf(1) count an offset from it to any
// instruction of the kernel: "_text+7478608".
func TextStart(name string) bool { return name == "_text" || name == "_stext" }

// Symbol tells what may be done with a symbol. name is the bare name, or
// "MODULE:NAME". The lists are read as far as needed, and what was found is
// kept. The error is about a list that is there and cannot be read.
//
// An assembler's or a compiler's name with a dot in it ("foo.isra.0") is looked
// for as it is.
func (t *Target) Symbol(name string) (SymbolState, error) {
	f, err := t.Function(name)
	return f.State, err
}

// Function is like Symbol and also tells where the functions of the name are.
func (t *Target) Function(name string) (Function, error) {
	t.mu.Lock()
	got, ok := t.symbols[name]
	t.mu.Unlock()
	if ok {
		return got, nil
	}
	f, err := t.findFunction(name)
	if err != nil {
		return f, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.symbols[name] = f
	return f, nil
}

func (t *Target) findFunction(name string) (Function, error) {
	module, bare, hasModule := strings.Cut(name, ":")
	if !hasModule {
		module, bare = "", name
	}
	var f Function
	listed, err := t.scan(path.Join(t.root, FileFunctions), bare, func(line []byte) {
		fn, mod := functionLine(line)
		if string(fn) == bare && (!hasModule || string(mod) == module) {
			f.Modules = append(f.Modules, string(mod))
		}
	})
	if err != nil {
		return f, err
	}
	if len(f.Modules) > 0 {
		f.State = SymbolProbeable
		_, err = t.scan(PathBlacklist, bare, func(line []byte) {
			// "0xADDR-0xADDR⇥name", and the module after it
			if i := bytes.LastIndexByte(line, '\t'); i >= 0 {
				if fn, _ := functionLine(line[i+1:]); string(fn) == bare {
					f.State = SymbolFprobeOnly
				}
			}
		})
		if errors.Is(err, fs.ErrPermission) {
			err = nil // debugfs is often for root alone; the kernel tells when it refuses
		}
		return f, err
	}
	all, err := t.scan(PathKallsyms, bare, func(line []byte) {
		kind, fn, mod := kallsymsLine(line)
		if string(fn) != bare || hasModule && string(mod) != module {
			return
		}
		switch kind {
		case 't', 'T', 'w', 'W':
			f.State = SymbolFixed
			f.Modules = append(f.Modules, string(mod))
		default:
			if f.State == SymbolUnknown {
				f.State = SymbolData
			}
		}
	})
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	if f.State == SymbolFixed && !listed {
		f.State = SymbolProbeable // nothing says that it is not
	}
	if f.State == SymbolUnknown {
		switch {
		case all:
			f.State = SymbolAbsent
		case listed:
			f.State = SymbolUnlisted
		}
	}
	return f, nil
}

// Namesakes returns how many functions of the kernel itself, be they such that
// can be probed or not, bear a name; 0 if the target does not list all symbols.
// Since v6.6 (commit b022f0c7e404, carried back to v6.1.y) the kernel refuses a
// kprobe on a name of several. The whole list is read.
func (t *Target) Namesakes(name string) int {
	t.mu.Lock()
	n, known := t.namesakes[name]
	t.mu.Unlock()
	if known {
		return n
	}
	_, err := t.scan(PathKallsyms, name, func(line []byte) {
		kind, fn, mod := kallsymsLine(line)
		if string(fn) == name && len(mod) == 0 && bytes.IndexByte([]byte("tTwW"), kind) >= 0 {
			n++
		}
	})
	if err != nil {
		n = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.namesakes == nil {
		t.namesakes = map[string]int{}
	}
	t.namesakes[name] = n
	return n
}

// NearSymbol returns the function that can be probed whose name is nearest to
// name; false if none is near or there is no list.
func (t *Target) NearSymbol(name string) (string, bool) {
	if _, bare, ok := strings.Cut(name, ":"); ok {
		name = bare
	}
	return t.nearIn(path.Join(t.root, FileFunctions), name, func(line []byte) []byte {
		fn, _ := functionLine(line)
		return fn
	})
}

// NearVariable is NearSymbol among all symbols: variables lie in between the
// code, too, and are listed as code then (jiffies of 6.17).
func (t *Target) NearVariable(name string) (string, bool) {
	return t.nearIn(PathKallsyms, name, func(line []byte) []byte {
		_, symbol, _ := kallsymsLine(line)
		return symbol
	})
}

// nearIn returns the name of a list's line that is nearest to name.
func (t *Target) nearIn(list, name string, of func(line []byte) []byte) (string, bool) {
	var near []string
	_, err := t.scan(list, "", func(line []byte) {
		s := of(line)
		if d := len(s) - len(name); -3 <= d && d <= 3 {
			near = append(near, string(s))
		}
	})
	if err != nil {
		return "", false // a suggestion is no reason to fail
	}
	return diag.Near(name, near)
}

// Functions returns the names of the functions that can be probed and match
// keep, sorted, each once.
func (t *Target) Functions(keep func(name string) bool) ([]string, error) {
	var names []string
	ok, err := t.scan(path.Join(t.root, FileFunctions), "", func(line []byte) {
		fn, _ := functionLine(line)
		if name := string(fn); keep(name) {
			names = append(names, name)
		}
	})
	if err == nil && !ok {
		err = fmt.Errorf("list of functions: %w", ErrNotFound)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// scan calls found with each line of a list that contains text. It reports
// whether there is such a list; one that nobody may read is an error.
func (t *Target) scan(file, text string, found func(line []byte)) (ok bool, err error) {
	f, err := t.fsys.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open list of symbols: %w", err)
	}
	defer f.Close()
	want := []byte(text)
	r := bufio.NewReaderSize(f, 64<<10)
	any := false
	for {
		// Whole buffers are searched, lines only where the text was found:
		// lists have 200,000 lines and most scripts ask for one.
		chunk, err := r.Peek(max(r.Buffered(), 1))
		if len(chunk) == 0 {
			if err != nil && !isEOF(err) {
				return false, fmt.Errorf("read list of symbols: %w", err)
			}
			return any, nil
		}
		any = true
		end := bytes.LastIndexByte(chunk, '\n') + 1
		if end == 0 {
			// No whole line yet.
			line, err := r.ReadBytes('\n')
			if bytes.Contains(line, want) {
				found(bytes.TrimSuffix(line, []byte("\n")))
			}
			if err != nil && !isEOF(err) {
				return false, fmt.Errorf("read list of symbols: %w", err)
			}
			continue
		}
		eachLine(chunk[:end], want, found)
		if _, err := r.Discard(end); err != nil {
			return false, fmt.Errorf("read list of symbols: %w", err)
		}
	}
}
