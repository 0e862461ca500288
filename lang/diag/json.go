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
			File: fileName(d.Source), Place: d.Source.Place(d.Span),
		}
		for _, n := range d.Notes {
			src := n.Source
			if src == nil {
				src = d.Source
			}
			note := jsonNote{Message: n.Message, Place: src.Place(n.Span)}
			if note.Place != nil {
				note.File = fileName(src)
			}
			j.Notes = append(j.Notes, note)
		}
		for _, f := range d.Fixes {
			j.Fixes = append(j.Fixes, jsonFix{Place: d.Source.Place(f.Span), Text: f.Text})
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
	*source.Place
	Message string     `json:"message"`
	Notes   []jsonNote `json:"notes,omitempty"`
	Fixes   []jsonFix  `json:"fixes,omitempty"`
}

type jsonNote struct {
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	*source.Place
}

type jsonFix struct {
	*source.Place
	Text string `json:"text"`
}

func fileName(src *source.Source) string {
	if src == nil {
		return ""
	}
	return src.Name()
}
