package target

import "github.com/eptrace/ep/lang/types"

// Format is what an event's format file says.
type Format struct {
	System, Name string
	ID           int
	Common       []Field // common_type … common_pid
	Fields       []Field // the event's own
	Print        string  // the print format, as the file has it
}

// Field returns the event's own field called name, nil if it has none.
func (f *Format) Field(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// Field is one field of an event's record.
type Field struct {
	Name   string
	Decl   string // the type as the format file writes it, decorations removed
	Offset int    // bytes from the start of the record
	Size   int    // bytes in the record; a system call's int argument takes 8
	Signed bool   // what the kernel believes when it compares and sums
	Loc    Loc
	Type   types.Type // what a value means; its own width may be less than Size
}

// Loc is where a field's bytes are.
type Loc uint8

// The places of a field's bytes.
const (
	InPlace Loc = iota // at Offset
	DataLoc            // at Offset stands where from the record's start (__data_loc)
	RelLoc             // at Offset stands where from the field's end (__rel_loc)
)
