package format

import (
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"
)

// All texts and what becomes of them are one golden file.
func TestFormat(t *testing.T) {
	var b strings.Builder
	for _, test := range formatTests {
		b.WriteString("=== " + test.name + "\n" + strings.TrimRight(test.text, "\n") + "\n---\n" + formatted(t, test.text))
	}
	autogold.ExpectFile(t, autogold.Raw(b.String()))
}

const long = "a_long_name_that_fills_the_line_quickly"

var formatTests = []struct{ name, text string }{
	{"empty", ""},
	{"blank", "\n\n  \n"},
	{"only a comment", "\n\n# c  \n\n\n\n# d"},
	{"blanks", "trace   a  .  b   where x+1==2&&!( y )||-z<* p  {a,b ,c}"},
	{"tight", "trace a where f(x,y)[1]->z.w in{1,2..3}&&$reg( ax )==$stack( 2 )"},
	{"unary", "trace a where - x == ! y && * * p & - - z"},
	{"casts and types", "trace a { x:[ 16 ] u8=y as user * char , z : * T = w as   [2]*u8 }"},
	{"sources", "trace func m : f . exit ( a ,_, c :u32 ) : s64 , kprobe f + 0x10 (a) ? else b?"},
	{"user space", "trace ufunc \"/bin/x\" : main , uprobe ( p ) : f + 4, usdt \"y\" : a : b, func( p )"},
	{"param and const", "param x:us=100us\nconst A:u8=1|2\nimport \"x\" as y\noption buffer 4MiB"},
	{"statements on a line", "param x = 1 param y = 2 trace a trace b"},
	{"blank lines", "trace a\n\n\n\ntrace b\ntrace c\n\n"},
	{"crlf", "trace a # c\r\n\r\ntrace b\r\n"},
	{"clauses kept on one line", "event e from a as x where x.f > 1 size 512 having y emit on max(z) per w { y, z, w }"},
	{"clauses on lines", "event e\nfrom a as x\nwhere x.f\n  then b by c\n     having y { z }"},
	{"some clauses on lines", "event e from a\n having y\n{\nz\n}"},
	{"hist on lines", "hist h from a\nby x,\ny\n{ s = sum(z) }\nsort by s desc\nsize 128"},
	{"on and trace on lines", "on a\nwhere x times 3\ndo stop,\nsnapshot\ntrace a where x\n{ y }\npaused\nprint \"y\""},
	{"long clauses", "event e from " + long + " as a where a.x > 1 then " + long + " as b by a.x == b.y having z > 3 { x, y }"},
	{"long clause", "event e from " + long + " as a where " + long + " > 1 && " + long + " > 2 let k = 3 { x, y }"},
	{"long block", "trace a { " + long + ", " + long + ", " + long + " } print \"x\""},
	{"long block and head", "event e from " + long + ", " + long + ", b where " + long + " { " + long + ", y }"},
	{"cannot be broken", "trace a where " + long + long + long + long + " > 3"},
	{"block with lines", "trace a {x, y\nz = 1, w\n}"},
	{"closing brace alone", "trace a { x, y\n}"},
	{"empty block", "trace a {\n\n}"},
	{"columns", "trace a {\nx = 1\nlonger = 2\nflag\na.b\n$ret\ny: u8\nlong: user *char = p\nq: [16]u8 = r\n}"},
	{"columns end at an empty line", "trace a {\nx = 1\n\nlonger = 2\ny = 3\n}"},
	{"columns end at long values", "trace a {\nx = 1\nlonger = f(\n1,\n2\n)\ny = 3\nyy = 4\n}"},
	{"columns end at shared lines", "trace a {\nx = 1\nlonger = 2, z\ny = 3\nyy = 4\n}"},
	{"columns and commas", "trace a {\nx = 1,\nlonger = 2,\ny: u8,\n}"},
	{"lines in expressions", "trace a where x &&\ny ||\nf(\n1,\ng(2,\n3)\n) &&\nz in {\n1,\n2\n} || (\nw\n)"},
	{"lines before operators", "trace a\n, b where x\n&& y\n|| z"},
	{"lines that are joined", "event\ne\nfrom\na\nas\nx\nwhere\nx\n.\nf\nas\nu8\n==\n(1\n)"},
	{"lines in fields", "trace a {\nx = y +\nz *\nw\nv = f(1,\n2)\nu = str(\np\n)\n}"},
	{"comment after words", "trace a # one\nevent e # two\nfrom # three\nb # four\n{ # five\nx = 1 # six\nyy # seven\n} # eight"},
	{"comments on lines", "# one\n\n# two\ntrace a\n# three\n{\n# four\n\nx\n\n# five\n# six\n\ny\n# seven\n}\n# eight\n\n# nine"},
	{"comments in a head", "event e\n# one\nfrom a\n  # two\n  having x # three\n# four\n{ y }"},
	{"comments in expressions", "trace a where x && # one\n# two\ny || f( # three\n1, # four\n# five\n2 # six\n# seven\n)"},
	{"comments before operators", "trace a where x # one\n&& y\n# two\n|| z"},
	{"comments in sets", "trace a { x = y in { # one\n1, # two\n2 # three\n} # four\nz }"},
	{"comments in one line blocks", "trace a { # one\n}\ntrace b {\n# two\n}\ntrace c { x, # three\ny }"},
	{"comments in a column", "trace a # one\ntrace bcd # two\n\ntrace e # three\ntrace a { # four\nx # five\nlonger # six\n}"},
	{"comments between blank lines", "trace a {\n\n# one\n\n\n# two\n\n}\n\n\n# three\n\n\ntrace b"},
	{"first comment", "#!/usr/bin/env -S ep run\n\n# What.\ntrace a"},
	{"comment at the end", "trace a {\nx\n}   #one"},
	{"byte order mark", "\ufefftrace a"},
	{"backticks", "trace sched . `*`, func `foo.isra.0`"},
	{"reserved words as names", "trace a.event { from, on = 1\nin: u8 }"},
	{"wide letters", "trace a {\nx = \"äöü\" # one\nyy = 2 # two\n}"},
}
