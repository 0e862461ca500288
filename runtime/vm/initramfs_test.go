package vm

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
)

func TestInitramfsHoldsFilesAndFolders(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("ELF"), 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string]content{
		"/init":          {path: program},
		"/epvm.json":     {bytes: []byte("{}")},
		"/lib/a/b/empty": {},
	}
	var out, again bytes.Buffer
	for _, w := range []io.Writer{&out, &again} {
		if err := writeInitramfs(w, files); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("same files, other bytes")
	}
	var got []string
	r := cpio.NewReader(&out)
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %q", h.Name, h.Mode, data))
	}
	want := []string{
		`proc 40755 ""`, `sys 40755 ""`, `dev 40755 ""`, `tmp 40755 ""`, `run 40755 ""`, `out 40755 ""`, `bin 40755 ""`, `etc 40755 ""`,
		`epvm.json 100644 "{}"`, `init 100755 "ELF"`,
		`lib 40755 ""`, `lib/a 40755 ""`, `lib/a/b 40755 ""`, `lib/a/b/empty 100644 ""`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestInitramfsRefusesWhatIsNoFile(t *testing.T) {
	for name, c := range map[string]content{
		"relative": {},
		"/":        {},
		"/folder":  {path: t.TempDir()},
		"/missing": {path: filepath.Join(t.TempDir(), "missing")},
	} {
		if err := writeInitramfs(io.Discard, map[string]content{name: c}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
