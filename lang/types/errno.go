package types

import "slices"

// ErrnoNumber returns the number of an error's name, "ENOENT" is 2; false if there is no
// such name. ENOTSUP, which has the number of
// EOPNOTSUPP, is known too.
func ErrnoNumber(name string) (int64, bool) {
	if name == "ENOTSUP" {
		name = "EOPNOTSUPP"
	}
	n := slices.Index(errnos[:], name)
	return int64(n), n > 0 && name != ""
}

// ErrnoName returns the name of an error number, "" if it has none.
func ErrnoName(n int64) string {
	if n <= 0 || n >= int64(len(errnos)) {
		return ""
	}
	return errnos[n]
}

// ErrnoNames returns the names of all errors, by number.
func ErrnoNames() []string {
	return slices.DeleteFunc(slices.Clone(errnos[:]), func(name string) bool { return name == "" })
}
