package diag_test

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// at returns the Span of the n-th (from 0) place of sub in src.
func at(t *testing.T, src *source.Source, sub string, n int) source.Span {
	t.Helper()
	from := 0
	for range n + 1 {
		i := strings.Index(src.Text()[from:], sub)
		if i < 0 {
			t.Fatalf("text has no %q", sub)
		}
		from += i + 1
	}
	return source.Span{Start: source.Pos(from - 1), End: source.Pos(from - 1 + len(sub))}
}

func script(t *testing.T, text string) *source.Source {
	t.Helper()
	src, err := source.New("sched.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		claim string
		text  string
		sub   string // marked; "" is nowhere
		more  func(*diag.Diagnostic)
		opts  diag.TextOptions
		want  string
	}{
		{"the usual", "a\n     pid = prev_pit\n", "prev_pit", func(d *diag.Diagnostic) {
			d.Notes = []diag.Note{{Span: source.NoSpan, Message: "did you mean 'prev_pid'?"}}
		}, diag.TextOptions{}, `
sched.ep:2:12: error: wrong [code]
	pid = prev_pit
	      ^^^^^^^^
note: did you mean 'prev_pid'?
`},
		{"a note with another place", "pid: s32\nx", "x", func(d *diag.Diagnostic) {
			d.Notes = []diag.Note{{Span: source.Span{Start: 0, End: 3}, Message: "declared here"}}
		}, diag.TextOptions{}, `
sched.ep:2:1: error: wrong [code]
	x
	^
note: sched.ep:1:1: declared here
`},
		{"nowhere", "", "", func(d *diag.Diagnostic) { d.Severity = diag.Warning }, diag.TextOptions{},
			"\nsched.ep: warning: wrong [code]\n"},
		{"no source", "", "", func(d *diag.Diagnostic) { d.Source = nil }, diag.TextOptions{},
			"\nerror: wrong [code]\n"},
		{"tabs before the caret are kept", "\t\tpid\t=\tx", "x", nil, diag.TextOptions{},
			"\nsched.ep:1:9: error: wrong [code]\n\tpid\t=\tx\n\t   \t \t^\n"},
		{"wide letters take two columns, marks none", "\"日本e\u0301é\" x日", "x日", nil, diag.TextOptions{},
			"\nsched.ep:1:15: error: wrong [code]\n\t\"日本e\u0301é\" x日\n\t         ^^^\n"},
		{"several lines are marked to the first one's end", "a = {  \n b }", "{  \n b }", nil, diag.TextOptions{},
			"\nsched.ep:1:5: error: wrong [code]\n\ta = {  \n\t    ^\n"},
		{"an empty span has one caret", "ab", "", func(d *diag.Diagnostic) {
			d.Span = source.Span{Start: 2, End: 2}
		}, diag.TextOptions{}, "\nsched.ep:1:3: error: wrong [code]\n\tab\n\t  ^\n"},
		{"a span of blanks at the start keeps them", "  ab", "  ", nil, diag.TextOptions{},
			"\nsched.ep:1:1: error: wrong [code]\n\t  ab\n\t^^\n"},
		{"carriage returns are not shown", "ab\r\ncd", "b", nil, diag.TextOptions{},
			"\nsched.ep:1:2: error: wrong [code]\n\tab\n\t ^\n"},
		{"control characters do not reach the terminal", "\x1b[2J\u202e x", "x", nil, diag.TextOptions{},
			"\nsched.ep:1:9: error: wrong [code]\n\t\ufffd[2J\ufffd x\n\t      ^\n"},
		{"a long line is cut around the mistake", strings.Repeat("a", 50) + " x " + strings.Repeat("b", 50), "x", nil,
			diag.TextOptions{Width: 39},
			"\nsched.ep:1:52: error: wrong [code]\n\t…aaaaaaaaaaaaaaaaa x bbbbbbbb…\n\t                   ^\n"},
		{"a line that fits is not cut", "  aaaaaaaaaaaaaaaaaa x ", "x", nil, diag.TextOptions{Width: 39},
			"\nsched.ep:1:22: error: wrong [code]\n\taaaaaaaaaaaaaaaaaa x \n\t                   ^\n"},
		{"a long mistake is cut too", "a " + strings.Repeat("x", 90), strings.Repeat("x", 90), nil,
			diag.TextOptions{Width: 39},
			"\nsched.ep:1:3: error: wrong [code]\n\t…" + strings.Repeat("x", 28) + "…\n\t " + strings.Repeat("^", 28) + "\n"},
		{"colours", "x", "x", func(d *diag.Diagnostic) {
			d.Notes = []diag.Note{{Span: source.NoSpan, Message: "so"}}
		}, diag.TextOptions{Color: true},
			"\n\x1b[1msched.ep:1:1:\x1b[0m \x1b[1;31merror:\x1b[0m wrong [code]\n\tx\n\t\x1b[1;31m^\x1b[0m\n\x1b[1;36mnote:\x1b[0m so\n"},
	} {
		t.Run(c.claim, func(t *testing.T) {
			src := script(t, c.text)
			d := diag.Diagnostic{Severity: diag.Error, Code: "code", Source: src, Span: source.NoSpan, Message: "wrong"}
			if c.sub != "" {
				d.Span = at(t, src, c.sub, 0)
			}
			if c.more != nil {
				c.more(&d)
			}
			var b strings.Builder
			if err := diag.Text(&b, diag.List{d}, c.opts); err != nil {
				t.Fatal(err)
			}
			if got := "\n" + b.String(); got != c.want {
				t.Errorf("text %q\n got: %q\nwant: %q", c.text, got, c.want)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	src := script(t, "a\npid = prev_pit < 1\n")
	l := diag.List{
		{
			Severity: diag.Error, Code: "unknown-field", Source: src, Span: at(t, src, "prev_pit", 0),
			Message: "no field 'prev_pit' <here>",
			Notes: []diag.Note{
				{Span: source.NoSpan, Message: "did you mean 'prev_pid'?"},
				{Span: at(t, src, "a", 0), Message: "here"},
			},
			Fixes: []diag.Fix{{Span: at(t, src, "prev_pit", 0), Text: "prev_pid"}},
		},
		{Severity: diag.Warning, Code: "other", Source: src, Span: source.NoSpan, Message: "nowhere"},
	}
	const want = `{
  "version": 1,
  "diagnostics": [
    {
      "severity": "error",
      "code": "unknown-field",
      "file": "sched.ep",
      "line": 2,
      "col": 7,
      "endLine": 2,
      "endCol": 15,
      "start": 8,
      "end": 16,
      "message": "no field 'prev_pit' <here>",
      "notes": [
        {
          "message": "did you mean 'prev_pid'?"
        },
        {
          "message": "here",
          "file": "sched.ep",
          "line": 1,
          "col": 1,
          "endLine": 1,
          "endCol": 2,
          "start": 0,
          "end": 1
        }
      ],
      "fixes": [
        {
          "line": 2,
          "col": 7,
          "endLine": 2,
          "endCol": 15,
          "start": 8,
          "end": 16,
          "text": "prev_pid"
        }
      ]
    },
    {
      "severity": "warning",
      "code": "other",
      "file": "sched.ep",
      "message": "nowhere"
    }
  ]
}
`
	var b strings.Builder
	if err := diag.JSON(&b, l); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestJSONOfNothingIsAnEmptyList(t *testing.T) {
	var b strings.Builder
	if err := diag.JSON(&b, nil); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"version\": 1,\n  \"diagnostics\": []\n}\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
