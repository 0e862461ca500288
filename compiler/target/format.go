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

// Copied returns the field that holds what the user pointer in the field
// called name points to, as the kernel copied it at the system call's entry,
// faulting it in; nil if the kernel does not. 7.2.13 has such fields of many
// calls ("__filename_val" for "filename"), 6.17.13 has not. Long text is
// cut off.
func (f *Format) Copied(name string) *Field {
	if f.System != "syscalls" {
		return nil
	}
	return f.Field("__" + name + "_val")
}

// Field is one field of an event's record.
type Field struct {
	Name string
	// Decl is the type as the format file writes it, with the size of an
	// array: "pid_t", "char[16]", "__data_loc char[]", "const char *". This
	// is the text that a hist compares types by. Words that only concern the
	// kernel's own checkers (__user, __attribute__((…))) are removed.
	Decl   string
	Offset int  // bytes from the start of the record
	Size   int  // bytes in the record; a system call's int argument takes 8
	Signed bool // what the kernel believes when it compares and sums
	Array  bool // declared as an array, of fixed or of each record's own length
	Loc    Loc
	// Type is what a value means; its own width may be less than Size. It is
	// a types.Struct, which no expression can read, if ep cannot tell what
	// the bytes are: a struct or union in the record, or a typedef of no
	// scalar's size.
	Type types.Type
}

// Loc is where a field's bytes are.
type Loc uint8

// The places of a field's bytes.
const (
	InPlace Loc = iota // at Offset
	DataLoc            // at Offset stands where from the record's start (__data_loc)
	RelLoc             // at Offset stands where from the field's end (__rel_loc)
)
