package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWhileReadEndsWithTheReader(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	ctx, stop := whileRead(t.Context(), write)
	defer stop()
	if ctx.Err() != nil {
		t.Fatal("it ended while there is a reader")
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("it did not end")
	}
	if !errors.Is(context.Cause(ctx), unix.EPIPE) {
		t.Errorf("got %v, want EPIPE", context.Cause(ctx))
	}
}

func TestWhileReadLetsFilesBe(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	over, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for _, ctx := range []context.Context{first(whileRead(over, f)), first(whileRead(over, &bytes.Buffer{}))} {
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("got %v", context.Cause(ctx))
		}
	}
}

func first(ctx context.Context, _ func()) context.Context { return ctx }
