package diag

// The codes of lang/syntax. A script with one of these is not checked further.
const (
	// Syntax: something is missing, or is where it cannot be.
	//
	//	trace sched.sched_switch where {        # wrong
	//	trace sched.sched_switch where x > 1 {  # right
	Syntax Code = "syntax"

	// BadCharacter: a character that the language does not use.
	//
	//	trace a.b; trace c.d  # wrong
	//	trace a.b  trace c.d  # right
	BadCharacter Code = "bad-character"

	// BadComment: a comment in another language's form.
	//
	//	trace a.b // all of it  # wrong
	//	trace a.b # all of it   # right
	BadComment Code = "bad-comment"

	// BadNumber: a malformed number, or one that does not fit in 64 bits.
	//
	//	size 1MB   # wrong
	//	size 1MiB  # right
	BadNumber Code = "bad-number"

	// BadString: a string or character whose escapes or quotes are wrong.
	//
	//	comm == 'bash'  # wrong
	//	comm == "bash"  # right
	BadString Code = "bad-string"

	// UnterminatedString: a string, character or name in backticks that is not
	// closed on its line.
	//
	//	comm == "bash   # wrong
	//	comm == "bash"  # right
	UnterminatedString Code = "unterminated-string"

	// UnclosedBracket: an unmatched bracket.
	//
	//	x = str(name   # wrong
	//	x = str(name)  # right
	UnclosedBracket Code = "unclosed-bracket"

	// ReservedWord: a reserved word where a name is expected.
	//
	//	param from = 3    # wrong
	//	param `from` = 3  # right
	ReservedWord Code = "reserved-word"

	// BadOperator: an operator that the language does not have.
	//
	//	where pid = 3   # wrong
	//	where pid == 3  # right
	BadOperator Code = "bad-operator"

	// ChainedComparison: a comparison of a comparison.
	//
	//	where 1 < pid < 9         # wrong
	//	where 1 < pid && pid < 9  # right
	ChainedComparison Code = "chained-comparison"

	// UnknownStatement: text that does not begin a statement.
	//
	//	evnt e from a.b   # wrong
	//	event e from a.b  # right
	UnknownStatement Code = "unknown-statement"

	// MisplacedClause: a clause that is misspelt, in the wrong order, given twice,
	// or part of another statement.
	//
	//	event e from a.b having x > 1 size 128  # wrong
	//	event e from a.b size 128 having x > 1  # right
	MisplacedClause Code = "misplaced-clause"

	// TooDeep: an expression or a type that is nested too deep, or a statement
	// that is too long.
	//
	//	where ((((… x …))))  # wrong: more than 200 nested brackets
	//	where x               # right
	TooDeep Code = "too-deep"

	// TooManyErrors: the text has so many errors that the rest was not read.
	//
	//	trace {{{{ …  # wrong, a hundred times
	//	trace a.b     # right
	TooManyErrors Code = "too-many-errors"
)

// The code of lang/format.
const (
	// FormatFailed: a bug: formatting would have changed what a script means.
	// The script is left unchanged.
	//
	//	ep fmt x.ep  # wrong, and not the script's fault: report it
	//	x.ep         # right: it is as it was
	FormatFailed Code = "format-failed"
)

// The code of package compiler.
const (
	// PlanRefused: a bug: the plan has a write that this kernel would refuse.
	// Nothing was written.
	//
	//	ep compile x.ep                  # wrong, and not the script's fault: report it
	//	ep compile --target live x.ep    # right: it was compiled for the kernel that runs
	PlanRefused Code = "plan-refused"
)
