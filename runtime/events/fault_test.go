package events

import (
	"encoding/binary"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// TestThrough: a value is there only if the pointer that it was read through leads
// somewhere and the text that was read beside it has its own bytes.
func TestThrough(t *testing.T) {
	format := &target.Format{System: "g", Name: "e",
		Common: []target.Field{
			{Name: "common_type", Size: 2}, {Name: "common_pid", Offset: 4, Size: 4, Signed: true}},
		Fields: []target.Field{
			{Name: "n", Decl: "u32 n", Offset: 8, Size: 4},
			{Name: "at_p", Decl: "u64 at_p", Offset: 16, Size: 8},
			{Name: "at_w", Decl: "__data_loc char[] at_w", Offset: 24, Size: 4, Loc: target.DataLoc, Array: true}}}
	for _, c := range []struct {
		through string
		pointer uint64
		text    string // with its NUL; "" could not be read
		want    State
	}{
		{"at_p", 0, "x\x00", Fault},
		{"at_p", 4095, "x\x00", Fault},
		{"at_p", 4096, "x\x00", Present},
		{"at_p", 0xffff888000000000, "", Present},
		{"at_p", ^uint64(0) - 13 + 1, "x\x00", Fault}, // -EACCES
		{"at_p", ^uint64(0) - 4096, "x\x00", Present},
		{"at_w", 0, "\x00", Present},
		{"at_w", 0, "x\x00", Present},
		{"at_w", 8192, "", Fault},
		{"at_w", 8192, plan.Unread + "\x00", Fault},
	} {
		s, err := NewStream(plan.Stream{Group: "g", Event: "e", Fields: []plan.Field{
			{Name: "n", Type: types.Int{Size: 4}, Kernel: "u32", Through: []string{c.through}}}}, format)
		if err != nil {
			t.Fatal(err)
		}
		record := make([]byte, 28, 64)
		record[8] = 7
		binary.LittleEndian.PutUint64(record[16:], c.pointer)
		binary.LittleEndian.PutUint32(record[24:], uint32(len(c.text))<<16|28)
		record = append(record, c.text...)
		var r Record
		s.Decode(record, &r)
		if got := r.Values[0]; got.State != c.want || got.State == Present && got.Num != 7 {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
	if _, err := NewStream(plan.Stream{Group: "g", Event: "e", Fields: []plan.Field{
		{Name: "n", Type: types.Int{Size: 4}, Kernel: "u32", Through: []string{"at_q"}}}}, format); err == nil {
		t.Error("a field that is not there tells whether one could be read")
	}
}
