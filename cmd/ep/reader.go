package main

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lookEvery is how often it is looked whether the run has ended, milliseconds.
const lookEvery = 500

// whileRead returns a context that also ends when nobody can read any more what is
// written to w, as behind "| head -1": a run whose events are rare would learn it by
// the next of them. Its cause is then EPIPE. The returned function ends the watch.
func whileRead(ctx context.Context, w io.Writer) (context.Context, func()) {
	f, ok := w.(*os.File)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	fd := int32(f.Fd())
	go func() {
		for ctx.Err() == nil {
			// Of a pipe that nobody reads POLLERR comes without being asked for.
			fds := []unix.PollFd{{Fd: fd}}
			n, err := unix.Poll(fds, lookEvery)
			switch {
			case err != nil && err != unix.EINTR, n > 0 && fds[0].Revents&unix.POLLNVAL != 0:
				return // the next write tells
			case n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				cancel(unix.EPIPE)
				return
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
