package stdproof

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

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
hist ports from asked by port, to`

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
		fmt.Sprintf(`"fields":{"port":%d,"none":80}`, port),
		fmt.Sprintf(`"keys":{"daddr":"127.0.0.1","dport":%d}`, port),
		fmt.Sprintf(`"keys":{"port":%d,"to":"127.0.0.1"}`, port),
	} {
		if !strings.Contains(lines, want) {
			g.Errorf("no %s in\n%s", want, lines)
		}
	}
	nothingLeft(g)
}
