package object

import (
	"debug/dwarf"

	"github.com/eptrace/ep/lang/types"
)

// Param is a parameter of a function as its source has it.
type Param struct {
	Name string // "" if it has none
	Type types.Type
}

// dwarfFile is a file's debug information.
type dwarfFile struct{ data *dwarf.Data }

func (f *File) readDWARF() (*dwarfFile, error) { return nil, ErrNoDWARF }

// Params returns the parameters of a function of f, in order, and the type of
// its result, Void if it has none. The error is ErrNoDWARF, wrapped, if neither
// the file nor the file of debug information that belongs to it tells.
func (f *File) Params(sym Symbol) ([]Param, types.Type, error) {
	_, err := f.program()
	return nil, nil, err
}
