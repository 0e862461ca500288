package symbol

import (
	"bufio"
	"bytes"
	"io/fs"
	"strconv"
	"sync"
)

// Texts are the texts that events of the kernel point to, from tracefs: an event may
// record the address of a text that is part of the kernel, and printk_formats tells
// which text that is. Its method may be called from several goroutines. The list is
// read when the first address is asked for; what modules bring later is not in it.
type Texts struct {
	fsys   fs.FS
	once   sync.Once
	byAddr map[uint64]string
}

// NewTexts returns the texts of the kernel whose tracefs fsys shows. Nothing is read
// yet.
func NewTexts(tracefs fs.FS) *Texts { return &Texts{fsys: tracefs} }

// Text returns the text at addr, if the kernel tells it.
func (t *Texts) Text(addr uint64) (string, bool) {
	t.once.Do(t.read)
	text, ok := t.byAddr[addr]
	return text, ok
}

// read reads the list, as far as it can be read:
//
//	LINE := "0x" ADDRESS " : " QUOTED "\n"
func (t *Texts) read() {
	t.byAddr = map[uint64]string{}
	f, err := t.fsys.Open("printk_formats")
	if err != nil {
		return
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		addr, quoted, ok := bytes.Cut(in.Bytes(), []byte(" : "))
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(string(addr), 0, 64)
		if err != nil || n == 0 {
			continue
		}
		if text, err := strconv.Unquote(string(quoted)); err == nil {
			t.byAddr[n] = text
		}
	}
}
