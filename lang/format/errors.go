package format

import (
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// changed says that formatting failed.
func changed(src *source.Source) diag.Diagnostic {
	return diag.Diagnostic{
		Severity: diag.Error,
		Code:     diag.FormatFailed,
		Source:   src,
		Span:     source.NoSpan,
		Message:  "internal error: formatting would change the script; it is left unchanged",
		Notes:    []diag.Note{{Span: source.NoSpan, Message: "please report this with the script"}},
	}
}
