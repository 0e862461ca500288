package main

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

func TestNewSourceShowsTheFirstBadByte(t *testing.T) {
	for _, c := range []struct {
		text, message, shown string
		at                   source.Pos
	}{
		{"a\x00b", "script holds a NUL byte", "a?b", 1},
		{"日\xff\x00", "script is not valid UTF-8: byte 0xff", "日??", 3},
		{"\n\xe9t\xe9", "script is not valid UTF-8: byte 0xe9", "\n?t?", 1},
		{"ends in \xe6\x97", "script is not valid UTF-8: byte 0xe6", "ends in ??", 8},
	} {
		src, list := newSource("x.ep", c.text)
		if len(list) != 1 || list[0].Message != c.message || list[0].Code != diag.BadEncoding ||
			list[0].Span != (source.Span{Start: c.at, End: c.at + 1}) {
			t.Errorf("newSource(%q): got %+v, want %q at byte %d", c.text, list, c.message, c.at)
		}
		if src.Text() != c.shown {
			t.Errorf("newSource(%q) shows %q, want %q", c.text, src.Text(), c.shown)
		}
	}
	if src, list := newSource("x.ep", "\ufffd is a character"); list != nil || src.Text() != "\ufffd is a character" {
		t.Errorf("U+FFFD itself is refused: %v", list)
	}
}

func TestVersionLineNamesTheRevision(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.modified", Value: "true"},
	}}
	info.Main.Version = "(devel)"
	if got := versionLine(info); !strings.HasPrefix(got, "ep devel (revision 0123456789ab, changed, go") {
		t.Errorf("got %q", got)
	}
	info.Main.Version, info.Settings = "v1.2.3", nil
	if got := versionLine(info); !strings.HasPrefix(got, "ep v1.2.3 (revision unknown, go") {
		t.Errorf("got %q", got)
	}
	if got := versionLine(nil); !strings.HasPrefix(got, "ep devel (revision unknown, go") {
		t.Errorf("got %q", got)
	}
}
