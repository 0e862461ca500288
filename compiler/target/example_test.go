package target_test

import (
	"fmt"
	"testing/fstest"

	"github.com/eptrace/ep/compiler/target"
)

// What ep knows of a kernel: its events, their fields, and what it can do.
func ExampleEmbedded() {
	t, err := target.Embedded("6.12-arm64")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Name(), t.Arch(), t.Version())
	f, err := t.Format("irq", "softirq_entry")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, field := range f.Fields {
		fmt.Println(field.Name, field.Type, field.Size)
	}
	fmt.Println(target.Eprobes, t.Has(target.Eprobes))
	// Output:
	// 6.12-arm64 arm64 6.12
	// vec u32 4
	// eprobes true
}

// A machine is read through a file system: os.DirFS("/") of the live one, that
// of an image, or one made for a test.
func ExampleOpen() {
	t, err := target.Open("board", fstest.MapFS{
		"proc/sys/kernel/osrelease":      {Data: []byte("6.12.0\n")},
		"sys/kernel/tracing/trace_clock": {Data: []byte("[local] global\n")},
		"sys/kernel/tracing/events/irq/softirq_entry/format": {Data: []byte(`name: softirq_entry
ID: 70
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;

	field:unsigned int vec;	offset:8;	size:4;	signed:0;

print fmt: "vec=%u", REC->vec
`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Systems())
	f, err := t.Format("irq", "softirq_entry")
	fmt.Println(f.Field("vec").Type, err)
	// Output:
	// open tracefs: not found
}
