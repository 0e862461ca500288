package judge

import (
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// makeSynthetic makes a synthetic event (__create_synth_event of
// kernel/trace/trace_events_synth.c). The kernel looks at no other event's name.
func (j *Judge) makeSynthetic(c *command.Synthetic, line string) (misleads []string, err error) {
	if j.synthNamed(c.Name) != nil {
		return nil, no("EEXIST", "Event already exists", "there is a synthetic event '%s' already", c.Name).at(line, c.Name)
	}
	most := j.t.Limits().SynthFields
	if len(c.Fields) > most {
		return nil, no("EINVAL", "Too many fields", "%d fields; the kernel takes %d", len(c.Fields), most)
	}
	format := &target.Format{System: "synthetic", Name: c.Name, Common: j.commonFields()}
	seen := map[string]bool{}
	for _, f := range c.Fields {
		if strings.HasSuffix(f.Type, "char[]") && !j.t.Has(target.SyntheticStrings) {
			return nil, no("EINVAL", "Invalid type", "this kernel has no synthetic field of the type '%s'", f.Type).at(line, f.Type)
		}
		if seen[f.Name] {
			misleads = append(misleads, sprintf("'%s' is there twice: a histogram, a filter and an eprobe see one of them", f.Name))
		}
		seen[f.Name] = true
		misleads = append(misleads, misleadName(f.Name)...)
		format.Fields = append(format.Fields, j.synthField(f))
	}
	e := &event{name: name{"synthetic", c.Name}, kind: synthetic, format: format, synth: c}
	j.add(e)
	if j.quiet {
		return nil, nil
	}
	misleads = append(misleads, j.misleadSynthetic(e)...)
	return misleads, nil
}

// commonFields returns the fields that all events have, taken from one of the
// kernel's own.
func (j *Judge) commonFields() []target.Field {
	if f, err := j.t.Format("sched", "sched_switch"); err == nil {
		return f.Common
	}
	return nil
}

// synthSizes are the bytes of a field's value, by its type.
var synthSizes = map[string]int{
	"s8": 1, "u8": 1, "char": 1, "unsigned char": 1, "bool": 1,
	"s16": 2, "u16": 2,
	"s32": 4, "u32": 4, "int": 4, "unsigned int": 4, "pid_t": 4, "gfp_t": 4,
	"s64": 8, "u64": 8,
}

// synthField returns the field of the record that f is (parse_synth_field).
func (j *Judge) synthField(f command.SynthField) target.Field {
	t := target.Field{Name: f.Name, Decl: f.Type, Size: synthSizes[f.Type]}
	_, size, isChars := strings.Cut(f.Type, "char[")
	switch {
	case f.Type == "long" || f.Type == "unsigned long":
		t.Size = j.t.Arch().WordSize()
	case isChars && size != "]":
		t.Size, _ = strconv.Atoi(strings.TrimSuffix(size, "]"))
		t.Array = true
	case isChars, strings.Contains(f.Type, "long["):
		t.Decl, t.Size, t.Array, t.Loc = "__data_loc "+f.Type, 8, true, target.DataLoc
	}
	t.Signed = !strings.HasPrefix(t.Decl, "u") && t.Decl != "gfp_t"
	return t
}
