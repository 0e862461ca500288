package lower

import "testing"

func TestGlobIsSpelledForTheKernel(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"", ""},
		{"bash", "bash"},
		{"ba*", "ba*"},
		{"b?s[hx]", "b?s[hx]"},
		{"*", "*"},
		{"**", "**"},
		{"*sh", "**sh"},
		{"*as*", "**as*"},
		{"*a?*", "**a?*"},
		{"0", "0"},
		{"0*", "[0]*"},
		{"7?x", "[7]?x"},
		{"!x", `\!x`},
		{"!*", `\!*`},
	} {
		if got := glob(c.pattern); got != c.want {
			t.Errorf("%q: got %q, want %q", c.pattern, got, c.want)
		}
	}
}
