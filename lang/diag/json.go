package diag

import (
	"encoding/json"
	"io"

	"github.com/eptrace/ep/lang/source"
)

// JSONVersion is the version of JSON's form. It changes when a field changes
// its meaning or goes; new fields may come without.
const JSONVersion = 1

// JSON prints l for a program, as one object:
//
//	{
//	  "version": 1,
//	  "diagnostics": [
//	    {
//	      "severity": "error", "code": "unknown-field", "file": "sched.ep",
//	      "line": 4, "col": 12, "endLine": 4, "endCol": 20, "start": 77, "end": 85,
//	      "message": "…", "notes": [{"message": "…"}], "fixes": [{…, "text": "prev_pid"}]
//	    }
//	  ]
//	}
//
// Line, col, start and end are those of source.Position and source.Span: lines
// and columns count from 1, columns and offsets are bytes, ends are exclusive.
// All six are absent where there is no place, and "file" where there is no
// script. "notes" and "fixes" are absent where there are none; a note has a
// place, and then a file, if it is about one. The error is w's.
func JSON(w io.Writer, l List) error {
	out := jsonList{Version: JSONVersion, Diagnostics: []jsonDiagnostic{}}
	for _, d := range l {
		j := jsonDiagnostic{
			Severity: d.Severity.String(), Code: d.Code, Message: d.Message,
			File: fileName(d.Source), jsonPlace: newPlace(d.Source, d.Span),
		}
		for _, n := range d.Notes {
			src := n.Source
			if src == nil {
				src = d.Source
			}
			note := jsonNote{Message: n.Message, jsonPlace: newPlace(src, n.Span)}
			if note.jsonPlace != nil {
				note.File = fileName(src)
			}
			j.Notes = append(j.Notes, note)
		}
		for _, f := range d.Fixes {
			j.Fixes = append(j.Fixes, jsonFix{jsonPlace: newPlace(d.Source, f.Span), Text: f.Text})
		}
		out.Diagnostics = append(out.Diagnostics, j)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

type jsonList struct {
	Version     int              `json:"version"`
	Diagnostics []jsonDiagnostic `json:"diagnostics"`
}

type jsonDiagnostic struct {
	Severity string `json:"severity"`
	Code     Code   `json:"code"`
	File     string `json:"file,omitempty"`
	*jsonPlace
	Message string     `json:"message"`
	Notes   []jsonNote `json:"notes,omitempty"`
	Fixes   []jsonFix  `json:"fixes,omitempty"`
}

type jsonNote struct {
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	*jsonPlace
}

type jsonFix struct {
	*jsonPlace
	Text string `json:"text"`
}

// jsonPlace is embedded by pointer: a nil one leaves its fields out.
type jsonPlace struct {
	Line    int        `json:"line"`
	Col     int        `json:"col"`
	EndLine int        `json:"endLine"`
	EndCol  int        `json:"endCol"`
	Start   source.Pos `json:"start"`
	End     source.Pos `json:"end"`
}

func newPlace(src *source.Source, sp source.Span) *jsonPlace {
	if src == nil || !sp.Valid() {
		return nil
	}
	from, to := src.Position(sp.Start), src.Position(sp.End)
	return &jsonPlace{from.Line, from.Col, to.Line, to.Col, sp.Start, sp.End}
}

func fileName(src *source.Source) string {
	if src == nil {
		return ""
	}
	return src.Name()
}
