package check

import (
	"strings"

	"github.com/eptrace/ep/lang/diag"
)

// errnoOrSignal returns the number of an errno or a signal by name. They are
// the generic ones, which hold on all architectures that ep has tables for.
func errnoOrSignal(name string) (int64, bool) {
	if v, ok := errnos[name]; ok {
		return v, true
	}
	v, ok := signals[name]
	return v, ok
}

// nearErrno returns the errno or signal that a name in capitals is nearly.
func nearErrno(name string) (string, bool) {
	switch {
	case name != strings.ToUpper(name) || len(name) < 4:
	case strings.HasPrefix(name, "SIG"):
		return diag.Near(name, sortedKeys(signals))
	case name[0] == 'E':
		return diag.Near(name, sortedKeys(errnos))
	}
	return "", false
}
