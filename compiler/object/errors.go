package object

import (
	"errors"
	"fmt"
	"strings"
)

// What Open, Function and the others return, wrapped. Their texts say no more
// than what is so; a caller adds which script wants it.
var (
	// ErrNotFound is for a file, a function or a probe that is not there.
	ErrNotFound = errors.New("not found")
	// ErrNotELF is for a file that is no program and no library, such as a
	// script.
	ErrNotELF = errors.New("not an ELF program or library")
	// ErrUnsupported is for an ELF file of a kind that ep has no tables for.
	ErrUnsupported = errors.New("unsupported kind of ELF file")
	// ErrCorrupt is for an ELF file whose parts contradict each other.
	ErrCorrupt = errors.New("corrupt ELF file")
	// ErrNoSymbols is for a file that has been stripped of every symbol.
	ErrNoSymbols = errors.New("stripped: it has no symbols")
	// ErrAmbiguous is for a name that several functions have. It is always an
	// *AmbiguousError.
	ErrAmbiguous = errors.New("ambiguous")
	// ErrImported is for a function that the file calls but a library has.
	ErrImported = errors.New("imported from a library")
	// ErrNotCode is for an address, or a symbol, where no instructions are.
	ErrNotCode = errors.New("not code")
	// ErrWritableCode is for code that its program may write to: the kernel
	// sets no uprobe there, and does not say so. kernel/events/uprobes.c,
	// valid_vma.
	ErrWritableCode = errors.New("in writable memory, where the kernel sets no uprobe")
	// ErrNoDWARF is for a function whose parameters the file does not describe.
	ErrNoDWARF = errors.New("no debug information")
)

// AmbiguousError is the error for a name that several functions have.
type AmbiguousError struct {
	Name       string
	Candidates []Symbol // by address; at least two
}

// Error names the candidates, by address if their names do not tell them apart.
func (e *AmbiguousError) Error() string {
	var list []string
	for i, c := range e.Candidates {
		if i == maxListed {
			list = append(list, fmt.Sprintf("and %d more", len(e.Candidates)-i))
			break
		}
		name := c.Name
		if c.Demangled != "" {
			name = c.Demangled
		}
		list = append(list, fmt.Sprintf("'%s' at 0x%x", name, c.Value))
	}
	return fmt.Sprintf("'%s' is %v: %s", e.Name, ErrAmbiguous, strings.Join(list, ", "))
}

// Is makes e an ErrAmbiguous.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// maxListed is how many candidates an error lists.
const maxListed = 8

// guard turns a panic of a decoder into ErrCorrupt: debug/elf, debug/dwarf and
// the demangler are not meant for files that lie on purpose.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrCorrupt, p)
	}
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
