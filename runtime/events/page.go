package events

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Layout is how a kernel lays out the pages of its ring buffer, which it calls
// sub-buffers. Each holds records of one CPU:
//
//	PAGE   := time commit EVENT… [long lost] zeros
//	time   := u64, the time stamp that the first event's delta is from
//	commit := long, the bytes of all events, and two flags
//	EVENT  := u32 (type_len:5, time_delta:27), then by type_len
//	    0       u32 length (of itself and the data), data
//	    1…28    data of 4*type_len bytes
//	    29      u32 length: a record that was taken back; with time_delta 0 the rest of the page is empty
//	    30      u32: time_delta is the low 27 bits of a delta of 59
//	    31      u32: the same, of an absolute time
//
// kernel/trace/ring_buffer.c and include/linux/ring_buffer.h define it. ep reads
// pages of little-endian machines only.
type Layout struct {
	commit   int // byte offset
	data     int // byte offset
	longSize int // of the kernel's long: 4 or 8 bytes
	size     int // of a whole page, bytes
}

// Size returns how many bytes a page has, its header included.
func (l Layout) Size() int { return l.size }

// maxPageBytes is what no page exceeds: the kernel's write index has 20 bits
// (ring_buffer.c, RB_WRITE_MASK).
const maxPageBytes = 1 << 20

// ParseLayout reads the files events/header_page and events/header_event of
// an instance. The first says so:
//
//	⇥field: u64 timestamp;⇥offset:0;⇥size:8;⇥signed:0;
//	⇥field: local_t commit;⇥offset:8;⇥size:8;⇥signed:1;
//	⇥field: int overwrite;⇥offset:8;⇥size:1;⇥signed:1;
//	⇥field: char data;⇥offset:16;⇥size:4080;⇥signed:1;
//
// The error says which line is missing or says what ep does not know.
func ParseLayout(headerPage, headerEvent []byte) (Layout, error) {
	l := Layout{}
	for line := range strings.Lines(string(headerPage)) {
		decl, rest, _ := strings.Cut(strings.TrimSpace(line), ";")
		place := map[string]int{}
		for part := range strings.SplitSeq(rest, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
			if n, err := strconv.Atoi(value); err == nil {
				place[key] = n
			}
		}
		switch decl[strings.LastIndexByte(decl, ' ')+1:] {
		case "timestamp":
			if place["offset"] != 0 || place["size"] != 8 {
				return Layout{}, fmt.Errorf("header_page: %q: want 8 bytes at 0", line)
			}
		case "commit":
			l.commit, l.longSize = place["offset"], place["size"]
		case "data":
			l.data = place["offset"]
			l.size = place["offset"] + place["size"]
		}
	}
	if l.longSize != 4 && l.longSize != 8 || l.commit < 8 || l.data < l.commit+l.longSize || l.size <= l.data || l.size > maxPageBytes {
		return Layout{}, fmt.Errorf("header_page says what is not known: %q", headerPage)
	}
	return l, checkEventHeader(headerEvent)
}

// checkEventHeader makes sure that events begin as Page believes.
func checkEventHeader(text []byte) error {
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			got[strings.TrimSpace(key)] = strings.TrimSpace(value)
		} else if key, value, ok := strings.Cut(line, "type_len  =="); ok {
			got[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	for _, want := range [][2]string{
		{"type_len", "5 bits"}, {"time_delta", "27 bits"}, {"array", "32 bits"},
		{"padding", "type == 29"}, {"time_extend", "type == 30"}, {"time_stamp", "type == 31"}, {"data max", "28"},
	} {
		if got[want[0]] != want[1] {
			return fmt.Errorf("header_event says that '%s' is '%s': want '%s'", want[0], got[want[0]], want[1])
		}
	}
	return nil
}

// Events by their type_len, and the parts of their header.
const (
	typeMaxData    = 28
	typePadding    = 29
	typeTimeExtend = 30
	typeTimeStamp  = 31

	typeBits = 5
	typeMask = 1<<typeBits - 1
	timeBits = 27

	// An absolute time has 59 bits; the five above are those of the time before.
	absoluteBits = 59
	absoluteMask = 1<<absoluteBits - 1
)

// The commit's low 32 bits. What stands above them is a copy of the sign.
const (
	missedEvents = 1 << 31 // records were overwritten before this page
	missedStored = 1 << 30 // their number stands behind the events
	commitMask   = missedStored - 1
)

// Page goes through the records of one page. It keeps the bytes that it was
// made of and does not change them.
type Page struct {
	// Lost is how many records of this CPU were overwritten before this page
	// was read, as far as the kernel could tell: it writes no number if the
	// page is full, and then LostSome is true and Lost is 0.
	Lost     uint64
	LostSome bool

	events []byte
	at     int // of the next event in events
	clock  pageClock
	bad    error
}

// pageClock is how far the time of a page has come, in units of the trace clock.
//
// A page that is read while records are added to it is read in parts, each with a
// header of its own. The kernel stamps that with its read_stamp, which passes over
// the time of records that were taken back (ring_buffer.c, rb_update_read_stamp),
// although the records behind them are measured from it. So the time is carried
// over from part to part.
type pageClock struct {
	now    uint64 // the time of the last event
	behind uint64 // how far read_stamp is behind it
}

// carry makes a page that has not been begun go on where the part of it ended that
// was read before. If its header has the time that the kernel gives such a
// part it is one, or begins at the very time at which the other ended: a page of its
// own is not earlier than what was recorded before it.
func (p *Page) carry(end pageClock) {
	if p.at == 0 && p.clock.now == end.now-end.behind {
		p.clock = end
	}
}

// Page begins to read a page. b may be shorter than a whole page if what is
// missing is behind the last event. The error says why b is no page.
func (l Layout) Page(b []byte) (Page, error) {
	if len(b) < l.data {
		return Page{}, fmt.Errorf("page of %d bytes: its header has %d", len(b), l.data)
	}
	p := Page{clock: pageClock{now: binary.LittleEndian.Uint64(b)}}
	commit := binary.LittleEndian.Uint32(b[l.commit:])
	end := l.data + int(commit&commitMask)
	if end > len(b) {
		return Page{}, fmt.Errorf("page of %d bytes: its events end at %d", len(b), end)
	}
	p.events = b[l.data:end:end]
	if commit&missedEvents != 0 {
		p.LostSome = true
		if commit&missedStored != 0 && end+l.longSize <= len(b) {
			p.LostSome = false
			if l.longSize == 8 {
				p.Lost = binary.LittleEndian.Uint64(b[end:])
			} else {
				p.Lost = uint64(binary.LittleEndian.Uint32(b[end:]))
			}
		}
	}
	return p, nil
}

// Start returns the time that the page's header has, until Next is called:
// none of its records is earlier.
func (p *Page) Start() uint64 { return p.clock.now }

// count returns how many records are left in the page and were lost before it.
func (p Page) count() uint64 {
	n := p.Lost
	for {
		if _, _, ok := p.Next(); !ok {
			return n
		}
		n++
	}
}

// end returns the time of the last record that is left in the page.
func (p Page) end() uint64 {
	for {
		if _, _, ok := p.Next(); !ok {
			return p.clock.now
		}
	}
}

// Err returns why Next ended before the page did, nil if it did not.
func (p *Page) Err() error { return p.bad }

// Next returns the next record and its time, in units of the trace clock. The
// record is a part of the page's bytes, up to 3 bytes longer than the event
// (records are aligned). ok is false at the end and at bytes that are no event;
// Err tells which.
func (p *Page) Next() (record []byte, time uint64, ok bool) {
	for {
		rest := p.events[p.at:]
		if len(rest) < 4 {
			if len(rest) > 0 {
				p.fail("header")
			}
			return nil, 0, false
		}
		head := binary.LittleEndian.Uint32(rest)
		kind, delta := int(head&typeMask), uint64(head>>typeBits)
		if kind-1 < typeMaxData && kind != 0 {
			end := 4 + 4*kind
			if end > len(rest) {
				return p.fail("data")
			}
			p.at += end
			p.clock.now += delta
			return rest[4:end:end], p.clock.now, true
		}
		if kind == typePadding && delta == 0 {
			p.at = len(p.events)
			return nil, 0, false
		}
		if len(rest) < 8 {
			return p.fail("second word")
		}
		word := binary.LittleEndian.Uint32(rest[4:])
		switch kind {
		case 0:
			end := uint64(4) + uint64(word)
			if word < 4 || end > uint64(len(rest)) {
				return p.fail("length")
			}
			p.at += int(end+3) &^ 3
			p.at = min(p.at, len(p.events))
			p.clock.now += delta
			return rest[8:end:end], p.clock.now, true
		case typePadding:
			end := uint64(4) + uint64(word)
			if word < 4 || end > uint64(len(rest)) {
				return p.fail("length of padding")
			}
			p.at += int(end)
			// A record that was taken back after others had come counts: they
			// measure from it. 1 stands for 0, which would end the page
			// (ring_buffer.c, rb_event_discard and rb_read_data_buffer).
			if delta != 1 {
				p.clock.now += delta
				p.clock.behind += delta
			}
		case typeTimeExtend:
			p.at += 8
			p.clock.now += uint64(word)<<timeBits + delta
		case typeTimeStamp:
			p.at += 8
			p.clock = pageClock{now: absolute(uint64(word)<<timeBits+delta, p.clock.now)}
		}
	}
}

// absolute returns the 64 bits of a time of which the page has 59, given an
// earlier one (ring_buffer.c, rb_fix_abs_ts).
func absolute(t, before uint64) uint64 {
	high := before &^ absoluteMask
	t = t&absoluteMask | high
	if high != 0 && t < before {
		t += 1 << absoluteBits
	}
	return t
}

// fail ends the page: no event can be found behind one that is bad.
func (p *Page) fail(what string) ([]byte, uint64, bool) {
	p.bad = fmt.Errorf("bad %s of an event, %d bytes before the end of its page's events", what, len(p.events)-p.at)
	p.at = len(p.events)
	return nil, 0, false
}
