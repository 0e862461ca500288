// Package btfproof holds tests alone: what compiler/target tells of structs
// must be what running kernels read.
package btfproof

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/vm"
)

const tracefs = "/sys/kernel/tracing"

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases)) }

func TestKernels(t *testing.T) { vm.Test(t, cases) }

// cases put a probe on a function, let it be called with something that user
// space knows, and look at what was recorded by our offsets: it must be that,
// and, where the kernel has a spelling for members, what the kernel itself
// reads by it.
var cases = []vm.Case{
	{Name: "inode", Run: func(g *vm.G) {
		p := newProbe(g, "vfs_read")
		p.add("ino", "file->f_inode->i_ino", "file", "f_inode", "inode", "i_ino")
		p.add("size", "file->f_inode->i_size", "file", "f_inode", "inode", "i_size")
		p.add("dev", "file->f_inode->i_sb->s_dev", "file", "f_inode", "inode", "i_sb", "super_block", "s_dev")
		name := filepath.Join(g.TempDir(), "file")
		var st syscall.Stat_t
		records := p.record(func() {
			if err := os.WriteFile(name, make([]byte, 4321), 0o600); err != nil {
				g.Fatalf("write: %v", err)
			}
			if _, err := os.ReadFile(name); err != nil {
				g.Fatalf("read: %v", err)
			}
			if err := syscall.Stat(name, &st); err != nil {
				g.Fatalf("stat: %v", err)
			}
		})
		major, minor := st.Dev>>8&0xfff, st.Dev&0xff|st.Dev>>12&0xfff00
		p.want(records, map[string]uint64{"ino": st.Ino, "size": 4321, "dev": major<<20 | minor})
	}},
	{Name: "port", Run: func(g *vm.G) {
		p := newProbe(g, "tcp_sendmsg")
		p.add("port", "sk->__sk_common.skc_dport", "sock", "__sk_common", "sock_common", "skc_dport")
		p.add("family", "sk->__sk_common.skc_family", "sock", "__sk_common", "sock_common", "skc_family")
		p.add("reuse", "sk->__sk_common.skc_reuse", "sock", "__sk_common", "sock_common", "skc_reuse") // bits
		p.add("protocol", "sk->sk_protocol", "sock", "sk_protocol")
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			g.Fatalf("listen: %v", err)
		}
		g.Cleanup(func() { _ = l.Close() })
		port := uint64(l.Addr().(*net.TCPAddr).Port)
		records := p.record(func() {
			d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
				return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
			}}
			c, err := d.Dial("tcp4", l.Addr().String())
			if err != nil {
				g.Fatalf("dial: %v", err)
			}
			if _, err := c.Write([]byte("hello")); err != nil {
				g.Fatalf("write: %v", err)
			}
			_ = c.Close()
		})
		p.want(records, map[string]uint64{
			"port": port>>8 | port&0xff<<8, "family": syscall.AF_INET, "reuse": 1, "protocol": syscall.IPPROTO_TCP,
		})
	}},
	{Name: "packet", Run: func(g *vm.G) {
		p := newProbe(g, "ip_rcv")
		p.add("len", "skb->len", "sk_buff", "len")
		p.add("type", "skb->pkt_type", "sk_buff", "pkt_type")
		p.add("sum", "skb->ip_summed", "sk_buff", "ip_summed") // set by the loopback device
		p.add("ifindex", "skb->dev->ifindex", "sk_buff", "dev", "net_device", "ifindex")
		lo, err := net.InterfaceByName("lo")
		if err != nil {
			g.Fatalf("find the loopback device: %v", err)
		}
		records := p.record(func() {
			c, err := net.Dial("udp4", "127.0.0.1:9")
			if err != nil {
				g.Fatalf("dial: %v", err)
			}
			if _, err := c.Write(make([]byte, 123)); err != nil {
				g.Fatalf("write: %v", err)
			}
			_ = c.Close()
		})
		p.want(records, map[string]uint64{"len": 20 + 8 + 123, "type": 0, "sum": 3, "ifindex": uint64(lo.Index)})
	}},
	{Name: "task", Run: func(g *vm.G) {
		p := newProbe(g, "wake_up_new_task")
		p.add("policy", "p->policy", "task_struct", "policy")
		p.add("reset", "p->sched_reset_on_fork", "task_struct", "sched_reset_on_fork")
		p.add("exit_signal", "p->exit_signal", "task_struct", "exit_signal")
		p.add("wakeup", "p->sched_remote_wakeup", "task_struct", "sched_remote_wakeup")
		records := p.record(func() {
			child, err := os.StartProcess("/proc/self/exe", []string{"nothing"}, &os.ProcAttr{})
			if err != nil {
				g.Skipf("start a process: %v", err)
			}
			_ = child.Kill()
			_, _ = child.Wait()
		})
		p.want(records, map[string]uint64{"policy": 0, "exit_signal": uint64(syscall.SIGCHLD)})
	}},
}

// probe is a kprobe at the beginning of a function.
type probe struct {
	g        *vm.G
	target   *target.Target
	function string
	args     []string
	names    []string
	byKernel bool
}

func newProbe(g *vm.G, function string) *probe {
	tg, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		g.Fatalf("open the target: %v", err)
	}
	if _, err := tg.FuncProto("", function); err != nil {
		g.Fatalf("%v", err)
	}
	return &probe{g: g, target: tg, function: function, byKernel: tg.Has(target.BTFMembers)}
}

// add adds what the first argument leads to: way names structs and members in
// turns, and each member but the last is a pointer to the next struct, or that
// struct itself. kernel is how the kernel spells the same.
func (p *probe) add(name, kernel string, way ...string) {
	fetch, offset := "$arg1", 0
	var m target.Member
	for i := 0; i < len(way); i++ {
		s, err := p.target.Struct(way[i])
		if err != nil {
			p.g.Fatalf("%v", err)
		}
		if i++; i < len(way) {
			if m, err = p.target.Member(s, way[i]); err != nil {
				p.g.Fatalf("%v", err)
			}
		}
		offset += m.Offset
		if _, in := m.Type.(types.Struct); !in {
			fetch, offset = fmt.Sprintf("+%d(%s)", offset, fetch), 0
		}
	}
	p.names = append(p.names, name)
	ours := fmt.Sprintf(":u%d", types.Size(m.Type)*8)
	theirs := ours
	if m.BitSize > 0 {
		ours, theirs = fmt.Sprintf(":b%d@%d/%d", m.BitSize, m.BitOffset, m.Container*8), ""
	}
	p.args = append(p.args, name+"="+fetch+ours)
	if p.byKernel {
		p.args = append(p.args, "k_"+name+"="+kernel+theirs)
	}
}

// record arms the probe, calls do, and returns what was recorded.
func (p *probe) record(do func()) []map[string]uint64 {
	line := "p:btfproof/probe " + p.function + " " + strings.Join(p.args, " ")
	p.write("dynamic_events", line)
	p.g.Cleanup(func() { p.write("dynamic_events", "-:btfproof/probe") })
	p.write("trace", "")
	p.write("events/btfproof/probe/enable", "1")
	do()
	p.write("events/btfproof/probe/enable", "0")
	f, err := os.Open(filepath.Join(tracefs, "trace"))
	if err != nil {
		p.g.Fatalf("read the records: %v", err)
	}
	defer f.Close()
	var records []map[string]uint64
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if r := fields(lines.Text()); len(r) == len(p.args) {
			records = append(records, r)
		}
	}
	if len(records) == 0 {
		p.g.Fatalf("%s: nothing was recorded", line)
	}
	return records
}

var field = regexp.MustCompile(`(\w+)=(-?\w+)`)

func fields(line string) map[string]uint64 {
	values := map[string]uint64{}
	_, line, _ = strings.Cut(line, ") ") // " … probe: (vfs_read+0x0/0x380) ino=17 …"
	for _, m := range field.FindAllStringSubmatch(line, -1) {
		v, err := strconv.ParseUint(m[2], 0, 64)
		if err != nil {
			if signed, err := strconv.ParseInt(m[2], 0, 64); err == nil {
				v = uint64(signed)
			}
		}
		values[m[1]] = v
	}
	return values
}

// want fails the case unless one record has the values, and in each record the
// kernel's own values are ours.
func (p *probe) want(records []map[string]uint64, want map[string]uint64) {
	found := false
	for _, r := range records {
		has := true
		for name, v := range want {
			has = has && r[name] == v
		}
		found = found || has
		for _, name := range p.names {
			if p.byKernel && r["k_"+name] != r[name] {
				p.g.Errorf("%s: got %d, the kernel reads %d", name, r[name], r["k_"+name])
			}
		}
	}
	if !found {
		p.g.Errorf("no record has %v: got %v", want, records)
	}
	p.g.Logf("%d records, compared with the kernel's own: %v; %v", len(records), p.byKernel, p.args)
}

func (p *probe) write(file, text string) {
	flags := os.O_WRONLY | os.O_APPEND
	if text == "" {
		flags = os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(filepath.Join(tracefs, file), flags, 0)
	if err == nil {
		_, err = f.WriteString(text)
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(tracefs, "error_log"))
		p.g.Fatalf("write %q to %s: %v\n%s", text, file, err, log)
	}
}
