package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// conditionCases prove that conditions mean on a kernel what they mean in Go.
var conditionCases = []vm.Case{
	on("conditions-of-base", eprobes, proveConditionsOfBase),
	on("conditions-of-fields", eprobes, proveConditionsOfFields),
	on("conditions-of-text", eprobes, proveConditionsOfText),
}

// conditions are about a number N.
var conditions = []struct {
	text  string
	holds func(n int64) bool
}{
	{"N == 5", func(n int64) bool { return n == 5 }},
	{"N != 5", func(n int64) bool { return n != 5 }},
	{"N < 5", func(n int64) bool { return n < 5 }},
	{"3 <= N", func(n int64) bool { return n >= 3 }},
	{"N >= -3", func(n int64) bool { return n >= -3 }},
	{"N == -22", func(n int64) bool { return n == -22 }},
	{"N in { 1, 5..9, 20 }", func(n int64) bool { return n == 1 || n >= 5 && n <= 9 || n == 20 }},
	{"N in { -30..-20, 0 }", func(n int64) bool { return n >= -30 && n <= -20 || n == 0 }},
	{"!(N in { 1, 5..9, 20 })", func(n int64) bool { return !(n == 1 || n >= 5 && n <= 9 || n == 20) }},
	{"N & 6", func(n int64) bool { return n&6 != 0 }},
	{"!(N & 6)", func(n int64) bool { return n&6 == 0 }},
	{"N & 6 == 6", func(n int64) bool { return n&6 == 6 }},
	{"N & 6 == 2", func(n int64) bool { return n&6 == 2 }},
	{"N & 6 == 0", func(n int64) bool { return n&6 == 0 }},
	{"N & 6 != 2", func(n int64) bool { return n&6 != 2 }},
	{"N > 3 && N < 6 || N == 0", func(n int64) bool { return n > 3 && n < 6 || n == 0 }},
	{"(N > 3 || N == 0) && N < 6", func(n int64) bool { return (n > 3 || n == 0) && n < 6 }},
	{"!(N > 3 && N <= 12)", func(n int64) bool { return !(n > 3 && n <= 12) }},
	{"!(N < 4 || N & 1)", func(n int64) bool { return !(n < 4 || n&1 != 0) }},
}

// proveConditions has an event for each condition on source's value, and calls
// with each number.
func (b *bench) proveConditions(source, value string, numbers []int64, call func(n int64) error) {
	var script strings.Builder
	for i, c := range conditions {
		fmt.Fprintf(&script, "event c%d from %s where %s { n = %s }\ntrace c%d\n", i, source, strings.ReplaceAll(c.text, "N", value), value, i)
	}
	list := b.run(script.String(), func() error {
		for _, n := range numbers {
			if err := call(n); err != nil {
				return err
			}
		}
		return nil
	})
	for i, c := range conditions {
		var want []string
		for _, n := range numbers {
			if c.holds(n) {
				want = append(want, fmt.Sprint(n))
			}
		}
		if got := table(list, fmt.Sprintf("c%d", i), "n"); !slices.Equal(got, want) {
			b.Errorf("%s: holds of %v, want %v", c.text, got, want)
		}
	}
}

// numbers are 0 to 31.
func numbers() []int64 {
	var list []int64
	for n := range int64(32) {
		list = append(list, n)
	}
	return list
}

// proveConditionsOfBase: on a value that the event below has as it is.
func proveConditionsOfBase(b *bench) {
	fd, err := scratch(b)
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer unix.Close(fd)
	b.proveConditions("syscall lseek.exit", "$ret", append(numbers(), -22), func(n int64) error {
		_, err := unix.Seek(fd, n, 0)
		if n == -22 && err == unix.EINVAL { // -22 itself
			return nil
		}
		return err
	})
}

// proveConditionsOfFields: on a value that only the event itself has.
func proveConditionsOfFields(b *bench) {
	b.proveConditions("syscall getpgid.enter", "pid", append(numbers(), -1, -3, -22, -25, 1<<31-1), func(n int64) error {
		getpgid(int(n))
		return nil
	})
}

// proveConditionsOfText: globs and literals, of $comm, of a text within the
// record and of one of any length.
func proveConditionsOfText(b *bench) {
	threads := []string{"ep-one", "ep-two", "ep-*", "other", "1st", "!bang"}
	conditions := []struct {
		text string
		want []string
	}{
		{`N == "ep-one"`, threads[:1]},
		{`N != "ep-one"`, threads[1:]},
		{`N ~ "ep-*"`, threads[:3]},
		{`N == "ep-*"`, threads[2:3]},
		{`N ~ "*o*"`, []string{"ep-one", "ep-two", "other"}},
		{`N ~ "*o"`, []string{"ep-two"}},
		{`!(N ~ "*e")`, threads[1:]},
		{`N ~ "1*"`, threads[4:5]},
		{`N ~ "!*"`, threads[5:]},
		{`N in { "ep-two", "other" }`, []string{"ep-two", "other"}},
		{`N ~ "ep-???" && N != "ep-one"`, []string{"ep-two"}},
	}
	var script strings.Builder
	for i, c := range conditions {
		fmt.Fprintf(&script, "event a%d from syscall getpgid.enter where %s { name = $comm }\ntrace a%d\n", i, strings.ReplaceAll(c.text, "N", "$comm"), i)
		fmt.Fprintf(&script, "event s%d from task.task_rename where %s { name = newcomm }\ntrace s%d\n", i, strings.ReplaceAll(c.text, "N", "newcomm"), i)
	}
	list := b.run(script.String(), func() error {
		for _, name := range threads {
			if err := rename(name); err != nil {
				return err
			}
			getpgid(1)
		}
		return nil
	})
	for i, c := range conditions {
		for _, kind := range []string{"a", "s"} {
			if got := table(list, fmt.Sprint(kind, i), "name"); !slices.Equal(got, c.want) {
				b.Errorf("%s%d: %s: holds of %q, want %q", kind, i, c.text, got, c.want)
			}
		}
	}
}
