// Package proof holds tests alone: real kernels carry out what ep makes of
// scripts, and the records that come back are checked for values that only a
// right program can produce.
//
// A golden file says what a script becomes; only a kernel says whether that is
// right. Read kernel_test.go first: it lists the cases, which run in one boot
// of each kernel (docs/testing.md). seed_test.go has the scripts of
// testdata/scripts, document_test.go the kernel's own documents against them,
// apply_test.go what the kernel refuses, language_*_test.go the sentences of
// docs/language.md. What they stand on is in guest_test.go (compile, apply, leave
// nothing), records_test.go (what came back) and work_test.go (what there is to
// record).
package proof
