package symbol_test

import (
	"fmt"
	"testing/fstest"

	"github.com/eptrace/ep/runtime/symbol"
)

func Example() {
	// Of the machine it would be os.DirFS("/proc").
	proc := fstest.MapFS{"kallsyms": {Data: []byte("ffffffff81000180 T vfs_read\nffffffff81000200 T vfs_write\n")}}
	k := symbol.New(proc)
	if name, offset, ok := k.Symbol(0xffffffff8100019f); ok {
		fmt.Printf("%s+%#x\n", name, offset)
	}
	// Output: vfs_read+0x1f
}
