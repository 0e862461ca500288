package emit

import (
	"encoding/json"
	"io"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// JSONVersion is the version of JSON's form. It changes when a field changes
// its meaning or goes; new fields may come without.
const JSONVersion = 1

// JSON prints p as one object. docs/json.md describes it. The error is w's.
func JSON(w io.Writer, p *plan.Plan) error {
	out := jsonPlan{
		Version: JSONVersion, Target: p.Target, Instance: p.Instance,
		Writes: []jsonWrite{}, Streams: []jsonStream{}, Tables: []jsonTable{},
	}
	if p.Script != nil {
		out.Script = p.Script.Name()
	}
	for i := range p.Writes {
		out.Writes = append(out.Writes, newWrite(p, &p.Writes[i]))
	}
	for i := range p.Streams {
		out.Streams = append(out.Streams, newStream(p, &p.Streams[i]))
	}
	for i := range p.Tables {
		out.Tables = append(out.Tables, newTable(p, &p.Tables[i]))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

type jsonPlan struct {
	Version  int          `json:"version"`
	Script   string       `json:"script"`
	Target   string       `json:"target"`
	Instance string       `json:"instance,omitempty"`
	Writes   []jsonWrite  `json:"writes"`
	Streams  []jsonStream `json:"streams"`
	Tables   []jsonTable  `json:"tables"`
}

type jsonWrite struct {
	File    string           `json:"file"`
	Data    string           `json:"data"`
	Mode    string           `json:"mode"`
	Why     string           `json:"why,omitempty"`
	Needs   []target.Feature `json:"needs,omitempty"`
	Origins []jsonOrigin     `json:"origins,omitempty"`
	Undo    *jsonWrite       `json:"undo,omitempty"`
	Restore []jsonWrite      `json:"restore,omitempty"`
}

type jsonOrigin struct {
	Lo int `json:"lo"`
	Hi int `json:"hi"`
	*source.Place
}

type jsonStream struct {
	Name   string      `json:"name"`
	Group  string      `json:"group"`
	Event  string      `json:"event"`
	Fields []jsonField `json:"fields"`
	Print  string      `json:"print,omitempty"`
	*source.Place
}

type jsonField struct {
	Name   string      `json:"name"`
	Type   string      `json:"type"`
	Kernel string      `json:"kernel,omitempty"`
	Size   int         `json:"size,omitempty"`
	Signed bool        `json:"signed,omitempty"`
	Flags  bool        `json:"flags,omitempty"`
	Values []jsonValue `json:"values,omitempty"`

	Through    []string `json:"through,omitempty"`
	MayBeEmpty bool     `json:"may_be_empty,omitempty"`
}

type jsonValue struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

type jsonTable struct {
	Name   string       `json:"name"`
	Hists  []jsonHist   `json:"hists"`
	Keys   []jsonColumn `json:"keys"`
	Values []jsonColumn `json:"values"`
	Sort   []jsonSort   `json:"sort"`
	Paused bool         `json:"paused,omitempty"`
	*source.Place
}

type jsonHist struct {
	Group   string `json:"group"`
	Event   string `json:"event"`
	Command string `json:"command"`
}

type jsonColumn struct {
	jsonField
	Modifier string `json:"modifier,omitempty"`
	Log2     bool   `json:"log2,omitempty"`
	Bucket   uint64 `json:"bucket,omitempty"`
	Mean     bool   `json:"mean,omitempty"`
}

type jsonSort struct {
	Name string `json:"name"`
	Desc bool   `json:"desc,omitempty"`
}

func newWrite(p *plan.Plan, w *plan.Write) jsonWrite {
	out := jsonWrite{File: File(p, w), Data: w.Data, Mode: "append", Why: w.Why, Needs: w.Needs}
	if w.Mode == plan.Truncate {
		out.Mode = "truncate"
	}
	for _, o := range w.Origin {
		out.Origins = append(out.Origins, jsonOrigin{o.Lo, o.Hi, p.Script.Place(o.Span)})
	}
	if w.Undo != nil {
		u := newWrite(p, w.Undo)
		out.Undo = &u
	}
	for i := range w.Restore {
		out.Restore = append(out.Restore, newWrite(p, &w.Restore[i]))
	}
	return out
}

func newStream(p *plan.Plan, s *plan.Stream) jsonStream {
	out := jsonStream{
		Name: s.Name, Group: s.Group, Event: s.Event, Print: s.Print,
		Fields: []jsonField{}, Place: p.Script.Place(s.Span),
	}
	for _, f := range s.Fields {
		field := newField(f.Name, f.Kernel, f.Type)
		field.Through, field.MayBeEmpty = f.Through, f.MayBeEmpty
		out.Fields = append(out.Fields, field)
	}
	return out
}

// newField describes a field or column; t may be nil.
func newField(name, kernel string, t types.Type) jsonField {
	j := jsonField{Name: name, Kernel: kernel}
	if t == nil {
		return j
	}
	j.Type, j.Size, j.Signed = t.String(), types.Size(t), types.Signed(t)
	if names := types.NamesOf(t); names != nil {
		j.Flags = names.Flags
		for _, n := range names.List {
			j.Values = append(j.Values, jsonValue(n))
		}
	}
	return j
}

func newTable(p *plan.Plan, t *plan.Table) jsonTable {
	out := jsonTable{
		Name: t.Name, Paused: t.Paused, Place: p.Script.Place(t.Span),
		Hists: []jsonHist{}, Keys: []jsonColumn{}, Values: []jsonColumn{}, Sort: []jsonSort{},
	}
	for _, h := range t.Hists {
		out.Hists = append(out.Hists, jsonHist(h))
	}
	for _, c := range t.Keys {
		out.Keys = append(out.Keys, newColumn(c))
	}
	for _, c := range t.Values {
		out.Values = append(out.Values, newColumn(c))
	}
	for _, s := range t.Sort {
		out.Sort = append(out.Sort, jsonSort(s))
	}
	return out
}

func newColumn(c plan.Column) jsonColumn {
	return jsonColumn{newField(c.Name, c.Kernel, c.Type), c.Modifier, c.Log2, c.Bucket, c.Mean}
}
