package check

// errnoOrSignal returns the number of an errno or a signal by name. They are
// the generic ones, which hold on all architectures that ep has tables for.
func errnoOrSignal(name string) (int64, bool) {
	if v, ok := errnos[name]; ok {
		return v, true
	}
	v, ok := signals[name]
	return v, ok
}
