package events

import (
	"errors"
	"fmt"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// piece is a part of the form of a line: text, a value of the context, or a
// field.
//
//	FORM  := {TEXT | "{{" | "}}" | "{" NAME [":" TYPE] "}"}
//	NAME  := a field | "$time" | "$cpu" | "$tid" | "$comm"
type piece struct {
	text  []byte
	what  pieceKind
	field int        // index in Stream.Fields
	show  show       // of pieceField
	from  digits     // of the field's number
	scale types.Unit // the unit that the field's number has
}

type pieceKind uint8

const (
	pieceText pieceKind = iota
	pieceField
	pieceTime
	pieceCPU
	pieceTID
	pieceComm
)

// parseForm takes the print clause of a stream apart; "" gives nil. The
// checker has seen it: an error is about a plan that did not come from there.
func parseForm(form string, fields []Field) ([]piece, error) {
	var out []piece
	var text []byte
	flush := func() {
		if len(text) > 0 {
			out = append(out, piece{text: appendPlainLines(nil, text)})
			text = nil
		}
	}
	for i := 0; i < len(form); i++ {
		c := form[i]
		if (c == '{' || c == '}') && i+1 < len(form) && form[i+1] == c {
			text = append(text, c)
			i++
			continue
		}
		switch c {
		case '}':
			return nil, errors.New("a '}' without its partner in the form of a line")
		case '{':
			length := strings.IndexByte(form[i:], '}')
			if length < 0 {
				return nil, errors.New("a '{' without its partner in the form of a line")
			}
			flush()
			p, err := parsePlace(form[i+1:i+length], fields)
			if err != nil {
				return nil, err
			}
			out = append(out, p)
			i += length
		default:
			text = append(text, c)
		}
	}
	flush()
	return out, nil
}

// parsePlace reads what stands between braces.
func parsePlace(text string, fields []Field) (piece, error) {
	name, typ, typed := strings.Cut(text, ":")
	p := piece{field: -1}
	for i := range fields {
		if fields[i].Name == name {
			x := fields[i].show
			p = piece{what: pieceField, field: i, show: x, from: x.digits, scale: x.unit}
		}
	}
	switch name {
	case "$time":
		p = piece{what: pieceTime}
	case "$cpu":
		p = piece{what: pieceCPU}
	case "$tid":
		p = piece{what: pieceTID}
	case "$comm":
		p = piece{what: pieceComm}
	}
	if p.what == pieceText {
		return p, fmt.Errorf("the form of a line names '%s', which is no field", name)
	}
	if typed && p.what == pieceField {
		t, ok := types.Basic(typ)
		if !ok {
			return p, fmt.Errorf("the form of a line has '%s', which is no type", typ)
		}
		p.show, p.scale = p.show.recast(t)
	}
	return p, nil
}

// value returns the field's value as the piece shows it.
func (p *piece) value(v Value) Value {
	x := &p.show
	if v.State != Present || x.as >= asText {
		return v
	}
	if x.as == asUnit {
		from, to := p.scale.NS(), x.unit.NS()
		switch {
		case from < to && x.signed:
			v.Num = uint64(int64(v.Num) / int64(to/from))
		case from < to:
			v.Num /= to / from
		default:
			v.Num *= from / to
		}
		return v
	}
	v.Num = x.fromKernel(p.from.toKernel(v.Num))
	return v
}
