// Package eventsproof holds the tests of runtime/events that real kernels judge:
// what they record must decode to what their own text of it says, and in a
// storm decoded and lost must be what was made. Read record_test.go first.
package eventsproof

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/object"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// tracefs is where the guest has it.
const tracefs = "/sys/kernel/tracing"

// scriptsDir is where scripts are: on the host, and in the guest.
var scriptsDir = "../../testdata/scripts"

const guestScripts = "/scripts"

// programs are where programs that are no Go are, whose functions can be probed
// as they return too: on the host, and in the guest.
const (
	programs      = "../../compiler/object/testdata/"
	guestPrograms = "/programs/"
)

// program is the one of programs that runs on an architecture.
func program(goarch string) string {
	if goarch == "arm64" {
		return "loose-arm64"
	}
	return "loose-x86_64"
}

// guestFiles are what the guest needs: the scripts and the programs.
func guestFiles() map[string]string {
	files := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		files[guestPrograms+program(arch)] = programs + program(arch)
	}
	names, err := filepath.Glob(scriptsDir + "/*.ep")
	if err != nil || len(names) == 0 {
		panic("internal error: no scripts in " + scriptsDir)
	}
	for _, n := range names {
		files[path.Join(guestScripts, filepath.Base(n))] = n
	}
	return files
}

// compileScript compiles a script for a target.
func compileScript(file string, t *target.Target, instance string) (*plan.Plan, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	src, err := source.New(file, string(text))
	if err != nil {
		return nil, err
	}
	p, list := compiler.Compile(src, t, compiler.Options{Instance: instance})
	if list.HasErrors() {
		return nil, fmt.Errorf("compile %s: %v", file, list)
	}
	return p, nil
}

// staticEvents are kernel events of many kinds. Those that a kernel has not
// are left out there.
var staticEvents = []string{
	"sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup_new", "sched/sched_process_exec",
	"sched/sched_process_fork", "sched/sched_process_exit", "sched/sched_process_wait", "sched/sched_migrate_task",
	"raw_syscalls/sys_enter", "raw_syscalls/sys_exit", "syscalls/sys_enter_openat", "syscalls/sys_exit_openat",
	"syscalls/sys_enter_getppid", "syscalls/sys_exit_getppid",
	"kmem/kmalloc", "kmem/kfree", "kmem/kmem_cache_alloc", "kmem/mm_page_alloc",
	"irq/softirq_entry", "irq/softirq_exit", "irq/irq_handler_entry", "irq/irq_handler_exit",
	"timer/timer_start", "timer/hrtimer_start", "timer/hrtimer_expire_entry", "timer/tick_stop", "timer/itimer_state",
	"workqueue/workqueue_queue_work", "workqueue/workqueue_execute_start",
	"block/block_rq_issue", "block/block_rq_complete", "block/block_bio_queue",
	"net/net_dev_queue", "net/net_dev_xmit", "net/netif_rx", "sock/inet_sock_set_state", "tcp/tcp_destroy_sock", "tcp/tcp_probe",
	"skb/consume_skb", "skb/kfree_skb", "task/task_newtask", "task/task_rename", "signal/signal_generate", "signal/signal_deliver",
	"filemap/mm_filemap_add_to_page_cache", "writeback/writeback_dirty_inode", "power/cpu_idle", "exceptions/page_fault_user",
	"module/module_get", "irq_vectors/local_timer_entry", "ipi/ipi_send_cpu", "notifier/notifier_run", "cgroup/cgroup_attach_task",
}

// dynamicEvents are commands for dynamic_events with every type that a probe
// has, FN the function that it is at. There is no symstr: it writes a byte more
// than it asked for (trace_probe_kernel.h, fetch_store_symstring), and 6.1 and
// 6.17 crash of that within minutes.
var dynamicEvents = []string{
	"p:epproof/nums FN a=%A0:s32 b=%A0:u32 c=%A0:x32 d=%A0:s8 e=%A0:u8 f=%A0:s16 g=%A0:x16 h=%A1:x64 i=%A1:s64 j=%A1:u64",
	"p:epproof/text FN name=+0(%A1):ustring kernel=+0(%A1):string comm=$comm bad=+0(%A0):string bad2=+0(%A0):ustring",
	"p:epproof/arrays FN words=+0(%SP):x64[3] bytes=+0(%SP):u8[5] shorts=+0(%SP):s16[4] ints=+0(%SP):s32[2]",
	"p:epproof/bits FN low=%A0:b4@0/32 mid=%A1:b12@4/32 sym=%IP:symbol",
	"p:epproof/char FN c=+0(%A1):char s=+0(%A1):char[4]",
	"p:epproof/strs FN two=+0(%SP):string[2]",
	"r:epproof/ret FN ret=$retval:s32",
	"f:epproof/fentry FN dfd=$arg1:s32 name=+0($arg2):ustring how=$arg3:x64",
	"f:epproof/fexit FN%return ret=$retval:s64",
	"t:epproof/tpoint sched_switch preempt=$arg1:u8 prev=$arg2:x64 next=$arg3:x64",
	"p:epproof/user /init:UFN n=%U0:s32 text=+0(%U1):string words=+0(%U1):x32[2]",
	"r:epproof/userret PROGRAM ret=$retval:s32 text=+0($stack):x8[3] who=$comm",
	"e:epproof/switch sched.sched_switch prev=$prev_comm:string pid=$prev_pid:s32 state=$prev_state:s64 next=$next_comm:string",
	"e:epproof/exec sched.sched_process_exec file=$filename:string pid=$pid:s32",
	"s:epproof_synth s32 pid; char[] comm; char[16] fixed; u64 lat; s32 prio",
	"s:epproof_stack s32 pid; unsigned long[] stack; u64 after",
}

// triggers make the synthetic events of dynamicEvents; each is tried.
var triggers = [][2]string{
	{"sched/sched_waking", "hist:keys=pid:ts0=common_timestamp"},
	{"sched/sched_switch", "hist:keys=next_pid:lat=common_timestamp-$ts0,np=next_pid,nc=next_comm,nx=next_prio:onmatch(sched.sched_waking).trace(epproof_synth,$np,$nc,$nc,$lat,$nx)"},
	{"sched/sched_switch", "hist:keys=prev_pid:st=common_stacktrace,ts1=common_timestamp if prev_state != 0"},
	{"sched/sched_switch", "hist:keys=next_pid:de=common_timestamp-$ts1,sp=next_pid:onmatch(sched.sched_switch).trace(epproof_stack,$sp,$st,$de)"},
}

// registers are the probe's words for the first two arguments, the stack
// pointer and the instruction pointer.
func registers(arch string) *strings.Replacer {
	user := fmt.Sprintf("%#x", fileOffset(reflect.ValueOf(called).Pointer()))
	if arch == "arm64" {
		return strings.NewReplacer("UFN", user, "%U0", "%x0", "%U1", "%x1", "FN", "do_sys_openat2", "%A0", "%x0", "%A1", "%x1", "%SP", "%sp", "%IP", "%pc")
	}
	return strings.NewReplacer("UFN", user, "%U0", "%ax", "%U1", "%bx", "FN", "do_sys_openat2", "%A0", "%di", "%A1", "%si", "%SP", "%sp", "%IP", "%ip")
}

// called is what probes of programs are at, at its entry alone: Go does not survive
// that a return address of its stack is another. Go hands over arguments in
// the registers that registers names.
//
//go:noinline
func called(n int, text *byte) int { return n*3 + int(*text) }

// fileOffset returns where in the file of this program an address is.
func fileOffset(addr uintptr) uint64 {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if a := uint64(addr); p.Type == elf.PT_LOAD && p.Vaddr <= a && a < p.Vaddr+p.Filesz {
			return a - p.Vaddr + p.Off
		}
	}
	panic("internal error: the program does not have its own function")
}

// placeOf returns where a function of a program is, as a uprobe has it.
func placeOf(function, file string) (string, error) {
	f, err := object.Open(os.DirFS("/"), file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sym, err := f.Function(function)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s:%#x", file, sym.Offset), nil
}

func write(file, data string) error { return writeMode(file, data, plan.Append) }

func writeMode(file, data string, mode plan.Mode) error {
	flag := os.O_WRONLY | os.O_APPEND
	if mode == plan.Truncate {
		flag = os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(path.Join(tracefs, file), flag, 0)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(data))
	return errors.Join(err, f.Close())
}

// put writes a file that holds one value.
func put(g *vm.G, file, data string) {
	if err := os.WriteFile(path.Join(tracefs, file), []byte(data), 0); err != nil {
		g.Fatalf("%v", err)
	}
}

const instance = "epproof"

// within makes the instance for one use of it.
func within(g *vm.G, bufferKB string, use func(dir string)) {
	dir := path.Join("instances", instance)
	if err := os.Mkdir(path.Join(tracefs, dir), 0o750); err != nil {
		g.Fatalf("%v", err)
	}
	put(g, path.Join(dir, "buffer_size_kb"), bufferKB)
	// So that %p shows an address, if the kernel can.
	_ = os.WriteFile(path.Join(tracefs, dir, "options/hash-ptr"), []byte("0"), 0)
	defer func() {
		if err := os.Remove(path.Join(tracefs, dir)); err != nil {
			g.Errorf("%v", err)
		}
	}()
	use(dir)
}

// applied carries out a plan's writes and undoes them after use.
func applied(g *vm.G, p *plan.Plan, use func()) {
	var undo []plan.Write
	full := func(w *plan.Write) string {
		if w.Instanced && p.Instance != "" {
			return path.Join("instances", p.Instance, w.File)
		}
		return w.File
	}
	defer func() {
		for _, u := range slices.Backward(undo) {
			if err := writeMode(full(&u), u.Data, u.Mode); err != nil {
				g.Errorf("undo %s: %v", u.Data, err)
			}
		}
	}()
	for i := range p.Writes {
		w := &p.Writes[i]
		if err := writeMode(full(w), w.Data, w.Mode); err != nil {
			g.Errorf("%s > %s: %v", w.Data, w.File, err)
			return
		}
		if w.Undo != nil {
			undo = append(undo, *w.Undo)
		}
	}
	use()
}

// save hands over what was recorded in the instance: the kernel's text of it,
// then the pages, and what tells how to read them.
func save(g *vm.G, name, dir string, events []string) {
	out := func(file string) {
		data, err := os.ReadFile(path.Join(tracefs, dir, file))
		if err != nil {
			g.Fatalf("%v", err)
		}
		g.Output(name+"/"+file, data)
	}
	put(g, path.Join(dir, "tracing_on"), "0")
	out("trace")
	out("events/header_page")
	out("events/header_event")
	out("trace_clock")
	for _, e := range events {
		out("events/" + e + "/format")
	}
	for cpu := range 2 {
		file := fmt.Sprintf("per_cpu/cpu%d/", cpu)
		out(file + "stats")
		g.Output(name+"/"+file+"trace_pipe_raw", drain(g, path.Join(dir, file, "trace_pipe_raw")))
	}
}

func drain(g *vm.G, file string) []byte {
	fd, err := unix.Open(path.Join(tracefs, file), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer unix.Close(fd)
	var all []byte
	page := make([]byte, 4096)
	for {
		n, err := unix.Read(fd, page)
		if n <= 0 {
			if err != nil && !errors.Is(err, unix.EAGAIN) {
				g.Errorf("read %s: %v", file, err)
			}
			return all
		}
		if n != len(page) {
			g.Errorf("read %d bytes of a page", n)
		}
		all = append(all, page[:n]...)
	}
}

func liveTarget(g *vm.G) *target.Target {
	t, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		g.Fatalf("%v", err)
	}
	return t
}

// recordScripts records what each seed script traces.
func recordScripts(g *vm.G) {
	t := liveTarget(g)
	files, err := filepath.Glob(guestScripts + "/*.ep")
	if err != nil || len(files) == 0 {
		g.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ep")
		p, err := compileScript(file, t, instance)
		if err != nil {
			g.Logf("%v", err)
			continue
		}
		within(g, "64", func(dir string) {
			applied(g, p, func() {
				workload(g)
				var events []string
				for _, s := range p.Streams {
					events = append(events, s.Group+"/"+s.Event)
				}
				save(g, name, dir, events)
			})
		})
	}
}

// recordStatic records events that the kernel has.
func recordStatic(g *vm.G) {
	within(g, "96", func(dir string) {
		var on []string
		for _, e := range staticEvents {
			if _, err := os.Stat(path.Join(tracefs, "events", e)); err != nil {
				continue
			}
			on = append(on, e)
		}
		for _, e := range on {
			put(g, path.Join(dir, "events", e, "enable"), "1")
		}
		workload(g)
		put(g, path.Join(dir, "tracing_on"), "0")
		for _, e := range on {
			put(g, path.Join(dir, "events", e, "enable"), "0")
		}
		save(g, "static", dir, on)
	})
}

// recordDynamic records probes and synthetic events with fields of all types,
// as far as the kernel takes them.
func recordDynamic(g *vm.G) {
	within(g, "128", func(dir string) {
		var on []string
		var undo []func() error
		arch := g.Kernel().GoArch()
		regs := registers(arch)
		place, err := placeOf("nine", guestPrograms+program(arch))
		if err != nil {
			g.Fatalf("%v", err)
		}
		for _, line := range dynamicEvents {
			line = strings.ReplaceAll(regs.Replace(line), "PROGRAM", place)
			if err := write("dynamic_events", line); err != nil {
				g.Logf("not here: %s: %v", line, err)
				continue
			}
			head, _, _ := strings.Cut(line, " ")
			event := head[2:]
			if !strings.Contains(event, "/") {
				event = "synthetic/" + event
			}
			on = append(on, event)
			undo = append(undo, func() error { return write("dynamic_events", "-:"+event) })
		}
		for _, tr := range triggers {
			file := path.Join(dir, "events", tr[0], "trigger")
			if err := write(file, tr[1]); err != nil {
				g.Logf("not here: %s: %v", tr[1], err)
				continue
			}
			undo = append(undo, func() error { return write(file, "!"+tr[1]) })
		}
		for _, e := range on {
			put(g, path.Join(dir, "events", e, "enable"), "1")
		}
		workload(g)
		put(g, path.Join(dir, "tracing_on"), "0")
		for _, e := range on {
			put(g, path.Join(dir, "events", e, "enable"), "0")
		}
		save(g, "dynamic", dir, on)
		for _, u := range slices.Backward(undo) {
			if err := u(); err != nil {
				g.Errorf("undo: %v", err)
			}
		}
	})
}

// workload does a little of everything.
func workload(g *vm.G) {
	for i := range 40 {
		f, err := os.Open("/proc/version")
		if err == nil {
			_, _ = io.Copy(io.Discard, f)
			_ = f.Close()
		}
		_, _ = os.Open("/no/such file" + strconv.Itoa(i))
		unix.Getppid()
		text := []byte(fmt.Sprintf("call %d\x00", i))
		called(i-20, &text[0])
		time.Sleep(200 * time.Microsecond)
	}
	for range 2 {
		c := exec.Command("/proc/self/exe", "-test.run=^$")
		c.Args[0] = "a name"
		_ = c.Run()
	}
	prog := guestPrograms + program(g.Kernel().GoArch())
	if err := os.Chmod(prog, 0o755); err != nil {
		g.Fatalf("%v", err)
	}
	_ = exec.Command(prog).Run() // it exits with a count
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if c, err := l.Accept(); err == nil {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}
		}()
		if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
			_, _ = c.Write(bytes.Repeat([]byte("x"), 5000))
			_ = c.Close()
		}
		<-done
		_ = l.Close()
	}
	_ = syscall.Kill(os.Getpid(), 0)
	g.Logf("a write to the disk")
}

// pack makes one file of what the cases handed over.
func pack(files map[string][]byte) ([]byte, error) {
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, n := range names {
		f, err := w.Create(n)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[n]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
