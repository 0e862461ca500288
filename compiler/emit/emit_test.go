package emit_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

const text = "event sched.switch from sched.sched_switch { prev = prev_pid }\ntrace sched.switch\n"

func example(t *testing.T) *plan.Plan {
	t.Helper()
	src, err := source.New("switch.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Plan{
		Script: src, Target: "6.17-x86_64", Instance: "mine",
		Writes: []plan.Write{
			{
				File: "dynamic_events", Data: "e:sched/switch sched.sched_switch prev=$prev_pid:u32",
				Undo:   &plan.Write{File: "dynamic_events", Data: "-:sched/switch"},
				Needs:  []target.Feature{"eprobes"},
				Origin: []plan.Origin{{Lo: 2, Hi: 14, Span: source.Span{Start: 6, End: 18}}},
			},
			{File: "events/sched/switch/filter", Instanced: true, Data: "prev > 1 && comm ~ \"it's\"", Mode: plan.Truncate},
			{
				File: "events/sched/switch/enable", Instanced: true, Data: "1", Mode: plan.Truncate,
				Undo: &plan.Write{File: "events/sched/switch/enable", Instanced: true, Data: "0", Mode: plan.Truncate},
			},
		},
		Streams: []plan.Stream{{
			Name: "sched.switch", Group: "sched", Event: "switch", Span: source.Span{Start: 63, End: 81},
			Fields: []plan.Field{
				{Name: "prev", Type: types.Int{Size: 4}, Kernel: "u32"},
				{Name: "state", Type: types.Int{Size: 8, Signed: true, Names: &types.Names{Flags: true, List: []types.Name{{Name: "S", Value: 1}}}}},
			},
		}},
	}
}

func TestEchoWritesOneLineAWrite(t *testing.T) {
	const want = `mkdir instances/mine
echo 'e:sched/switch sched.sched_switch prev=$prev_pid:u32' >> dynamic_events
echo 'prev > 1 && comm ~ "it'\''s"' > instances/mine/events/sched/switch/filter
echo 1 > instances/mine/events/sched/switch/enable
`
	var b strings.Builder
	if err := emit.Echo(&b, example(t)); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestUndoGoesBackwards(t *testing.T) {
	const want = `echo 0 > instances/mine/events/sched/switch/enable
echo -:sched/switch >> dynamic_events
rmdir instances/mine
`
	var b strings.Builder
	if err := emit.Undo(&b, example(t)); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestNoInstanceIsTheTopLevel(t *testing.T) {
	p := example(t)
	p.Instance = ""
	var b strings.Builder
	if err := emit.Echo(&b, p); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "instances") {
		t.Errorf("got:\n%s\nwant no instance", b.String())
	}
}

// TestShellsReadBackWhatWasWritten runs the lines by each POSIX shell there is
// and compares the files.
func TestShellsReadBackWhatWasWritten(t *testing.T) {
	data := []string{
		"1", "", " ", "-n", "-e", "-nE", "-", "-:a/b", "a'b", "''", `\n`, `a\\b\c`, `\"x"`, `x=\1:u64`,
		"$HOME `id` $(id)", "!hist:keys=a", "a*b?[c]", "#x", "~root", "a;b&c|d<e>f", "%s%d", "日本", "\ttab  two ",
	}
	ran := false
	for _, shell := range []string{"sh", "dash", "bash", "ksh", "mksh", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		ran = true
		t.Run(shell, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "it's $a file"), 0o755); err != nil {
				t.Fatal(err)
			}
			p := &plan.Plan{}
			for i, d := range data {
				w := plan.Write{File: "it's $a file/f" + string(rune('a'+i)), Data: d, Mode: plan.Truncate}
				p.Writes = append(p.Writes, w)
				w.Mode = plan.Append
				p.Writes = append(p.Writes, w)
			}
			var script strings.Builder
			if err := emit.Echo(&script, p); err != nil {
				t.Fatal(err)
			}
			args := []string{"-e", "-c", script.String()}
			if shell == "busybox" {
				args = append([]string{"sh"}, args...)
			}
			cmd := exec.Command(path, args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for i, d := range data {
				got, err := os.ReadFile(filepath.Join(dir, p.Writes[2*i].File))
				if err != nil {
					t.Fatal(err)
				}
				if want := d + "\n" + d + "\n"; string(got) != want {
					t.Errorf("data %q: got %q, want %q", d, got, want)
				}
			}
		})
	}
	if !ran {
		t.Skip("no POSIX shell here")
	}
}

func TestJSONOfAPlan(t *testing.T) {
	const want = `{
  "version": 1,
  "script": "switch.ep",
  "target": "6.17-x86_64",
  "instance": "mine",
  "writes": [
    {
      "file": "dynamic_events",
      "data": "e:sched/switch sched.sched_switch prev=$prev_pid:u32",
      "mode": "append",
      "needs": [
        "eprobes"
      ],
      "origins": [
        {
          "lo": 2,
          "hi": 14,
          "line": 1,
          "col": 7,
          "endLine": 1,
          "endCol": 19,
          "start": 6,
          "end": 18
        }
      ],
      "undo": {
        "file": "dynamic_events",
        "data": "-:sched/switch",
        "mode": "append"
      }
    },
    {
      "file": "instances/mine/events/sched/switch/filter",
      "data": "prev > 1 && comm ~ \"it's\"",
      "mode": "truncate"
    },
    {
      "file": "instances/mine/events/sched/switch/enable",
      "data": "1",
      "mode": "truncate",
      "undo": {
        "file": "instances/mine/events/sched/switch/enable",
        "data": "0",
        "mode": "truncate"
      }
    }
  ],
  "streams": [
    {
      "name": "sched.switch",
      "group": "sched",
      "event": "switch",
      "fields": [
        {
          "name": "prev",
          "type": "u32",
          "kernel": "u32",
          "size": 4
        },
        {
          "name": "state",
          "type": "s64",
          "size": 8,
          "signed": true,
          "flags": true,
          "values": [
            {
              "name": "S",
              "value": 1
            }
          ]
        }
      ],
      "line": 2,
      "col": 1,
      "endLine": 2,
      "endCol": 19,
      "start": 63,
      "end": 81
    }
  ],
  "tables": []
}
`
	var b strings.Builder
	if err := emit.JSON(&b, example(t)); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
	if !json.Valid([]byte(b.String())) {
		t.Error("not JSON")
	}
}
