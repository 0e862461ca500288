package syntax

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexops/autogold/v2"
)

// One example, at least, for each production of the grammar.
func TestParseBuildsTree(t *testing.T) {
	tests := []struct {
		name, text string
		want       autogold.Value
	}{
		{"event", "event e from a.b", autogold.Expect("(event (qname e) (stage (source (alt (one event (qname a b))))))")},
		{"event in a group", "event g.e from a.b", autogold.Expect("(event (qname g e) (stage (source (alt (one event (qname a b))))))")},
		{"event with all clauses", "event e from a as x where x.f > 1 let n = x.p then b as y where q let m = 1, k = 2 by x.f == y.f, $tid size 4096 having n > 2 emit on max(n) per m, k { n, m }", autogold.Expect("(event (qname e) (stage (source (alt (one event (qname a)))) x (binary > (selector x f) 1) (let n (selector x p))) (then (stage (source (alt (one event (qname b)))) y q (let m 1) (let k 2)) (key (binary == (selector x f) (selector y f))) (key (context $tid))) 4096 (binary > n 2) (emit max n m k) (fields (field n) (field m)))")},
		{"event with several then", "event e from a then b by f then c by f", autogold.Expect("(event (qname e) (stage (source (alt (one event (qname a))))) (then (stage (source (alt (one event (qname b))))) (key f)) (then (stage (source (alt (one event (qname c))))) (key f)))")},
		{"event in the words' clothes", "event size from sort as max where paused == 1 let per = change", autogold.Expect("(event (qname size) (stage (source (alt (one event (qname sort)))) max (binary == paused 1) (let per change)))")},
		{"emit on change", "event e from a emit on change(x / 2)", autogold.Expect("(event (qname e) (stage (source (alt (one event (qname a))))) (emit change (binary / x 2)))")},
		{"stage of several sources", "trace a, b.c, syscall openat as x where y let z = 1", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (source (alt (one event (qname b c)))) (source (alt (one syscall (func openat)))) x y (let z 1)))")},
		{"source with alternatives", "trace a? else b.c else func f?", autogold.Expect("(trace (stage (source (alt ? (one event (qname a))) (alt (one event (qname b c))) (alt ? (one func (func f))))))")},
		{"glob", "trace sched.`*`", autogold.Expect("(trace (stage (source (alt (one event (qname sched `*`))))))")},
		{"reserved word after a dot", "trace kmem.event", autogold.Expect("(trace (stage (source (alt (one event (qname kmem event))))))")},
		{"syscall", "trace syscall openat", autogold.Expect("(trace (stage (source (alt (one syscall (func openat))))))")},
		{"syscall end", "trace syscall openat.enter", autogold.Expect("(trace (stage (source (alt (one syscall (func openat) enter)))))")},
		{"syscall by param", "trace syscall (name)", autogold.Expect("(trace (stage (source (alt (one syscall (func param name))))))")},
		{"func", "trace func vfs_read", autogold.Expect("(trace (stage (source (alt (one func (func vfs_read))))))")},
		{"func in a module", "trace func xhci_hcd:xhci_irq.exit", autogold.Expect("(trace (stage (source (alt (one func (func xhci_hcd xhci_irq) exit)))))")},
		{"func with a signature", "trace func f(a, _, in: u32, p: *file): s64", autogold.Expect("(trace (stage (source (alt (one func (func f) (sig (par a) (par _) (par in :u32) (par p (pointertype :file)) :s64))))))")},
		{"func with no arguments", "trace func f()", autogold.Expect("(trace (stage (source (alt (one func (func f) (sig))))))")},
		{"func in backticks", "trace func `foo.isra.0`", autogold.Expect("(trace (stage (source (alt (one func (func `foo.isra.0`))))))")},
		{"kprobe with offset", "trace kprobe do_sys_open+0x10(a, b)", autogold.Expect("(trace (stage (source (alt (one kprobe (func do_sys_open) 0x10 (sig (par a) (par b)))))))")},
		{"kprobe at an address", "trace kprobe 0xffffffff81000000", autogold.Expect("(trace (stage (source (alt (one kprobe (func 0xffffffff81000000))))))")},
		{"tracepoint", "trace tracepoint sched_switch", autogold.Expect("(trace (stage (source (alt (one tracepoint (func sched_switch))))))")},
		{"ufunc", "trace ufunc \"/bin/bash\":readline.exit", autogold.Expect(`(trace (stage (source (alt (one ufunc (path "/bin/bash") (func readline) exit)))))`)},
		{"uprobe at an address", "trace uprobe \"/bin/bash\":0x4245c0", autogold.Expect(`(trace (stage (source (alt (one uprobe (path "/bin/bash") (func 0x4245c0))))))`)},
		{"uprobe with offset", "trace uprobe \"/bin/bash\":main+4", autogold.Expect(`(trace (stage (source (alt (one uprobe (path "/bin/bash") (func main) 4)))))`)},
		{"usdt", "trace usdt \"/usr/lib/libc.so.6\":libc:memory_sbrk_more", autogold.Expect(`(trace (stage (source (alt (one usdt (path "/usr/lib/libc.so.6") (func libc memory_sbrk_more))))))`)},
		{"path by param", "trace ufunc (bin):main", autogold.Expect("(trace (stage (source (alt (one ufunc (path bin) (func main))))))")},
		{"hist", "hist a.b", autogold.Expect("(hist (stage (source (alt (one event (qname a b))))))")},
		{"hist with a name", "hist h from a by f", autogold.Expect("(hist (qname h) (stage (source (alt (one event (qname a))))) (key f))")},
		{"hist with a group and paused", "hist g.h paused from a", autogold.Expect("(hist paused (qname g h) (stage (source (alt (one event (qname a))))))")},
		{"hist with all clauses", "hist h from a, b where x by k, n = log2(y) { s = sum(z), t = avg(z) } sort by s desc, t size 512", autogold.Expect("(hist (qname h) (stage (source (alt (one event (qname a)))) (source (alt (one event (qname b)))) x) (key k) (key n (call log2 y)) (fields (field s (call sum z)) (field t (call avg z))) (sortkey desc s) (sortkey t) 512)")},
		{"hist named paused", "hist paused from a", autogold.Expect("(hist (qname paused) (stage (source (alt (one event (qname a))))))")},
		{"on", "on a do stop", autogold.Expect("(on (stage (source (alt (one event (qname a))))) (action stop))")},
		{"on with all clauses", "on a as x where x.y > 1 times 3 do start, snapshot, stop h.x, stack, start e", autogold.Expect("(on (stage (source (alt (one event (qname a)))) x (binary > (selector x y) 1)) 3 (action start) (action snapshot) (action stop (qname h x)) (action stack) (action start (qname e)))")},
		{"trace", "trace a", autogold.Expect("(trace (stage (source (alt (one event (qname a))))))")},
		{"trace with all clauses", "trace a where x { b, c } paused print \"{b}\"", autogold.Expect(`(trace paused (stage (source (alt (one event (qname a)))) x) (fields (field b) (field c)) "{b}")`)},
		{"param", "param p", autogold.Expect("(param p)")},
		{"param with type and value", "param min: us = 100us", autogold.Expect("(param min :us 100us)")},
		{"const", "const K = A | B", autogold.Expect("(const K (binary | A B))")},
		{"const with type", "const K: u8 = 1", autogold.Expect("(const K :u8 1)")},
		{"import", "import \"std/opens\"", autogold.Expect(`(import "std/opens")`)},
		{"import as", "import \"std/opens\" as o", autogold.Expect(`(import "std/opens" o)`)},
		{"option", "option paused", autogold.Expect("(option paused)")},
		{"option with a value", "option buffer 4MiB", autogold.Expect("(option buffer 4MiB)")},
		{"option with a word", "option functions kprobe", autogold.Expect("(option functions kprobe)")},
		{"two statements on a line", "trace a trace b", autogold.Expect("(trace (stage (source (alt (one event (qname a)))))) (trace (stage (source (alt (one event (qname b))))))")},
		{"field forms", "trace a { n, n: u32, n = 1, n: u8 = 1, a.f, a.$f, $f, $f: s32, $reg(ax), a.event }", autogold.Expect("(trace (stage (source (alt (one event (qname a))))) (fields (field n) (field n :u32) (field n 1) (field n :u8 1) (field (selector a f)) (field (selector a (context $f))) (field (context $f)) (field (context $f) :s32) (field (context $reg () ax)) (field (selector a event))))")},
		{"fields by lines", "trace a {\n  n\n  m = x +\n    y\n  k: [4]*u8 = f(\n    1,\n    2\n  )\n}", autogold.Expect("(trace (stage (source (alt (one event (qname a))))) (fields (field n) (field m (binary + x y)) (field k (arraytype 4 (pointertype :u8)) (call f 1 2))))")},
		{"fields with both", "trace a { n,\n m,\n k\n}", autogold.Expect("(trace (stage (source (alt (one event (qname a))))) (fields (field n) (field m) (field k)))")},
		{"fields in reserved words", "trace a {\n from\n on = 1, in: u32\n event, as = 2\n}", autogold.Expect("(trace (stage (source (alt (one event (qname a))))) (fields (field from) (field on 1) (field in :u32) (field event) (field as 2)))")},
		{"no fields", "trace a { }", autogold.Expect("(trace (stage (source (alt (one event (qname a))))) (fields))")},
		{"types", "trace a { f: u64, f: *T, f: user *char, f: [16]u8, f: **T, f: [2]user *T, f: user }", autogold.Expect("(trace (stage (source (alt (one event (qname a))))) (fields (field f :u64) (field f (pointertype :T)) (field f (pointertype user :char)) (field f (arraytype 16 :u8)) (field f (pointertype (pointertype :T))) (field f (arraytype 2 (pointertype user :T))) (field f :user)))")},
		{"or and and", "trace a where a || b && c || d", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary || (binary || a (binary && b c)) d)))")},
		{"comparison", "trace a where a == b && c != d || e ~ \"x*\"", autogold.Expect(`(trace (stage (source (alt (one event (qname a)))) (binary || (binary && (binary == a b) (binary != c d)) (binary ~ e "x*"))))`)},
		{"mask compares before equality", "trace a where f & M == M", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary == (binary & f M) M)))")},
		{"sums", "trace a where a + b - c | d", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary | (binary - (binary + a b) c) d)))")},
		{"products", "trace a where a * b / c & d + e", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary + (binary & (binary / (binary * a b) c) d) e)))")},
		{"unary", "trace a where !a && -b < *c && !!d", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary && (binary && (unary ! a) (binary < (unary - b) (unary * c))) (unary ! (unary ! d)))))")},
		{"cast binds tighter than unary and product", "trace a where -a as u8 * b as u16", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary * (unary - (cast a :u8)) (cast b :u16))))")},
		{"casts in a row", "trace a where a as u8 as u16", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (cast (cast a :u8) :u16)))")},
		{"members", "trace a where a.b->c[1].d->`e f`", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (selector -> (selector (index (selector -> (selector a b) c) 1) d) `e f`)))")},
		{"calls", "trace a where f() && str(p, 3) && g(h(a), b == c)", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary && (binary && (call f) (call str p 3)) (call g (call h a) (binary == b c)))))")},
		{"context", "trace a where $tid == 1 && $stack(2) > a.$kstack && $arg(1)->x", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary && (binary && (binary == (context $tid) 1) (binary > (context $stack () 2) (selector a (context $kstack)))) (selector -> (context $arg () 1) x))))")},
		{"parentheses", "trace a where (a | b) * (c)", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (binary * (paren (binary | a b)) (paren c))))")},
		{"set", "trace a where x in { 1, 5..9, \"x\", 'c', -ENOENT, A | B, }", autogold.Expect(`(trace (stage (source (alt (one event (qname a)))) (in x (range 1) (range 5 9) (range "x") (range 'c') (range (unary - ENOENT)) (range (binary | A B)))))`)},
		{"set over lines", "trace a { x = y in {\n 1,\n 2\n }\n z\n}", autogold.Expect("(trace (stage (source (alt (one event (qname a))))) (fields (field x (in y (range 1) (range 2))) (field z)))")},
		{"literals", "trace a where 10 == 0x1f || 500us > 1_000 || \"a\\\"b\" == '\\''", autogold.Expect(`(trace (stage (source (alt (one event (qname a)))) (binary || (binary || (binary == 10 0x1f) (binary > 500us 1_000)) (binary == "a\"b" '\''))))`)},
		{"reserved word as an argument", "trace a where f(from, in)", autogold.Expect("(trace (stage (source (alt (one event (qname a)))) (call f from in)))")},
		{"lines mean nothing outside braces", "event\ne\nfrom\na\nwhere\nx\n>\n1", autogold.Expect("(event (qname e) (stage (source (alt (one event (qname a)))) (binary > x 1)))")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := parseRight(t, test.text)
			checkSpans(t, s)
			got := ""
			for i, item := range s.Items {
				if i > 0 {
					got += " "
				}
				got += dump(item)
			}
			test.want.Equal(t, got)
		})
	}
}

func TestScriptsParse(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.ep")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkSpans(t, parseRight(t, string(text)))
	}
}
