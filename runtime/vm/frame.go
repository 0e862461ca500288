package vm

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"
)

// The guest speaks to the host by writing frames, one after another, on a disk that the host reads as a file. A serial
// port would be the usual way, but under emulation it carries half a megabyte a second and stalls now and then on arm64;
// NVMe is built into every one of the kernels (virtio is not) and carries fifty times that. What was written before a
// panic is there for the host to read.
//
//	stream = { frame }
//	frame  = header event data padding           padded with zeros to a multiple of 512 bytes
//	header = magic seq eventBytes dataBytes sum  five little-endian 32-bit words, then zeros up to 32 bytes
//	event  = JSON                                eventBytes long
//	data   = raw bytes                           dataBytes long
//
// seq counts frames from 0; sum is the CRC-32 (IEEE) of event and data. The disk is zeros at first, so that the magic is
// what says that a frame was begun, and the sum that it is whole.
const (
	frameMagic   = 0x4d565045 // "EPVM"
	headerBytes  = 32
	sectorBytes  = 512
	maxEvent     = 4 << 10
	maxData      = 256 << 10
	maxFrame     = (headerBytes+maxEvent+maxData+sectorBytes-1)/sectorBytes*sectorBytes + sectorBytes
	diskBytes    = 1 << 30 // sparse on the host
	maxNameBytes = 1 << 10
)

// eventKind says what an event tells.
type eventKind string

const (
	eventHello  eventKind = "hello"  // init is up
	eventStart  eventKind = "start"  // a case, or the program, begins
	eventLog    eventKind = "log"    // data is text that it logged
	eventOutput eventKind = "output" // data is a piece of an output, at Offset
	eventKernel eventKind = "kernel" // data is what the kernel complained of during the case
	eventEnd    eventKind = "end"    // the case ended, with Status
	eventStdout eventKind = "stdout" // data is what the program printed
	eventStderr eventKind = "stderr"
	eventExit   eventKind = "exit" // the program ended, with Code
	eventBye    eventKind = "bye"  // the guest powers off; data, if any, is why it could not do its work
)

// event is the head of a frame.
type event struct {
	Kind     eventKind     `json:"kind"`
	Case     string        `json:"case,omitempty"`
	Name     string        `json:"name,omitempty"`   // of an output
	Offset   int64         `json:"offset,omitempty"` // of a piece in its output
	Status   Status        `json:"status,omitempty"`
	Reason   string        `json:"reason,omitempty"` // at most maxNameBytes
	Code     int           `json:"code,omitempty"`
	Duration time.Duration `json:"duration,omitempty"` // nanoseconds
}

// errNoFrame says that no whole frame follows, so far.
var errNoFrame = errors.New("no whole frame")

// errBadFrame says that what follows is not a frame, whatever may come.
var errBadFrame = errors.New("not a frame")

// frameReader reads frames in order, while they are being written. It is for one goroutine.
type frameReader struct {
	r   io.ReaderAt
	at  int64
	seq uint32
}

// next returns the next frame. On errNoFrame, and on errBadFrame too while the guest runs (a write may be seen half
// done), it may be asked again.
func (f *frameReader) next() (event, []byte, error) {
	var header [headerBytes]byte
	if _, err := f.r.ReadAt(header[:], f.at); err != nil {
		if errors.Is(err, io.EOF) {
			return event{}, nil, errNoFrame
		}
		return event{}, nil, fmt.Errorf("read the results: %w", err)
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(header[4*i:]) }
	magic, seq, eventBytes, dataBytes, sum := word(0), word(1), word(2), word(3), word(4)
	if magic == 0 {
		return event{}, nil, errNoFrame
	}
	if magic != frameMagic || seq != f.seq || eventBytes > maxEvent || dataBytes > maxData {
		return event{}, nil, fmt.Errorf("%w at byte %d", errBadFrame, f.at)
	}
	body := make([]byte, eventBytes+dataBytes)
	if _, err := f.r.ReadAt(body, f.at+headerBytes); err != nil {
		if errors.Is(err, io.EOF) {
			return event{}, nil, errNoFrame
		}
		return event{}, nil, fmt.Errorf("read the results: %w", err)
	}
	if crc32.ChecksumIEEE(body) != sum {
		return event{}, nil, errNoFrame
	}
	var ev event
	if err := json.Unmarshal(body[:eventBytes], &ev); err != nil {
		return event{}, nil, fmt.Errorf("%w at byte %d: %w", errBadFrame, f.at, err)
	}
	f.at += paddedBytes(len(body))
	f.seq++
	return ev, body[eventBytes:], nil
}

// frameWriter writes frames. Several goroutines may use it.
type frameWriter struct {
	mu   sync.Mutex
	w    io.WriterAt
	size int64  // bytes of the disk
	buf  []byte // maxFrame bytes, aligned as direct writes need
	at   int64
	seq  uint32
}

// write writes one frame for ev, or as many as data needs, each with the Offset of its piece.
func (f *frameWriter) write(ev event, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		piece := data[:min(len(data), maxData)]
		if err := f.writeFrame(ev, piece); err != nil {
			return err
		}
		data = data[len(piece):]
		ev.Offset += int64(len(piece))
		if len(data) == 0 {
			return nil
		}
	}
}

func (f *frameWriter) writeFrame(ev event, data []byte) error {
	head, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	if len(head) > maxEvent {
		return fmt.Errorf("event of %d bytes: at most %d", len(head), maxEvent)
	}
	bodyBytes := len(head) + len(data)
	total := paddedBytes(bodyBytes)
	if f.at+total > f.size {
		return fmt.Errorf("results are larger than the disk for them (%d MiB)", f.size>>20)
	}
	frame := f.buf[:total]
	clear(frame)
	copy(frame[headerBytes:], head)
	copy(frame[headerBytes+len(head):], data)
	sum := crc32.ChecksumIEEE(frame[headerBytes : headerBytes+bodyBytes])
	for i, word := range []uint32{frameMagic, f.seq, uint32(len(head)), uint32(len(data)), sum} {
		binary.LittleEndian.PutUint32(frame[4*i:], word)
	}
	if _, err := f.w.WriteAt(frame, f.at); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	f.at += total
	f.seq++
	return nil
}

// paddedBytes is the length of a frame on the disk.
func paddedBytes(bodyBytes int) int64 {
	return int64(headerBytes+bodyBytes+sectorBytes-1) / sectorBytes * sectorBytes
}
