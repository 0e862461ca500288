package compiler_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
)

const languagePage = "../docs/language.md"

// limitRows are the rows of the page's table of limits. A number that differs by kernel
// is given for each of the embedded targets, and the page has the least and the most.
func limitRows(t *testing.T) string {
	t.Helper()
	of := func(get func(l target.Limits) int) string {
		least, most := 0, 0
		for _, name := range target.EmbeddedNames() {
			n := get(openTarget(t, name).Limits())
			if least == 0 || n < least {
				least = n
			}
			most = max(most, n)
		}
		if least == most {
			return fmt.Sprint(least)
		}
		return fmt.Sprintf("%d to %d, by kernel", least, most)
	}
	rows := [][2]string{
		{"events, hidden ones too, that are made of each other", fmt.Sprint(ir.MaxNested)},
		{"sources of a glob", fmt.Sprint(ir.MaxSources)},
		{"bytes of the name of an event or group", of(func(l target.Limits) int { return l.EventName })},
		{"bytes of the name of a field", of(func(l target.Limits) int { return l.ArgName })},
		{"fields of an event", of(func(l target.Limits) int { return l.Args })},
		{"fields of an event that the kernel makes as a synthetic event", of(func(l target.Limits) int { return l.SynthFields })},
		{"bytes of a record of a probe", of(func(l target.Limits) int { return l.Payload })},
		{"elements of an array in a record", of(func(l target.Limits) int { return l.ArrayLen })},
		{"bytes of a string in a condition", of(func(l target.Limits) int { return l.FilterText })},
		{"characters of a probe's argument in the kernel's spelling", of(func(l target.Limits) int { return l.ArgText })},
		{"bytes of a line that ep writes", of(func(l target.Limits) int { return l.Line })},
		{"`size N`", fmt.Sprintf("%d to %d", command.MinHistSize, command.MaxHistSize)},
		{"keys of a histogram", of(func(l target.Limits) int { return l.HistKeys })},
		{"bytes of all keys of a histogram", of(func(l target.Limits) int { return l.HistKeyBytes })},
		{"sums of a histogram", of(func(l target.Limits) int { return l.HistValues })},
		{"columns that a histogram is sorted by", of(func(l target.Limits) int { return l.HistSorts })},
		{"variables of one histogram in the kernel, with which a join carries values", of(func(l target.Limits) int { return l.HistVariables })},
		{"`option maxactive N`", fmt.Sprintf("1 to %d", command.MaxActive)},
		{"N of `$stack(N)`", fmt.Sprintf("0 to %d", ir.MaxStackWord)},
		{"the number of a CPU in a set", fmt.Sprintf("0 to %d", ir.MaxCPU)},
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	return b.String()
}

// TestLimitsAreOnThePage: the table of docs/language.md has the limits that the
// compiler holds scripts to. -update writes it.
func TestLimitsAreOnThePage(t *testing.T) {
	page, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| limit | value |\n|---|---|\n"
	before, rest, ok := strings.Cut(string(page), head)
	if !ok {
		t.Fatalf("%s has no table of limits", languagePage)
	}
	rows, after, _ := strings.Cut(rest, "\n\n")
	want := limitRows(t)
	if rows+"\n" == want {
		return
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(languagePage, []byte(before+head+want+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the table of limits is\n%s\nwant\n%s", rows, want)
}
