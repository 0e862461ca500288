package source

// Place is a Span for other programs: in lines and columns, which begin at 1, and
// in bytes, which begin at 0. Ends are exclusive. Embedded by pointer in what is
// written as JSON, a nil one leaves its fields out.
type Place struct {
	Line    int `json:"line"`
	Col     int `json:"col"`
	EndLine int `json:"endLine"`
	EndCol  int `json:"endCol"`
	Start   Pos `json:"start"`
	End     Pos `json:"end"`
}

// Place returns the place of sp in s, nil if s is nil or sp is not of a script.
func (s *Source) Place(sp Span) *Place {
	if s == nil || !sp.Valid() {
		return nil
	}
	from, to := s.Position(sp.Start), s.Position(sp.End)
	return &Place{from.Line, from.Col, to.Line, to.Col, sp.Start, sp.End}
}
