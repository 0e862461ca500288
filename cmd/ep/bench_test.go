package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCompileProcess measures the whole program, from fork to exit, as a
// user runs it: the join of testdata/scripts/wakeup.ep for the embedded 6.17.
// It reports the greatest memory of a run in MB and the size of the stripped
// program, with all targets in it.
func BenchmarkCompileProcess(b *testing.B) {
	program := build(b)
	script := "../../testdata/scripts/wakeup.ep"
	if _, err := os.Stat(script); err != nil {
		b.Skip(err)
	}
	b.Run("compile", func(b *testing.B) {
		benchmarkProcess(b, program, "compile", "--target", "6.17-x86_64", script)
	})
	// One member of a struct, for which the kernel's type information is read.
	member := filepath.Join(b.TempDir(), "member.ep")
	if err := os.WriteFile(member, []byte("trace func vfs_read.enter { ino = file->f_inode->i_ino }\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("member", func(b *testing.B) {
		benchmarkProcess(b, program, "compile", "--target", "6.17-x86_64", member)
	})
	b.Run("check", func(b *testing.B) {
		benchmarkProcess(b, program, "check", "--target", "6.17-x86_64", script)
	})
	b.Run("list", func(b *testing.B) { benchmarkProcess(b, program, "list", "--target", "6.17-x86_64", "sched.*") })
	b.Run("version", func(b *testing.B) { benchmarkProcess(b, program, "version") })
}

func build(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "ep")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("the program has %.1f MB", float64(info.Size())/1e6)
	return program
}

func benchmarkProcess(b *testing.B, program string, args ...string) {
	var most int64
	least := time.Hour // of use on a machine that does other things too
	for b.Loop() {
		cmd := exec.Command(program, args...)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("ep %q: %v\n%s", args, err, out)
		}
		least = min(least, time.Since(start))
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if ok && runtime.GOOS == "linux" {
			most = max(most, usage.Maxrss) // in KiB on Linux
		}
	}
	b.ReportMetric(float64(most)/1024, "MiB-max")
	b.ReportMetric(float64(least.Microseconds())/1000, "ms-min")
}
