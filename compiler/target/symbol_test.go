package target

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	functionList = "vfs_read\nvfs_write\next4_sync_file [ext4]\ntwice\ntwice [ext4]\npoked\n"
	symbolList   = "0000000000000000 T vfs_read\n0000000000000000 t __schedule\n0000000000000000 D jiffies\n" +
		"0000000000000000 t mod_only\t[ext4]\n0000000000000000 t long_name_of_nothing.isra.0\n"
)

func TestSymbols(t *testing.T) {
	functions := map[string]string{"sys/kernel/tracing/available_filter_functions": functionList}
	all := map[string]string{
		"sys/kernel/tracing/available_filter_functions": functionList,
		PathKallsyms:  symbolList,
		PathBlacklist: "0x0-0x0\tpoked\n0x0-0x0\tvfs_readx\n",
	}
	for _, c := range []struct {
		name, symbol string
		files        map[string]string
		want         SymbolState
	}{
		{"no lists", "vfs_read", nil, SymbolUnknown},
		{"function", "vfs_read", functions, SymbolProbeable},
		{"of a module", "ext4:ext4_sync_file", functions, SymbolProbeable},
		{"of a module, by the bare name", "ext4_sync_file", functions, SymbolProbeable},
		{"of another module", "xfs:ext4_sync_file", functions, SymbolUnlisted},
		{"no function, other symbols not listed", "jiffies", functions, SymbolUnlisted},
		{"part of a name", "vfs", functions, SymbolUnlisted},
		{"data", "jiffies", all, SymbolData},
		{"function that cannot be traced", "__schedule", all, SymbolFixed},
		{"the module's own", "ext4:mod_only", all, SymbolFixed},
		{"black list", "poked", all, SymbolFprobeOnly},
		{"absent", "nope", all, SymbolAbsent},
		{"compiler's name", "long_name_of_nothing.isra.0", all, SymbolFixed},
		{"only kallsyms", "__schedule", map[string]string{PathKallsyms: symbolList}, SymbolProbeable},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg := machine(t, c.files)
			for range 2 { // the second time from what was kept
				if got, err := tg.Symbol(c.symbol); got != c.want || err != nil {
					t.Errorf("%s: got %v, %v, want %v", c.symbol, got, err, c.want)
				}
			}
		})
	}
}

func TestFunctionsOfOneName(t *testing.T) {
	tg := machine(t, map[string]string{"sys/kernel/tracing/available_filter_functions": functionList})
	f, err := tg.Function("twice")
	if want := []string{"", "ext4"}; err != nil || !slices.Equal(f.Modules, want) {
		t.Errorf("got %q, %v, want %q", f.Modules, err, want)
	}
	names, err := tg.Functions(func(name string) bool { return strings.HasPrefix(name, "t") })
	if want := []string{"twice"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v, want %q", names, err, want)
	}
	if _, err := machine(t, nil).Functions(func(string) bool { return true }); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestNearSymbol(t *testing.T) {
	tg := machine(t, map[string]string{"sys/kernel/tracing/available_filter_functions": functionList})
	for name, want := range map[string]string{"vfs_raed": "vfs_read", "ext4:ext4_sync_fiel": "ext4_sync_file", "xyzzy": ""} {
		if got, ok := tg.NearSymbol(name); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestScanOfLongLists checks that lines are found wherever they stand in the
// buffers that a list is read by.
func TestScanOfLongLists(t *testing.T) {
	var b strings.Builder
	for b.Len() < 300<<10 {
		b.WriteString("some_function_or_other\n")
	}
	b.WriteString("needle\n")
	b.WriteString(strings.Repeat("x", 200<<10) + "\n") // longer than a buffer
	for b.Len() < 700<<10 {
		b.WriteString("another_function_again\n")
	}
	b.WriteString("needle") // the last line has no end
	tg := machine(t, map[string]string{"sys/kernel/tracing/available_filter_functions": b.String()})
	f, err := tg.Function("needle")
	if err != nil || len(f.Modules) != 2 {
		t.Errorf("got %d needles, %v, want 2", len(f.Modules), err)
	}
	n := 0
	if _, err := tg.scan("sys/kernel/tracing/available_filter_functions", "", func([]byte) { n++ }); err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(b.String(), "\n") + 1; n != want {
		t.Errorf("got %d lines, want %d", n, want)
	}
}

func TestUnreadableList(t *testing.T) {
	m := fstest.MapFS{
		"README":         &fstest.MapFile{},
		"events/x/y/id":  &fstest.MapFile{},
		PathKallsyms:     &fstest.MapFile{Data: []byte(symbolList)},
		"proc/self/exe":  &fstest.MapFile{Data: []byte("#!")},
		"proc/version":   &fstest.MapFile{},
		"events/enable":  &fstest.MapFile{},
		"events/x/empty": &fstest.MapFile{},
	}
	tg, err := Open("x", lockedFS{m, "available_filter_functions"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tg.Symbol("vfs_read"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want fs.ErrPermission", err)
	}
}

// lockedFS refuses one file.
type lockedFS struct {
	fs.FS
	name string
}

func (l lockedFS) Open(name string) (fs.File, error) {
	if name == l.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return l.FS.Open(name)
}
