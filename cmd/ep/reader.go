package main

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// whileRead returns a context that also ends when nobody can read any more what is
// written to w, as behind "| head -1": a run whose events are rare would learn it by
// the next of them. Its cause is then EPIPE. The returned function ends the watch.
func whileRead(ctx context.Context, w io.Writer) (context.Context, func()) {
	f, ok := w.(*os.File)
	if !ok {
		return ctx, func() {}
	}
	over, end, err := os.Pipe()
	if err != nil {
		return ctx, func() {} // the next write tells
	}
	ctx, cancel := context.WithCancelCause(ctx)
	fds := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(over.Fd())}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			// Of a pipe that has lost its other end POLLERR or POLLHUP comes without
			// being asked for. No time limit: a watch that woke up would be traced.
			_, err := unix.Poll(fds, -1)
			switch {
			case err == unix.EINTR:
			case err != nil, fds[1].Revents != 0, fds[0].Revents&unix.POLLNVAL != 0:
				return // the next write tells
			case fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				cancel(unix.EPIPE)
				return
			}
		}
	}()
	return ctx, func() {
		_ = end.Close() // ends the watch
		<-done
		_ = over.Close()
		cancel(context.Canceled)
	}
}
