package histproof

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/vm"
)

// countFaults: the inode of a pipe points to its buffers, that of a file of tmpfs
// has NULL there. Only writes to the pipe are counted, and under its own key.
func countFaults(g *vm.G) {
	path := g.TempDir() + "/null"
	got := run(g, `
hist buffers from func vfs_write.enter where $tid == TID && count == 5 by n = file->f_inode->i_pipe->ring_size
event write from func vfs_write.enter where $tid == TID && count == 5 { n = file->f_inode->i_pipe->ring_size }
hist derived from write by n
`, "sched/sched_switch", func() error {
		var p [2]int
		if err := unix.Pipe(p[:]); err != nil {
			return err
		}
		defer unix.Close(p[0])
		defer unix.Close(p[1])
		if _, err := unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, 8*os.Getpagesize()); err != nil {
			return err
		}
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for range 3 {
			for _, to := range []int{p[1], fd} {
				if _, err := unix.Write(to, []byte("12345")); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, name := range []string{"buffers", "derived"} {
		equal(g, name, rows(got[name], func(r *hist.Row) string { return fmt.Sprint(r.Key("n").Num) }), map[string]uint64{"8": 3})
	}
}
