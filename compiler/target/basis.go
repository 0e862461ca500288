package target

import (
	"fmt"
	"strings"
)

// Basis returns the fact that Has decides f by, in words: `README has
// "<argname>"`, `release 6.5 or later, before 6.14`. It is the same for every
// target. A Feature that is not one of this package's panics.
func Basis(f Feature) string {
	for _, r := range featureRules {
		if r.feature == f {
			return r.basis()
		}
	}
	for _, q := range quirkRules {
		if q.quirk == f {
			var ranges []string
			for _, r := range q.ranges {
				text := fmt.Sprintf("release %v or later", r[0])
				if r[1] != (patch{}) {
					text += fmt.Sprintf(", before %v", r[1])
				}
				ranges = append(ranges, text)
			}
			return strings.Join(ranges, "; or ")
		}
	}
	panic("internal error: unknown feature " + string(f))
}

func (r rule) basis() string {
	var facts []string
	switch {
	case r.readme != "":
		// Tabs and runs of blanks are the README's layout.
		facts = append(facts, `README has "`+strings.Join(strings.Fields(r.readme), " ")+`"`)
	case r.since != patch{}:
		since := fmt.Sprintf("release %v or later", r.since)
		for _, c := range r.carried {
			since += fmt.Sprintf(" (or %v or later, before %v)", c[0], c[1])
		}
		facts = append(facts, since)
	}
	if r.until != (patch{}) {
		facts = append(facts, fmt.Sprintf("before %v", r.until))
	}
	if r.file != "" {
		facts = append(facts, "tracefs has "+r.file)
	}
	if r.config != "" {
		facts = append(facts, r.config+" is not off")
	}
	for _, f := range r.with {
		facts = append(facts, "needs "+string(f))
	}
	return strings.Join(facts, ", ")
}

// String returns "6.17" or, of a later release of the tree, "6.17.3".
func (p patch) String() string {
	if p.patch == 0 {
		return fmt.Sprintf("%d.%d", p.major, p.minor)
	}
	return fmt.Sprintf("%d.%d.%d", p.major, p.minor, p.patch)
}
