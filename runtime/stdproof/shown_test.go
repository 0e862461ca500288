package stdproof

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/vm"
)

// connections has values in network order in each place where one can be shown:
// a tracepoint's, and those behind a pointer. No kernel that tells fewer types is
// left out: the probe's arguments are the script's.
const connections = `
event asked from kprobe tcp_v4_connect(sk, uaddr: *be16) { port = uaddr[1], to = (uaddr as *ip)[1], both = *(uaddr as *[4]be16) }
event known from kprobe tcp_v4_connect(sk, uaddr: *be16) where uaddr[1] == %[1]d && (uaddr as *ip)[1] == "127.0.0.1" { port = uaddr[1], none = 80 as be16 }
trace sock.inet_sock_set_state where newstate == TCP_ESTABLISHED && daddr == "127.0.0.1" && dport == %[1]d { saddr, daddr, sport, dport }
trace asked print "asked {to}:{port} {to:ip}:{port:be16}"
trace known
hist peers from sock.inet_sock_set_state where newstate == TCP_ESTABLISHED by daddr, dport
hist ports from asked by port, to
on known do snapshot`

// showAddresses: a connection to an address and a port that this program chose is
// shown by them everywhere.
func showAddresses(g *vm.G) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	connect := func(args ...string) (text string, local int) {
		r := start(g, append(args, "-e", fmt.Sprintf(connections, port))...)
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			g.Fatalf("%v", err)
		}
		local = c.LocalAddr().(*net.TCPAddr).Port
		_ = c.Close()
		time.Sleep(300 * time.Millisecond)
		return r.end(g), local
	}
	text, local := connect()
	for _, want := range []string{
		fmt.Sprintf(" saddr=127.0.0.1 daddr=127.0.0.1 sport=%d dport=%d\n", local, port),
		fmt.Sprintf("asked 127.0.0.1:%[1]d 127.0.0.1:%[1]d\n", port),
		fmt.Sprintf(" known port=%d none=80\n", port),
	} {
		if !strings.Contains(text, want) {
			g.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, row := range []string{fmt.Sprintf(`\n127\.0\.0\.1 +%d +\d`, port), fmt.Sprintf(`\n *%d +127\.0\.0\.1 +1\b`, port)} {
		if !regexp.MustCompile(row).MatchString(text) {
			g.Errorf("no row %s in\n%s", row, text)
		}
	}
	lines, local := connect("--format", "json")
	for _, want := range []string{
		fmt.Sprintf(`"fields":{"saddr":"127.0.0.1","daddr":"127.0.0.1","sport":%d,"dport":%d}`, local, port),
		fmt.Sprintf(`"fields":{"port":%d,"to":"127.0.0.1","both":[`, port),
		fmt.Sprintf(`,%d,32512,1]}`, port), // 127.0 and 0.1, behind the family
		fmt.Sprintf(`"snapshot":true,"fields":{"port":%d,"none":80}`, port),
		fmt.Sprintf(`"keys":{"daddr":"127.0.0.1","dport":%d}`, port),
		fmt.Sprintf(`"keys":{"port":%d,"to":"127.0.0.1"}`, port),
	} {
		if !strings.Contains(lines, want) {
			g.Errorf("no %s in\n%s", want, lines)
		}
	}
	nothingLeft(g)
}

// seeks is what snapshots are taken of: system calls that fail, by their offset.
const seeks = `
event seen from syscall lseek.enter where fd == 4242 { offset }
trace seen
`

var (
	seekLine  = regexp.MustCompile(` seen offset=(\d+)\n`)
	endLine   = regexp.MustCompile(`-- end of the snapshot: (\d+) records?(, the last of (\d+))? --`)
	stateLine = regexp.MustCompile(`\{"snapshot":\{"taken":(\d+),"records":(\d+)\}\}`)
)

// showSnapshots: each record is shown once, from the buffer or from the snapshot,
// and that which is the cause of a snapshot is in it.
func showSnapshots(g *vm.G) {
	run := func(action string, first, last int, args ...string) (text, said string) {
		r := start(g, append(args, "-e", seeks+action)...)
		for i := first; i <= last; i++ {
			_, _ = unix.Seek(4242, int64(i), unix.SEEK_SET) // there is no such file
		}
		text = r.end(g)
		return text, r.stderr.text.String()
	}
	whole := func(what, text string) {
		seen := map[string]int{}
		for _, m := range seekLine.FindAllStringSubmatch(text, -1) {
			seen[m[1]]++
		}
		for i := range 10 {
			if seen[fmt.Sprint(i)] != 1 {
				g.Errorf("%s: offset %d is shown %d times:\n%s", what, i, seen[fmt.Sprint(i)], text)
			}
		}
	}

	text, said := run("on seen where offset == 5 do snapshot", 0, 9)
	whole("one", text)
	_, inside, _ := strings.Cut(text, "-- snapshot --\n")
	inside, _, _ = strings.Cut(inside, "-- end")
	records := seekLine.FindAllStringSubmatch(inside, -1)
	if end := endLine.FindStringSubmatch(text); end == nil || end[1] != fmt.Sprint(len(records)) || len(records) == 0 || records[len(records)-1][1] != "5" {
		g.Errorf("one: the snapshot ends with offset 5, which is its cause; got\n%s", text)
	}
	if want := fmt.Sprintf("ep: 10 records (%d of a snapshot) in ", len(records)); !strings.Contains(said, want) {
		g.Errorf("one: no %q in\n%s", want, said)
	}

	text, _ = run("on seen do snapshot", 0, 9)
	whole("each", text)
	if end := endLine.FindStringSubmatch(text); end == nil || end[3] != "10" {
		g.Errorf("each: it is not the last of 10:\n%s", text)
	}

	text, _ = run("on seen where offset == 77 do snapshot", 0, 9)
	whole("none", text)
	if !strings.HasSuffix(text, "-- no snapshot was taken --\n") || strings.Contains(text, "-- snapshot --") {
		g.Errorf("none: got\n%s", text)
	}

	text, _ = run("on syscall lseek.enter where fd == 4242 do snapshot\non seen where offset == 77 do stop", 0, -1)
	if text != "-- no snapshot was taken --\n" {
		g.Errorf("nothing: got\n%s", text)
	}
	r := start(g, "-e", seeks+"on syscall lseek.enter where fd == 4243 do snapshot")
	_, _ = unix.Seek(4243, 1, unix.SEEK_SET)
	if text := r.end(g); text != "-- snapshot: taken, but without records --\n" {
		g.Errorf("empty: got\n%s", text)
	}

	lines, _ := run("on seen where offset == 5 times 1 do snapshot", 0, 9, "--format", "json")
	state := stateLine.FindStringSubmatch(lines)
	if state == nil || state[1] != "1" || state[2] != fmt.Sprint(strings.Count(lines, `"snapshot":true`)) ||
		!strings.Contains(lines, `"snapshot":true,"fields":{"offset":5}`) || strings.Contains(lines, `"snapshot":true,"fields":{"offset":6}`) ||
		strings.Count(lines, `"fields":{"offset"`) != 10 {
		g.Errorf("json: got\n%s", lines)
	}
	nothingLeft(g)
}
