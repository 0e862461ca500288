// Package format prints a script in the one style, and keeps its comments.
//
// The style:
//
//   - One statement begins each line; one blank line at most stands between
//     two. Statements are never joined or reordered, and no word is changed.
//   - A statement stands on one line if it was written so and fits in 100
//     columns. Its clauses begin lines, two blanks in, where they did; if a line
//     is longer, all its clauses do. Then the brace of the fields begins a line.
//   - Fields stand between braces on one line, or each line of theirs two blanks
//     in. Lines are kept; a block that does not fit gets one line for each field.
//     Types and the `=` of fields on consecutive lines stand in columns.
//   - One blank stands around binary operators, after a comma and inside braces;
//     none inside parentheses and brackets, or between a name and `(`.
//   - In a longer expression a line ends behind an operator, comma or bracket
//     where it did; the next begins two blanks further in.
//   - A comment stays with the word it stood before or behind. Those behind
//     consecutive lines stand in a column.
//
// Formatting works on the tokens; the tree only tells what each of them is.
// Read layout.go first.
package format

import (
	"strings"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// Format returns the text of src in the one style. Formatting its result again
// changes nothing.
//
// If the script has syntax errors, Format returns the text as it is and these.
// It also leaves the text as it is, with an error of its own, if the result
// were another script or lacked a comment: a bug in this package.
func Format(src *source.Source) (string, diag.List) {
	script, list := syntax.Parse(src)
	if list.HasErrors() {
		return src.Text(), list
	}
	out := newPrinter(script).script()
	if !sameScript(script, out) {
		return src.Text(), append(list, changed(src))
	}
	return out, list
}

// sameScript reports whether text has the same words and comments as script.
func sameScript(script *syntax.Script, text string) bool {
	src, err := source.New(script.Source.Name(), text)
	if err != nil {
		return false
	}
	again, list := syntax.Parse(src)
	if list.HasErrors() {
		return false
	}
	a, b := essence(script), essence(again)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(script.Items) == len(again.Items)
}

// token is what must not change of one.
type token struct {
	kind syntax.TokenKind
	text string
}

// essence returns all tokens but blanks, without the blanks that end comments.
func essence(s *syntax.Script) []token {
	var out []token
	for _, t := range s.Tokens() {
		if t.Kind == syntax.TokenSpace {
			continue
		}
		out = append(out, token{t.Kind, strings.TrimRight(s.Source.Slice(t.Span), " \t\r\f\v")})
	}
	return out
}
