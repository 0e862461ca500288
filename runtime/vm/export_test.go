package vm

import (
	"errors"
	"os"
	"testing"
)

// FirstKernel returns the first selected kernel that is there, or skips as Test would.
func FirstKernel(t *testing.T) Kernel {
	t.Helper()
	chosen, err := parseSelection(os.Getenv("EP_KERNEL_TESTS"))
	if err != nil {
		t.Fatal(err)
	}
	var missing error
	for _, k := range chosen.kernels {
		err := available(k)
		if err == nil {
			return k
		}
		if chosen.required(k) {
			t.Fatal(err)
		}
		missing = errors.Join(missing, err)
	}
	if missing != nil {
		t.Skip(missing)
	}
	t.Skip("kernel tests are off: set EP_KERNEL_TESTS to auto or require (docs/testing.md)")
	panic("unreachable")
}
