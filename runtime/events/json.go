package events

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/eptrace/ep/lang/types"
)

// JSONVersion is the version of the lines that JSON writes. It goes up when a
// field changes its meaning or goes; new fields and new kinds of lines may
// come without.
const JSONVersion = 1

// JSON renders records as lines of JSON, which docs/output.md describes: a
// header first, then a line each for records and losses, told apart by their
// first key. Its methods may not be called from several goroutines at once.
type JSON struct {
	Names Names
	Times TimeForm
}

// AppendHeader appends the first line, which says what the others are.
func (j *JSON) AppendHeader(dst []byte, streams []*Stream) []byte {
	dst = append(dst, `{"version":`...)
	dst = strconv.AppendInt(dst, JSONVersion, 10)
	clock := ""
	if j.Times.Clock != nil {
		clock = j.Times.Clock.Name()
	}
	if j.Times.Wall {
		clock = "wall"
	}
	dst = append(dst, `,"clock":`...)
	dst = appendJSONString(dst, []byte(clock))
	dst = append(dst, `,"events":[`...)
	for i, s := range streams {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"name":`...)
		dst = appendJSONString(dst, []byte(s.Name))
		dst = append(dst, `,"fields":[`...)
		for k, f := range s.Fields {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, `{"name":`...)
			dst = appendJSONString(dst, []byte(f.Name))
			dst = append(dst, `,"type":`...)
			dst = appendJSONString(dst, []byte(f.Type.String()))
			if n := types.NamesOf(f.Type); n != nil && n.Flags {
				dst = append(dst, `,"flags":true`...)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, "]}"...)
	}
	return append(dst, "]}\n"...)
}

// AppendRecord appends the line of r, and before it that of records that were
// lost, if some were.
func (j *JSON) AppendRecord(dst []byte, r *Record) []byte {
	if r.Lost > 0 || r.LostSome {
		dst = j.AppendLost(dst, r.CPU, r.Lost, r.LostSome)
	}
	dst = append(dst, r.Stream.jsonHead...)
	dst = j.appendTime(dst, r.Time)
	dst = append(dst, `,"cpu":`...)
	dst = strconv.AppendInt(dst, int64(r.CPU), 10)
	dst = append(dst, `,"tid":`...)
	dst = strconv.AppendInt(dst, int64(r.TID), 10)
	if r.Comm != "" {
		dst = append(dst, `,"comm":`...)
		dst = appendJSONString(dst, []byte(r.Comm))
	}
	if r.Snapshot {
		dst = append(dst, `,"snapshot":true`...)
	}
	dst = append(dst, `,"fields":{`...)
	for i := range r.Stream.Fields {
		f := &r.Stream.Fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, f.json...)
		dst = f.show.appendJSON(dst, &r.Values[i], &j.Names)
	}
	return append(dst, "}}\n"...)
}

// AppendLost appends the line that says how many records of a CPU are missing.
// "some":true says that the kernel did not count all of them.
func (j *JSON) AppendLost(dst []byte, cpu int, lost uint64, some bool) []byte {
	dst = append(dst, `{"lost":`...)
	dst = strconv.AppendUint(dst, lost, 10)
	dst = append(dst, `,"cpu":`...)
	dst = strconv.AppendInt(dst, int64(cpu), 10)
	if some {
		dst = append(dst, `,"some":true`...)
	}
	return append(dst, "}\n"...)
}

// AppendError appends the line of an error that came while reading.
func (j *JSON) AppendError(dst []byte, err error) []byte {
	dst = append(dst, `{"error":`...)
	dst = appendJSONString(dst, []byte(err.Error()))
	return append(dst, "}\n"...)
}

// AppendLosses appends the last line: what was read and lost, by CPU.
func (j *JSON) AppendLosses(dst []byte, losses []Loss) []byte {
	dst = append(dst, `{"losses":[`...)
	for i, l := range losses {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"cpu":`...)
		dst = strconv.AppendInt(dst, int64(l.CPU), 10)
		for _, n := range []struct {
			key   string
			value uint64
		}{{"read", l.Read}, {"overrun", l.Overrun}, {"dropped", l.Dropped}, {"bad", l.Bad}} {
			dst = append(dst, `,"`...)
			dst = append(dst, n.key...)
			dst = append(dst, `":`...)
			dst = strconv.AppendUint(dst, n.value, 10)
		}
		if !l.Exact {
			dst = append(dst, `,"some":true`...)
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}\n"...)
}

// appendTime appends ns as a number, or the time of day as RFC 3339 has it.
func (j *JSON) appendTime(dst []byte, t uint64) []byte {
	if j.Times.Wall && j.Times.Clock != nil {
		if wall, ok := j.Times.Clock.Wall(t); ok {
			dst = append(dst, '"')
			dst = wall.UTC().AppendFormat(dst, time.RFC3339Nano)
			return append(dst, '"')
		}
	}
	return strconv.AppendUint(dst, t, 10)
}

// appendJSON appends a value. What JSON type it has follows from the field's
// type alone, save for null: a value that is not there.
func (x *show) appendJSON(dst []byte, v *Value, n *Names) []byte {
	if v.State != Present {
		return append(dst, "null"...)
	}
	switch x.as {
	case asText:
		return appendJSONString(dst, v.Data)
	case asArray:
		dst = append(dst, '[')
		for i := 0; i+x.elem.size <= len(v.Data); i += x.elem.size {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = x.elem.appendJSONNumber(dst, &Value{Num: x.elem.read(v.Data[i : i+x.elem.size])}, n)
		}
		return append(dst, ']')
	case asStack:
		// As the kernel has it: where the event happened comes first.
		dst = append(dst, '[')
		for i := range v.depth() {
			if i > 0 {
				dst = append(dst, ',')
			}
			start := len(dst)
			dst = quotedFrom(v.appendFrame(append(dst, '"'), i, n), start)
		}
		return append(dst, ']')
	case asBytes:
		dst = append(dst, '"')
		dst = appendHexBytes(dst, v.Data)
		return append(dst, '"')
	}
	return x.appendJSONNumber(dst, v, n)
}

// appendJSONNumber appends a number: as one if it counts something, as text if
// people know it by a name or a form.
func (x *show) appendJSONNumber(dst []byte, v *Value, n *Names) []byte {
	switch x.as {
	case asDec, asDuration, asErrno:
		return x.appendDec(dst, v.Num)
	case asBool:
		return strconv.AppendBool(dst, v.Num != 0)
	case asChar:
		return appendJSONString(dst, []byte{byte(v.Num)})
	}
	start := len(dst)
	return quotedFrom(x.appendNumber(append(dst, '"'), v, n), start)
}

// quotedFrom ends a JSON string that begins at start with its quote.
func quotedFrom(dst []byte, start int) []byte {
	for _, c := range dst[start+1:] {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' { // a name out of a print format
			return appendJSONString(dst[:start], bytes.Clone(dst[start+1:]))
		}
	}
	return append(dst, '"')
}

// appendJSONString appends text as a JSON string. What is no UTF-8 becomes
// U+FFFD.
func appendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
