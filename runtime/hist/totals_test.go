package hist

import (
	"testing"

	"github.com/eptrace/ep/compiler/command"
)

func TestTotalsAreThoseOfTheRightHistogram(t *testing.T) {
	const file = "events/kmem/kmalloc/trigger"
	const text = `# event histogram
#
# trigger info: hist:keys=call_site:vals=hitcount,bytes_req:sort=hitcount:size=2048 [active]
#

{ call_site: 1 } hitcount: 3 bytes_req: 4

Totals:
    Hits: 3
    Entries: 1
    Dropped: 0


# event histogram
#
# trigger info: hist:keys=bytes_req.log2:vals=hitcount:sort=bytes_req:size=2048 [paused]
#

{ bytes_req: ~ 2^6 } hitcount: 40

Totals:
    Hits: 42
    Entries: 1
    Dropped: 2
`
	for _, c := range []struct {
		line          string
		hits, dropped uint64
	}{
		{"hist:keys=bytes_req.log2:sort=bytes_req", 42, 2},
		{"hist:keys=call_site:vals=bytes_req", 3, 0},
		{"hist:keys=call_site", 0, 0},
	} {
		own, err := command.Parse(file, c.line)
		if err != nil {
			t.Fatal(err)
		}
		if hits, dropped := Totals(file, text, own.(*command.Hist)); hits != c.hits || dropped != c.dropped {
			t.Errorf("%s: got %d and %d, want %d and %d", c.line, hits, dropped, c.hits, c.dropped)
		}
	}
}
