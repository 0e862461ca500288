package target

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Packer writes a saved target. The same files give the same bytes.
type Packer struct {
	zip     *zip.Writer
	index   bytes.Buffer
	pack    bytes.Buffer
	entries int
	last    string
	err     error
}

// NewPacker returns a Packer that writes to w.
func NewPacker(w io.Writer) *Packer {
	p := &Packer{zip: zip.NewWriter(w)}
	p.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	// More threads or another window would give other bytes; a larger window
	// takes memory when it is read and saves a hundredth.
	p.zip.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor(
		zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(zstdWindow)))
	p.index.WriteString(indexHeader)
	return p
}

// Add adds a file. name is its path from the machine's root, as fs.ValidPath
// has it, without a newline; files come in the order of their names' bytes.
func (p *Packer) Add(name string, data []byte) error {
	if p.err != nil {
		return p.err
	}
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, "\n") || name <= p.last {
		return fmt.Errorf("add %q after %q: bad name or order", name, p.last)
	}
	p.last = name
	if p.pack.Len() > 0 && p.pack.Len()+len(data) > packSize {
		p.flush()
	}
	fmt.Fprintf(&p.index, "%d %d %d %s\n", p.entries, p.pack.Len(), len(data), name)
	p.pack.Write(data)
	if p.pack.Len() >= packSize {
		p.flush()
	}
	return p.err
}

// Close writes the index. It does not close the writer below.
func (p *Packer) Close() error {
	// Even an empty pack is written: an empty file has its place in it.
	p.flush()
	p.write(indexEntry, p.index.Bytes())
	if p.err != nil {
		return p.err
	}
	return p.zip.Close()
}

func (p *Packer) flush() {
	p.write(strconv.Itoa(p.entries), p.pack.Bytes())
	p.pack.Reset()
	p.entries++
}

func (p *Packer) write(name string, data []byte) {
	if p.err != nil {
		return
	}
	method := zip.Deflate
	if name != indexEntry && len(data) > 2*packSize {
		method = zstd.ZipMethodWinZip
	}
	w, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err == nil {
		_, err = w.Write(data)
	}
	p.err = err
}
