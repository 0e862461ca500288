package events

import (
	"bytes"
	"fmt"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// Stream is one event whose records are read, ready to decode and to render
// them. It does not change after it is made and may be used from several
// goroutines.
type Stream struct {
	Name   string // as the script calls it
	Group  string // the kernel's names
	Event  string
	ID     int // common_type of its records
	Fields []Field

	ops      []op
	through  [][]op // for each field, what tells whether it could be read
	common   common
	form     []piece // how the script wants a line; nil for the default
	jsonHead []byte  // {"event":NAME,"time":
}

// Field is one field of a Stream.
type Field struct {
	Name string
	Type types.Type // what a value means

	show show
	text []byte // "name="
	json []byte // `"name":`
}

// Record is one record of a Stream. It and all that it holds is good until the
// next one is asked for; Clone makes one that lasts.
type Record struct {
	Stream *Stream
	Time   uint64 // in units of the trace clock, mostly ns; Clock tells more
	CPU    int
	TID    int32
	Comm   string  // "" if it was not asked for
	Values []Value // one for each of Stream.Fields

	// Snapshot says that it was read from a snapshot.
	Snapshot bool

	// Lost is how many records of this CPU were overwritten since the record
	// of it that was returned before this one, all events of the instance
	// counted. LostSome says that there were more, whose number the kernel did
	// not tell here; Reader.Losses knows it.
	Lost     uint64
	LostSome bool
}

// Clone returns a copy of r that does not change.
func (r *Record) Clone() *Record {
	c := *r
	c.Values = make([]Value, len(r.Values))
	copy(c.Values, r.Values)
	for i := range c.Values {
		c.Values[i].Data = bytes.Clone(c.Values[i].Data)
	}
	return &c
}

// Value returns the value of the field of that name. If the event has no such
// field, its State is Bad.
func (r *Record) Value(field string) Value {
	for i := range r.Stream.Fields {
		if r.Stream.Fields[i].Name == field {
			return r.Values[i]
		}
	}
	return Value{State: Bad}
}

// Value is the value of one field. A number is in Num; text, arrays, stacks and
// structs are in Data.
type Value struct {
	Num   uint64 // in this machine's order of bytes, extended by its sign to 64 bits
	Data  []byte // text without its NUL; else the bytes as the kernel has them; a part of the page
	State State

	// Symbols is what the kernel itself called a ksym, or the addresses of a
	// stack, of which Data then has nothing. Records have none.
	Symbols []string
}

// State says whether a Value is there.
type State uint8

// The states.
const (
	Present      State = iota
	Fault              // the kernel could not read the memory; it prints "(fault)"
	FaultOrEmpty       // the kernel does not tell whether it could not read the text, or it is empty
	Bad                // the record is too short for the field, or points outside of itself
)

// Int returns a number's value as a signed one.
func (v Value) Int() int64 { return int64(v.Num) }

// Text returns a copy of what Data holds.
func (v Value) Text() string { return string(v.Data) }

// NewStream makes ready to decode the records of s, whose format file on the
// machine that makes them says f. A stream without fields gets all of f's. The
// error says which field the event has not, or has otherwise than s believes.
func NewStream(s plan.Stream, f *target.Format) (*Stream, error) {
	out := &Stream{Name: s.Name, Group: s.Group, Event: s.Event, ID: f.ID}
	if out.Name == "" {
		out.Name = s.Group + "." + s.Event
	}
	out.jsonHead = append(appendJSONString([]byte(`{"event":`), []byte(out.Name)), `,"time":`...)
	fields := s.Fields
	if len(fields) == 0 {
		for _, k := range f.Fields {
			fields = append(fields, plan.Field{Name: k.Name, Type: k.Type, Kernel: k.Decl})
		}
	}
	var err error
	if out.common, err = newCommon(f); err != nil {
		return nil, fmt.Errorf("event '%s.%s': %w", s.Group, s.Event, err)
	}
	for _, field := range fields {
		k := f.Field(field.Name)
		if k == nil {
			return nil, fmt.Errorf("event '%s.%s' has no field '%s'", s.Group, s.Event, field.Name)
		}
		o, err := newOp(field, k)
		if err != nil {
			return nil, fmt.Errorf("event '%s.%s': field '%s': %w", s.Group, s.Event, field.Name, err)
		}
		through, err := throughOps(field, f)
		if err != nil {
			return nil, fmt.Errorf("event '%s.%s': field '%s': %w", s.Group, s.Event, field.Name, err)
		}
		out.ops, out.through = append(out.ops, o), append(out.through, through)
		out.Fields = append(out.Fields, newField(field.Name, field.Type))
	}
	out.form, err = parseForm(s.Print, out.Fields)
	if err != nil {
		return nil, fmt.Errorf("event '%s.%s': %w", s.Group, s.Event, err)
	}
	return out, nil
}

func newField(name string, t types.Type) Field {
	return Field{
		Name: name, Type: t, show: newShow(t),
		text: append([]byte(name), '='),
		json: append(appendJSONString(nil, []byte(name)), ':'),
	}
}

// Decode reads one record's bytes into r: Stream, TID and Values, whose room it
// uses again. The values are parts of record. Any bytes will do; what they do
// not hold is Bad.
func (s *Stream) Decode(record []byte, r *Record) {
	r.Stream = s
	r.TID = s.common.tid(record)
	if cap(r.Values) < len(s.ops) {
		r.Values = make([]Value, len(s.ops), max(len(s.ops), 16))
	}
	r.Values = r.Values[:len(s.ops)]
	for i := range s.ops {
		s.ops[i].decode(record, &r.Values[i])
		for j := range s.through[i] {
			if r.Values[i].State != Present {
				break
			}
			if s.through[i][j].unread(record) {
				r.Values[i] = Value{State: Fault}
			}
		}
	}
}
