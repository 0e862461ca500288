// Package sourceproof holds tests alone: on real kernels, every kind of source
// and every way to read memory is given something that user space knows by
// other means (an inode's number from stat, a name just opened, a port just
// connected), and the records must show that.
//
// Read bench_test.go first: a case compiles a script for the kernel that runs,
// carries it out in an instance, works in a thread of its own, and reads what
// that thread left through runtime/events. The other files have the cases by
// what they prove; refuse_test.go has what a kernel cannot and ep says so.
package sourceproof
