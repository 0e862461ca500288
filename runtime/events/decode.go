package events

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// op decodes one field. Which one of few is worked out once, so that a record
// costs no look-ups.
type op struct {
	kind     opKind
	digits   digits // of a number
	canFault bool   // text of no bytes at all could not be read
	mayEmpty bool   // or is empty
	size     int    // bytes at offset
	offset   int    // from the start of the record
	from     int    // what a dynamic field's offset is counted from
}

type opKind uint8

const (
	opNumber  opKind = iota
	opText           // in place, up to its NUL
	opBytes          // in place
	opDynText        // where the u32 at offset says: low half where, high half how much
	opDynBytes
	opDynStack // dynamic, and its first word may be their number
	opTail     // in place, up to the record's end
	opMarker   // text in place, up to its NUL or the record's end
)

// newOp returns what decodes a field that the plan believes to be p and the
// kernel says is k.
func newOp(p plan.Field, k *target.Field) (op, error) {
	o := op{offset: k.Offset, size: k.Size}
	if _, stack := p.Type.(types.Stack); stack && k.Loc == target.InPlace && k.Array && k.Offset >= 0 {
		// Of ftrace.kernel_stack, whose format says "caller[]" or "caller[8]"
		// while it has as many as there are (trace_entries.h).
		o.kind, o.size = opTail, 0
		return o, nil
	}
	if _, text := p.Type.(types.String); text && k.Loc == target.InPlace && k.Array && k.Size == 0 && k.Offset >= 0 {
		o.kind = opMarker // of ftrace.print
		return o, nil
	}
	if k.Size <= 0 || k.Offset < 0 {
		return op{}, fmt.Errorf("the kernel gives it %d bytes at %d", k.Size, k.Offset)
	}
	if k.Loc != target.InPlace {
		if k.Size < 4 {
			return op{}, fmt.Errorf("dynamic, but of %d bytes", k.Size)
		}
		if k.Loc == target.RelLoc {
			o.from = k.Offset + 4
		}
		switch p.Type.(type) {
		case types.String:
			o.kind = opDynText
			// trace_probe_tmpl.h and trace_probe.c (print_type_string): what
			// could not be read has length 0; the empty text has its NUL.
			o.canFault = p.Kernel == "string" || p.Kernel == "ustring" || p.Kernel == "symstr"
			o.mayEmpty = p.MayBeEmpty
		case types.Stack:
			o.kind = opDynStack
		case types.Array, types.Struct:
			o.kind = opDynBytes
		default:
			return op{}, fmt.Errorf("the kernel has '%s' where the plan has %s", k.Decl, p.Type)
		}
		return o, nil
	}
	switch p.Type.(type) {
	case types.String:
		if !k.Array {
			return op{}, fmt.Errorf("the kernel has '%s' where the plan has text", k.Decl)
		}
		o.kind = opText
	case types.Array, types.Struct, types.Stack:
		o.kind = opBytes
	default:
		o.kind = opNumber
		o.digits = digitsOf(p.Type)
		if n := types.Size(p.Type); n > 0 && n < o.size {
			o.size = n // a system call's argument takes a long
		}
		switch o.size {
		case 1, 2, 4, 8:
		default:
			return op{}, fmt.Errorf("the kernel has '%s' of %d bytes where the plan has %s", k.Decl, k.Size, p.Type)
		}
	}
	return o, nil
}

// decode reads the field out of a record.
func (o *op) decode(record []byte, v *Value) {
	*v = Value{}
	if o.offset+o.size > len(record) {
		v.State = Bad
		return
	}
	at := record[o.offset : o.offset+o.size : o.offset+o.size]
	switch o.kind {
	case opNumber:
		v.Num = o.digits.read(at)
	case opText:
		v.Data = untilNUL(at)
	case opBytes:
		v.Data = at
	case opTail:
		v.Data = record[o.offset:]
	case opMarker:
		// trace.c, tracing_mark_write: one newline is there always.
		v.Data = bytes.TrimSuffix(untilNUL(record[o.offset:]), []byte("\n"))
	case opDynText, opDynBytes, opDynStack:
		word := binary.LittleEndian.Uint32(at)
		start, length := o.from+int(word&0xffff), int(word>>16)
		if start+length > len(record) {
			v.State = Bad
			return
		}
		v.Data = record[start : start+length : start+length]
		if o.kind == opDynText {
			if length == 0 && o.canFault {
				v.State = Fault
				if o.mayEmpty {
					v.State = FaultOrEmpty
				}
			}
			v.Data = untilNUL(v.Data)
		}
		if o.kind == opDynStack {
			v.Data = addresses(v.Data)
		}
	}
}

// addresses returns a stack's addresses. A synthetic event's have their number
// before them (trace_events_hist.c, hist_trigger_elt_update), which is one more
// than there are if the kernel cut the deepest off (16 words is all it keeps).
func addresses(b []byte) []byte {
	if len(b) >= 8 && binary.LittleEndian.Uint64(b) <= uint64(len(b)/8) {
		return b[8:]
	}
	return b
}

func untilNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i:i]
	}
	return b
}

// common is where a record says which event it is of and who caused it.
type common struct {
	typeOffset int // of common_type, a u16
	pidOffset  int // of common_pid, an s32: the kernel's pid, which is a thread
}

func newCommon(f *target.Format) (common, error) {
	c := common{-1, -1}
	for _, k := range f.Common {
		switch {
		case k.Name == "common_type" && k.Size == 2:
			c.typeOffset = k.Offset
		case k.Name == "common_pid" && k.Size == 4:
			c.pidOffset = k.Offset
		}
	}
	if c.typeOffset < 0 || c.pidOffset < 0 {
		return c, errors.New("its format has no common_type or common_pid")
	}
	return c, nil
}

// id returns a record's event, -1 if it is too short to say.
func (c common) id(record []byte) int {
	if c.typeOffset+2 > len(record) {
		return -1
	}
	return int(binary.LittleEndian.Uint16(record[c.typeOffset:]))
}

func (c common) tid(record []byte) int32 {
	if c.pidOffset+4 > len(record) {
		return -1
	}
	return int32(binary.LittleEndian.Uint32(record[c.pidOffset:]))
}
