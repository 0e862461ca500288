package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

const twoStages = `event e
  from syscall lseek.enter as a
  then syscall madvise.enter as b by $tid
{ first = a.offset, second = b.len_in, took = b.$time - a.$time, us = (b.$time - a.$time) as us }
trace e
`

const threeStages = `event e
  from syscall lseek.enter as a
  then syscall madvise.enter as b by $tid
  then syscall getppid.enter as c by $tid
{ first = a.offset, second = b.len_in, took = c.$time - a.$time, us = (c.$time - a.$time) as us }
trace e
`

// joinsAndHists is a script of n joins and n histograms of them.
func joinsAndHists(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `event delay_%d
  from sched.sched_waking as wake where pid == %[1]d
  then sched.sched_switch as run by wake.pid == run.next_pid
{ pid = run.next_pid, lat = run.$time - wake.$time, us = (run.$time - wake.$time) as us }
hist delays_%[1]d from delay_%[1]d by pid, slot = log2(lat) sort by slot
`, i)
	}
	return b.String()
}

// BenchmarkJoins measures joins of two and three stages, of which the second may
// take 1.5 times as long, and 500 joins and histograms: 300 ms at most. The
// target's files are read before.
func BenchmarkJoins(b *testing.B) {
	to, err := target.Embedded(target.DefaultName)
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct{ name, text string }{
		{"two-stages", twoStages}, {"three-stages", threeStages}, {"500", joinsAndHists(250)},
	} {
		src, err := source.New("bench.ep", bench.text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, list := compiler.Compile(src, to, compiler.Options{}); p == nil {
					b.Fatal(list)
				}
			}
		})
	}
}
