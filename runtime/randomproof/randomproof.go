// Package randomproof holds random scripts against a model of what they mean.
//
// A generator makes well-typed scripts, each with a workload whose every call,
// argument and result is known; a guest compiles each for its own kernel,
// applies it, does the workload, reads what ep shows, and takes the script back;
// and a model that knows docs/language.md, and nothing of how ep lowers a
// script, says what must have been shown. What differs is cut down to the least
// script that still shows it.
//
// The model is a second statement of the language: read value_test.go (numbers,
// texts, types), expression_test.go (what an expression is worth),
// meaning_test.go (which records an event has), table_test.go (which rows a
// histogram has) and world_test.go (what a workload makes happen). The generator
// is in generate*_test.go and wide_test.go, the guest in guest_test.go, the
// comparison in compare_test.go, and what is run in kernel_test.go.
//
// The package has tests only.
package randomproof
