package command

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// kernelLine is a row of testdata/lines.tsv.
type kernelLine struct {
	file, line string
	taken      bool // by one kernel or more
	note       string
}

func kernelLines(t testing.TB) []kernelLine {
	t.Helper()
	text, err := os.ReadFile("testdata/lines.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var list []kernelLine
	for row := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		cols := strings.Split(row, "\t")
		if len(cols) < 7 || cols[0] == "# file" {
			continue
		}
		l := kernelLine{file: cols[0], line: cols[1]}
		for _, verdict := range cols[2:7] {
			l.taken = l.taken || verdict == "yes"
		}
		if len(cols) > 7 {
			l.note = cols[7]
		}
		list = append(list, l)
	}
	return list
}

func TestLinesThatKernelsTakeAreKept(t *testing.T) {
	taken, refused := 0, 0
	for _, l := range kernelLines(t) {
		c, err := Parse(l.file, l.line)
		if err == nil {
			err = Check(c)
		}
		if !l.taken || l.note != "" {
			refused++
			if err == nil {
				t.Errorf("%s: %q: taken, want an error", l.file, l.line)
			}
			continue
		}
		taken++
		if err != nil {
			t.Errorf("%s: %q: %v", l.file, l.line, err)
			continue
		}
		text := Line(c)
		again, err := Parse(c.File(), text)
		if err != nil {
			t.Errorf("%q printed as %q: %v", l.line, text, err)
			continue
		}
		if !reflect.DeepEqual(c, again) || !Equal(c, again) {
			t.Errorf("%q printed as %q:\n got %#v\nwant %#v", l.line, text, again, c)
		}
	}
	if taken < 300 || refused < 150 {
		t.Errorf("%d lines taken and %d refused, want 300 and 150", taken, refused)
	}
}

// readback is one file of testdata/readback: writes, and files that were read.
type readback struct {
	file   string
	writes []string // since the last read of the file
	text   string
}

func readbacks(t testing.TB, path string) []readback {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string][]string{}
	var list []readback
	reading := false
	for line := range strings.Lines(string(text)) {
		cols := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3) // a line may hold a tab
		switch {
		case reading && line == "end\n":
			reading = false
		case reading:
			list[len(list)-1].text += line
		case cols[0] == "write":
			writes[cols[1]] = append(writes[cols[1]], cols[2])
		case cols[0] == "read":
			list = append(list, readback{file: cols[1], writes: writes[cols[1]]})
			delete(writes, cols[1])
			reading = true
		}
	}
	return list
}

// needsBTF reports whether what is read back for a line depends on the types of
// the machine.
func needsBTF(line string) bool {
	return strings.Contains(line, "$arg*") || strings.Contains(line, ":%p") || strings.Contains(line, " $arg")
}

func TestReadBackEqualsWhatWasWritten(t *testing.T) {
	for _, kernel := range []string{"6.1", "6.12", "6.17", "7.3"} {
		t.Run(kernel, func(t *testing.T) {
			for _, r := range readbacks(t, "testdata/readback/"+kernel+".txt") {
				read, err := ParseAll(r.file, r.text)
				if err != nil {
					t.Errorf("%s: %v in\n%s", r.file, err, r.text)
					continue
				}
				if strings.HasSuffix(r.file, "filter") && len(r.writes) > 0 {
					r.writes = r.writes[len(r.writes)-1:]
				}
				for _, line := range r.writes {
					wrote, err := Parse(r.file, line)
					if err != nil {
						t.Errorf("%s: %q: %v", r.file, line, err)
						continue
					}
					if !needsBTF(line) && !anyShown(read, wrote) {
						t.Errorf("%s: %q is not in\n%s", r.file, line, r.text)
					}
					if err := Check(wrote); err != nil {
						t.Errorf("%s: %q: %v", r.file, line, err)
					}
				}
			}
		})
	}
}

// anyShown reports whether c is in list as read-back shows it.
func anyShown(list []Command, c Command) bool {
	for _, d := range list {
		if Equal(Shown(c), Shown(d)) {
			return true
		}
	}
	return false
}
