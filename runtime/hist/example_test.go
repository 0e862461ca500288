package hist_test

import (
	"fmt"
	"os"
	"testing/fstest"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
)

// file is what a kernel shows.
const file = `# event histogram
#
# trigger info: hist:keys=common_comm,count.log2:vals=hitcount,count:sort=hitcount:size=2048 [active]
#

{ common_comm: cat                                               , count: ~ 2^17 } hitcount:         12  count:    1572864
{ common_comm: sh                                                , count: ~ 2^7  } hitcount:          4  count:        512
{ common_comm: sh                                                , count: ~ 2^10 } hitcount:          2  count:       2046

Totals:
    Hits: 18
    Entries: 3
    Dropped: 0
`

// read reads `hist reads from syscalls.sys_enter_read by $comm, size =
// log2(count) { bytes = avg(count) }`. The plan is compiler.Compile's, and the
// file system that of tracefs, os.DirFS("/sys/kernel/tracing").
func read() *hist.Table {
	u64 := types.Int{Size: 8}
	t, err := hist.Read(fstest.MapFS{"events/syscalls/sys_enter_read/hist": {Data: []byte(file)}}, "", plan.Table{
		Name:   "reads",
		Keys:   []plan.Column{{Name: "comm", Type: types.String{}}, {Name: "size", Type: u64, Log2: true}},
		Values: []plan.Column{{Name: "bytes", Type: u64, Kernel: "count", Mean: true}},
		Hists: []plan.Hist{{
			Group: "syscalls", Event: "sys_enter_read",
			Command: "hist:keys=common_comm,count.log2:vals=count",
		}},
	})
	if err != nil {
		panic(err)
	}
	return t
}

func ExampleTable_Render() {
	if err := read().Render(os.Stdout, hist.Options{Width: 40}); err != nil {
		panic(err)
	}
	// Output:
	// reads: 18 events
	//          size  count   bytes
	// comm=cat: 12 events
	// 65537..131072     12  131072  |########|
	// comm=sh: 6 events
	//       65..128      4     128  |########|
	//      129..256      0       -  |        |
	//      257..512      0       -  |        |
	//     513..1024      2    1023  |####    |
}

func ExampleTable_AppendJSON() {
	t := read()
	t.Limit(1)
	os.Stdout.Write(t.AppendJSON(nil, &events.Names{}))
	// Output:
	// {"table":"reads","version":1,"hits":18,"dropped":0,"size":2048,"left":2,"leftCount":6,"keys":[{"name":"comm","type":"str"},{"name":"size","type":"u64","slots":"log2"}],"values":[{"name":"bytes","type":"u64","mean":true}],"rows":[{"keys":{"comm":"cat","size":[65537,131072]},"count":12,"values":{"bytes":131072}}]}
}

func ExampleRow() {
	t := read()
	for i := range t.Rows {
		r := &t.Rows[i]
		fmt.Println(r.Key("comm").Text, r.Key("size").Num, r.Key("size").Last, r.Count, r.Sum("bytes").Sum, r.Number("bytes"))
	}
	// Output:
	// cat 65537 131072 12 1572864 131072
	// sh 65 128 4 512 128
	// sh 513 1024 2 2046 1023
}
