package diag

// The code of loading a script. What is no text is not parsed.
const (
	// BadEncoding: a byte that cannot be in a script: NUL, or one that is not
	// UTF-8.
	//
	//	print "\xe9t\xe9"  # wrong: bytes of Latin-1
	//	print "été"       # right: UTF-8
	BadEncoding Code = "bad-encoding"
)
