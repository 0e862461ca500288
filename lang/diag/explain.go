package diag

import (
	"cmp"
	"slices"
)

// explanation is what a code means, for a person: sentences, then lines that
// begin with a tab, which show it wrong and right.
type explanation struct {
	code Code
	text string
}

// Explain returns what a code means and an example of it, wrong and right; ok is
// false if there is no such code. Lines of the example begin with a tab.
func Explain(c Code) (text string, ok bool) {
	i, ok := slices.BinarySearchFunc(explained[:], c, func(e explanation, c Code) int { return cmp.Compare(e.code, c) })
	if !ok {
		return "", false
	}
	return explained[i].text, true
}

// Codes returns all codes, sorted.
func Codes() []Code {
	var all []Code
	for _, e := range explained {
		all = append(all, e.code)
	}
	return all
}
