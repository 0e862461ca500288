package command

import "github.com/eptrace/ep/lang/source"

// Hist is a hist trigger of an event.
type Hist struct {
	Event      EventName // the event that it sits on
	Remove     bool      // `!hist:…`, the removal of the same
	Keys       []HistExpr
	Vals       []HistExpr
	Vars       []HistVar
	Sort       []HistSort
	Size       int    // entries; 0 is the kernel's default of 2048
	Name       string // of a hist that several events share
	Clock      string
	State      string // "", "pause", "continue", "clear"
	NoHitcount bool
	Actions    []HistAction
	If         Cond
	Span       source.Span // what the whole line comes from
}

// HistVar is `NAME=EXPR`: a value kept for the entry of its key.
type HistVar struct {
	Name string
	Expr HistExpr
	Span source.Span
}

// HistSort is one sort key.
type HistSort struct {
	Name string
	Desc bool
	Span source.Span
}

// HistExpr is a key, a value, or what a variable is set to.
type HistExpr interface{ histExpr() }

type (
	// HistField is a field, with its modifier if it has one: `pid`,
	// `common_timestamp.usecs`, `lat.buckets=10`. As an action's parameter it
	// may be another event's, `SYS.EV.FIELD`.
	HistField struct {
		Event    EventName
		Name     string
		Modifier string // without the dot
		Span     source.Span
	}
	// HistRef is `$NAME`, or `SYS.EV.$NAME` if Event is set.
	HistRef struct {
		Event EventName
		Name  string
		Span  source.Span
	}
	// HistNum is a whole constant.
	HistNum struct {
		N    uint64
		Span source.Span
	}
	// HistBinary is `X Op Y` with Op one of + - * /.
	HistBinary struct {
		X    HistExpr
		Op   byte
		Y    HistExpr
		Span source.Span
	}
	// HistNeg is `-(X)`.
	HistNeg struct {
		X    HistExpr
		Span source.Span
	}
)

func (HistField) histExpr()   {}
func (HistRef) histExpr()     {}
func (HistNum) histExpr()     {}
func (*HistBinary) histExpr() {}
func (*HistNeg) histExpr()    {}

// HistAction is `HANDLER.ACTION`.
type HistAction struct {
	Handler string    // onmatch, onmax or onchange
	Match   EventName // of onmatch
	Var     string    // of onmax and onchange, without the dollar
	Do      string    // trace, save or snapshot
	Synth   string    // the synthetic event of trace
	Params  []HistExpr
	Span    source.Span
}
