package events

import (
	"strconv"
	"time"
)

// Text renders records as lines for people. Its methods may not be called from
// several goroutines at once.
//
//	LINE  := time " [" cpu "] " comm "-" tid " " event {" " name "=" value} "\n"
//
// docs/output.md tells how values look.
type Text struct {
	Names Names
	Times TimeForm
}

// TimeForm is how the time of a record is written.
type TimeForm struct {
	// Wall makes it the time of day, of what the reader's clock says; else it
	// is seconds of the trace clock.
	Wall bool
	// Clock is that of the records; needed for Wall, and to know that the
	// clock counts something else than time. nil is a clock of ns.
	Clock *Clock
	// Zone is where the time of day is; nil is UTC. JSON has UTC always.
	Zone *time.Location
}

// AppendRecord appends the line of r, and before it that of records that were
// lost, if some were.
func (t *Text) AppendRecord(dst []byte, r *Record) []byte {
	if r.Lost > 0 || r.LostSome {
		dst = t.AppendLost(dst, r.CPU, r.Lost, r.LostSome)
	}
	if r.Stream.form != nil {
		return append(t.appendForm(dst, r), '\n')
	}
	dst = t.Times.append(dst, r.Time)
	dst = append(dst, " ["...)
	dst = strconv.AppendInt(dst, int64(r.CPU), 10)
	dst = append(dst, "] "...)
	at := len(dst)
	dst = appendComm(dst, r.Comm)
	dst = append(dst, '-')
	dst = strconv.AppendInt(dst, int64(r.TID), 10)
	for len(dst) < at+taskWidth {
		dst = append(dst, ' ')
	}
	dst = append(dst, ' ')
	dst = append(dst, r.Stream.Name...)
	for i := range r.Stream.Fields {
		f := &r.Stream.Fields[i]
		dst = append(dst, ' ')
		dst = append(dst, f.text...)
		dst = f.show.appendValue(dst, &r.Values[i], &t.Names, true)
	}
	return append(dst, '\n')
}

// taskWidth keeps events in one column for most names of tasks.
const taskWidth = 20

// AppendLost appends the line that says how many records of a CPU are missing.
func (t *Text) AppendLost(dst []byte, cpu int, lost uint64, some bool) []byte {
	dst = append(dst, "-- "...)
	switch {
	case lost > 0 && some:
		dst = strconv.AppendUint(append(dst, "more than "...), lost, 10)
	case some:
		dst = append(dst, "some"...)
	default:
		dst = strconv.AppendUint(dst, lost, 10)
	}
	dst = append(dst, " lost on CPU "...)
	dst = strconv.AppendInt(dst, int64(cpu), 10)
	return append(dst, " --\n"...)
}

func (t *Text) appendForm(dst []byte, r *Record) []byte {
	for i := range r.Stream.form {
		p := &r.Stream.form[i]
		switch p.what {
		case pieceText:
			dst = append(dst, p.text...)
		case pieceTime:
			dst = t.Times.append(dst, r.Time)
		case pieceCPU:
			dst = strconv.AppendInt(dst, int64(r.CPU), 10)
		case pieceTID:
			dst = strconv.AppendInt(dst, int64(r.TID), 10)
		case pieceComm:
			dst = appendComm(dst, r.Comm)
		case pieceField:
			v := p.value(r.Values[p.field])
			dst = p.show.appendValue(dst, &v, &t.Names, false)
		}
	}
	return dst
}

func appendComm(dst []byte, comm string) []byte {
	if comm == "" {
		return append(dst, "<...>"...) // as the kernel writes what it does not know
	}
	for i := range len(comm) {
		if c := comm[i]; c < ' ' || c >= 0x7f {
			return appendPlain(dst, []byte(comm))
		}
	}
	return append(dst, comm...)
}

// append appends the time t of a record: 12.345678, or 15:04:05.000000.
func (f *TimeForm) append(dst []byte, t uint64) []byte {
	if f.Clock != nil && !f.Clock.IsTime() {
		return strconv.AppendUint(dst, t, 10)
	}
	if f.Wall && f.Clock != nil {
		if wall, ok := f.Clock.Wall(t); ok {
			zone := f.Zone
			if zone == nil {
				zone = time.UTC
			}
			return wall.In(zone).AppendFormat(dst, "15:04:05.000000")
		}
	}
	us := t / 1000
	dst = strconv.AppendUint(dst, us/1e6, 10)
	frac := us % 1e6
	dst = append(dst, '.')
	for div := uint64(1e5); div > 0; div /= 10 {
		dst = append(dst, byte('0'+frac/div%10))
	}
	return dst
}
