package judge

import (
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// histValue is what the kernel makes of a key, a value or a variable of a
// histogram (struct hist_field of kernel/trace/trace_events_hist.c).
type histValue struct {
	traits traits
	name   string        // what 'sort=' calls it
	field  *target.Field // nil if it is none of the record
	typ    string        // the text that is compared with a synthetic field's type
	size   int           // in bytes; of a key, rounded up to 8
	signed bool
	number uint64    // of a constant
	ref    *variable // of a reference
}

// traits are what the kernel notes of a value. Two histograms are the same only
// if their values have the same.
type traits uint32

const (
	isKey traits = 1 << iota
	isVariable
	isString
	isStack
	isHitcount
	isConstant
	isExpr
	isReference // to a variable
	isAlias     // a variable that is set to another one
	isTimestamp
	inUsecs
	isCPU
	isComm
	isExecname
	inHex
	asSymbol
	asSymbolOffset
	asSyscall
	byLog2
	byBuckets
	asPercent
	asGraph
)

func (t traits) has(any traits) bool { return t&any != 0 }

// stringBytes is the size of a text that has none of its own:
// MAX_FILTER_STR_VAL of kernel/trace/trace.h.
const stringBytes = 256

// plainModifiers are those that any field may have.
var plainModifiers = map[string]traits{
	"":           0,
	"hex":        inHex,
	"sym":        asSymbol,
	"sym-offset": asSymbolOffset,
	"syscall":    asSyscall,
	"log2":       byLog2,
	"usecs":      inUsecs,
}

// field returns the value of a field, or of one of the names that every event
// has (parse_field and create_hist_field).
func (m *maker) field(x command.HistField, t traits) (histValue, error) {
	f, t, err := m.lookUp(x, t)
	if err != nil {
		return histValue{}, err
	}
	v := histValue{traits: t, field: f, name: x.Name}
	switch {
	case t.has(isHitcount):
		v.typ, v.size = "u64", 8
	case t.has(isStack):
		v.typ, v.size = "unsigned long[]", m.j.t.Limits().HistStackBytes
		if f == nil {
			v.name = "common_stacktrace"
		}
		if !m.j.t.Has(target.CommonStacktrace) {
			v.name = ""
		}
	case t.has(byLog2 | byBuckets):
		inner, err := m.made(histValue{traits: t &^ (byLog2 | byBuckets), field: f, name: x.Name}, x)
		if err != nil {
			return histValue{}, err
		}
		v.typ, v.size = inner.typ, inner.size
	default:
		return m.made(v, x)
	}
	return v, nil
}

// made fills in the type of v by its traits and its field.
func (m *maker) made(v histValue, x command.HistField) (histValue, error) {
	f := v.field
	switch {
	case v.traits.has(isTimestamp):
		v.typ, v.size = "u64", 8
	case v.traits.has(isCPU):
		v.typ, v.size = "unsigned int", 4
	case v.traits.has(isComm):
		v.typ, v.size = "char[]", stringBytes
		v.traits |= isString
	case isText(f):
		v.typ, v.size = f.Decl, stringBytes
		v.traits |= isString
		if f.Loc == target.InPlace {
			v.size = f.Size
		}
	case m.isStackKey(f):
		v.typ, v.size = f.Decl, stringBytes
		v.traits |= isStack
	case f.Size == 1, f.Size == 2, f.Size == 4, f.Size == 8:
		v.typ, v.size, v.signed = f.Decl, f.Size, f.Signed
	default:
		return histValue{}, m.no("ENOMEM", "", x.Name, "'%s' is %s of %d bytes; a histogram takes numbers of 1, 2, 4 or 8, and text", x.Name, f.Decl, f.Size)
	}
	return v, nil
}

// isStackField reports whether a field, which only a synthetic event has, holds
// a stack trace.
func (j *Judge) isStackField(f *target.Field) bool {
	return f.Loc == target.DataLoc && strings.Contains(f.Decl, "long[") && j.t.Has(target.SyntheticStacks)
}

// isStackKey reports whether the kernel knows that a field holds a stack trace.
// One that does not check '.stacktrace' goes by that word alone.
func (m *maker) isStackKey(f *target.Field) bool {
	if m.j.isStackField(f) && m.j.t.Has(target.QuirkStacktraceModifier) {
		m.mislead("this kernel takes '%s' for a number, which says where the stack is; '%s.stacktrace' is the stack", f.Name, f.Name)
		return false
	}
	return m.j.isStackField(f)
}

// lookUp finds what a name with its modifier stands for; the field is nil if it
// is none of the record.
func (m *maker) lookUp(x command.HistField, t traits) (*target.Field, traits, error) {
	badModifier := func(reason string, args ...any) error {
		return m.no("EINVAL", "Invalid field modifier", "."+x.Modifier, reason, args...)
	}
	has := m.j.t.Has
	word, count, _ := strings.Cut(x.Modifier, "=")
	if plain, ok := plainModifiers[word]; ok && count == "" {
		t |= plain
	} else {
		switch word {
		case "buckets":
			if n, err := strconv.ParseUint(count, 0, 64); err != nil || n == 0 || !has(target.HistBuckets) {
				return nil, 0, badModifier("'.%s' needs a number from 1 on", x.Modifier)
			}
			t |= byBuckets
		case "execname":
			if x.Name != "common_pid" {
				return nil, 0, badModifier("'.execname' is for 'common_pid' alone")
			}
			t |= isExecname
		case "percent", "graph":
			if !has(target.HistPercent) || t.has(isVariable|isKey) {
				return nil, 0, badModifier("'.%s' is for values alone", word)
			}
			t |= map[string]traits{"percent": asPercent, "graph": asGraph}[word]
		case "stacktrace":
			if !has(target.HistStackVariable) {
				return nil, 0, badModifier("this kernel has no '.stacktrace'")
			}
			t |= isStack
		default:
			return nil, 0, badModifier("there is no modifier '.%s'", x.Modifier)
		}
	}
	if word == "stacktrace" && !has(target.QuirkStacktraceModifier) {
		if f := m.j.fieldOf(m.h.event, x.Name); f == nil || !m.j.isStackField(f) {
			return nil, 0, badModifier("'%s' is no stack trace", x.Name)
		}
	}
	switch {
	case x.Name == "common_timestamp":
		m.h.stamped = true
		return nil, t | isTimestamp, nil
	case x.Name == "common_stacktrace" && has(target.CommonStacktrace):
		return nil, t | isStack, nil
	case x.Name == "common_cpu":
		return nil, t | isCPU, nil
	case x.Name == "common_comm" && has(target.CommonComm):
		return nil, t | isComm, nil
	case x.Name == "hitcount" && has(target.HistHitcountKey):
		return nil, t | isHitcount, nil
	}
	f := m.j.fieldOf(m.h.event, x.Name)
	if f == nil || f.Size == 0 {
		generic := m.generic(x.Name)
		if generic == 0 {
			return nil, 0, m.noField(x.Name)
		}
		// The kernel has a field of no size for it, by which it tells 'cpu' from
		// 'common_cpu'.
		return &target.Field{Name: x.Name}, t | generic, nil
	}
	if word == "stacktrace" && !m.j.isStackField(f) {
		m.mislead("this kernel stops with a fault at the next %s: '%s' is no stack trace, and it does not check", m.h.event, x.Name)
	}
	return f, t, nil
}

// generic tells which of the names that every event has is meant by one that
// it has no field of; 0 if none.
func (m *maker) generic(name string) traits {
	switch {
	case name == "cpu" || name == "CPU":
		return isCPU
	case (name == "comm" || name == "COMM") && m.j.t.Has(target.CommonComm):
		return isComm
	case (name == "stacktrace" || name == "STACKTRACE") && m.j.t.Has(target.CommonStacktrace):
		return isStack
	}
	return 0
}

// fieldOf returns e's field of a name, its own before those of all events.
func (j *Judge) fieldOf(e *event, name string) *target.Field {
	format := j.formatOf(e)
	if f := format.Field(name); f != nil {
		return f
	}
	for i := range format.Common {
		if format.Common[i].Name == name {
			return &format.Common[i]
		}
	}
	return nil
}

// noField refuses a name that the event has not.
func (m *maker) noField(name string) *Refusal {
	names := []string{"common_timestamp", "common_cpu", "common_pid"}
	if m.j.t.Has(target.CommonStacktrace) {
		names = append(names, "common_stacktrace")
	}
	if m.j.t.Has(target.CommonComm) {
		names = append(names, "common_comm")
	}
	format := m.j.formatOf(m.h.event)
	for _, f := range append(format.Common, format.Fields...) {
		names = append(names, f.Name)
	}
	return m.no("EINVAL", "Couldn't find field", name, "event %s has no field '%s'", m.h.event, name).near(name, names)
}
