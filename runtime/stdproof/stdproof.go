// Package stdproof holds tests alone: on real kernels each module of stdlib is
// applied, the thing that it is about is made to happen, and the module must
// have seen it. Read kernel_test.go; work_test.go makes things happen.
package stdproof
