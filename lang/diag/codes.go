package diag

// The codes of lang/syntax. A script with one of these is not checked further.
const (
	// Syntax: something is missing or stands where it cannot.
	//
	//	trace sched.sched_switch where {        # wrong
	//	trace sched.sched_switch where x > 1 {  # right
	Syntax Code = "syntax"

	// BadCharacter: a character that is in no word of the language.
	//
	//	trace a.b; trace c.d  # wrong
	//	trace a.b  trace c.d  # right
	BadCharacter Code = "bad-character"

	// BadComment: a comment in another language's form.
	//
	//	trace a.b // all of it  # wrong
	//	trace a.b # all of it   # right
	BadComment Code = "bad-comment"

	// BadNumber: digits and letters that are no number, or not in 64 bits.
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

	// UnclosedBracket: a bracket without its partner.
	//
	//	x = str(name   # wrong
	//	x = str(name)  # right
	UnclosedBracket Code = "unclosed-bracket"

	// ReservedWord: a reserved word where a name is wanted.
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

	// UnknownStatement: text that begins no statement.
	//
	//	evnt e from a.b   # wrong
	//	event e from a.b  # right
	UnknownStatement Code = "unknown-statement"

	// MisplacedClause: a clause that is misspelt, stands in the wrong order, is
	// given twice, or is of another statement.
	//
	//	event e from a.b having x > 1 size 128  # wrong
	//	event e from a.b size 128 having x > 1  # right
	MisplacedClause Code = "misplaced-clause"

	// TooDeep: an expression or a type that nests too deep, or a statement that
	// is too long.
	//
	//	where ((((… x …))))  # wrong: more than 200 brackets in each other
	//	where x               # right
	TooDeep Code = "too-deep"

	// TooManyErrors: the text has more errors than are shown.
	//
	//	trace {{{{ …  # wrong, a hundred times
	//	trace a.b     # right
	TooManyErrors Code = "too-many-errors"
)

// The code of lang/format.
const (
	// FormatFailed: a bug: formatting would have changed what a script means.
	// The script is left as it is.
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
