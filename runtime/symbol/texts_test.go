package symbol

import (
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/runtime/events"
)

var _ events.Texts = (*Texts)(nil)

func TestTexts(t *testing.T) {
	list := "0xffffffffaf360491 : \"End context switch\"\n" +
		"0xffffffffaf3604a4 : \"a \\\"b\\\"\\n\"\n" +
		"0x0 : \"hidden\"\n0xzz : \"x\"\n0x10 : unquoted\nnothing\n0x20 : \"open\n"
	texts := NewTexts(fstest.MapFS{"printk_formats": {Data: []byte(list)}})
	for addr, want := range map[uint64]string{0xffffffffaf360491: "End context switch", 0xffffffffaf3604a4: "a \"b\"\n", 0: "", 0x10: "", 0x20: "", 0x30: ""} {
		got, ok := texts.Text(addr)
		if got != want || ok != (want != "") {
			t.Errorf("%#x: got %q, %t, want %q", addr, got, ok, want)
		}
	}
	if text, ok := NewTexts(fstest.MapFS{}).Text(0x10); ok {
		t.Errorf("got %q without a list", text)
	}
}
