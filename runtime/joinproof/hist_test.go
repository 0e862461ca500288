package joinproof

import (
	"fmt"

	"github.com/eptrace/ep/runtime/vm"
)

var histCases = []vm.Case{newCase("hist", proveHists)}

// proveHists: counts and sums are those of the calls made; of the kernel's own
// event, of a computed one, of a join, and of two events at once.
func proveHists(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event done from syscall lseek where $tid == %[1]d { offset, whence, $ret, half = offset / 2 }
event joined
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall madvise.enter as b where $tid == %[1]d by $tid
{ offset = a.offset as u64, start = b.start }
hist calls from syscalls.sys_enter_madvise where $tid == %[1]d by behavior { total = sum(start) }
hist results from done by whence, ret { total = sum(half) }
hist ranges from joined by slot = bucket(start, 10) { total = sum(offset) }
hist both from syscall lseek.enter, syscall madvise.enter where $tid == %[1]d by $tid
hist one_row from done`, tid), func() {
			for i := range int64(40) {
				badSeek(i, uint32(1000+i%4))
				badAdvice(uint64(i), 1, int32(1000+i%2))
			}
		})
		sums := func(name, key string, count int64, want ...int64) {
			table := rec.tables[name]
			got := map[string]int64{}
			for _, g := range table {
				if g.num("hitcount") != count {
					m.g.Errorf("%s: got %v, want a count of %d", name, g, count)
				}
				// By the name of the field that the sum is of, or of the hidden one.
				for _, column := range []string{"total", "half", "offset", "start"} {
					if _, ok := g[column]; ok && column != key {
						got[fmt.Sprint(g)] = g.num(column)
						break
					}
				}
			}
			if len(table) != len(want) {
				m.g.Errorf("%s: got %v, want %d rows", name, table, len(want))
				return
			}
			total, wanted := int64(0), int64(0)
			for _, n := range got {
				total += n
			}
			for _, n := range want {
				wanted += n
			}
			if total != wanted {
				m.g.Errorf("%s: got %v, want %v", name, table, want)
			}
		}
		sums("calls", "behavior", 20, 380, 400)
		sums("results", "whence", 10, 90, 90, 100, 100)
		sums("ranges", "slot", 10, 45, 145, 245, 345)
		sums("both", "tid", 80, 0)
		sums("one_row", "", 40, 0)
	})
}
