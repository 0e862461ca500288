package diag

import (
	"fmt"
	"slices"
	"testing"
)

func TestNear(t *testing.T) {
	for _, c := range []struct {
		claim      string
		name       string
		candidates []string
		want       string
	}{
		{"a replaced byte", "prev_pit", []string{"prev_comm", "prev_pid", "next_pid"}, "prev_pid"},
		{"swapped neighbours are one step", "wehre", []string{"here", "where"}, "where"},
		{"swap counts one in a name of four", "form", []string{"from"}, "from"},
		{"a missing byte", "shed_switch", []string{"sched_switch", "sched_stat_wait"}, "sched_switch"},
		{"case alone", "PID", []string{"pid", "tgid"}, "pid"},
		{"one byte has only its other case", "a", []string{"b", "A"}, "A"},
		{"one byte has nothing else near", "a", []string{"b", "ab"}, ""},
		{"two bytes may differ in one", "tp", []string{"to", "xyz"}, "to"},
		{"too far is nothing", "filename", []string{"flags", "mode", "dfd"}, ""},
		{"the name itself is no suggestion", "pid", []string{"pid"}, ""},
		{"own case wins over other case", "timer", []string{"TIMEX", "timex"}, "timex"},
		{"a longer common beginning wins", "lax", []string{"pax", "lat"}, "lat"},
		{"the alphabet decides the rest", "lat", []string{"laz", "lay"}, "lay"},
		{"an empty name has nothing near", "", []string{"a"}, ""},
		{"no candidates", "a", nil, ""},
	} {
		t.Run(c.claim, func(t *testing.T) {
			for range 2 {
				got, ok := Near(c.name, c.candidates)
				if got != c.want || ok != (c.want != "") {
					t.Errorf("Near(%q, %q) = %q, %v, want %q", c.name, c.candidates, got, ok, c.want)
				}
				slices.Reverse(c.candidates)
			}
		})
	}
}

func FuzzNearIsNotName(f *testing.F) {
	f.Add("prev_pit", "prev_pid", "x")
	f.Fuzz(func(t *testing.T, name, a, b string) {
		got, ok := Near(name, []string{a, b})
		other, _ := Near(name, []string{b, a})
		if got != other {
			t.Errorf("Near(%q) depends on the order of %q and %q: %q, %q", name, a, b, got, other)
		}
		if ok && (got == name || got != a && got != b) {
			t.Errorf("Near(%q, %q, %q) = %q", name, a, b, got)
		}
	})
}

// TestDistanceIsTheTextbooks compares the banded distance with the plain one on
// all short words of three letters.
func TestDistanceIsTheTextbooks(t *testing.T) {
	words := []string{""}
	for i := 0; len(words[i]) < 5; i++ {
		words = append(words, words[i]+"a", words[i]+"b", words[i]+"c")
	}
	for _, a := range words[1:] {
		for _, b := range words[1:] {
			want := wholeDistance(a, b)
			for limit := range 4 {
				if abs(len(a)-len(b)) > limit {
					continue
				}
				got := distance(a, b, limit)
				if want <= limit && got != want || want > limit && got <= limit {
					t.Fatalf("distance(%q, %q, %d) = %d, want %d", a, b, limit, got, want)
				}
			}
		}
	}
}

func wholeDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			cost := 1
			if lower(a[i-1]) == lower(b[j-1]) {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && lower(a[i-1]) == lower(b[j-2]) && lower(a[i-2]) == lower(b[j-1]) {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func BenchmarkNearOfThousands(b *testing.B) {
	var names []string
	for i := range 2000 {
		names = append(names, fmt.Sprintf("system_%d.event_%d", i%90, i))
	}
	b.ReportAllocs()
	for b.Loop() {
		Near("sytem_17.event_1017", names)
	}
}
