package hist

import (
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
)

// Totals returns how many events a histogram counted, and how many it had no room
// for, from the text of its event's hist file, which shows those of others too.
// file is the trigger file of the event. Both are 0 if the histogram is not there.
func Totals(file, text string, own *command.Hist) (hits, dropped uint64) {
	ours := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if info, ok := strings.CutPrefix(line, "# trigger info: "); ok {
			c, err := command.Parse(file, info)
			h, isHist := c.(*command.Hist)
			ours = err == nil && isHist && sameHist(h, own)
		}
		name, value, _ := strings.Cut(line, ": ")
		n, err := strconv.ParseUint(value, 10, 64)
		if !ours || err != nil {
			continue
		}
		switch name {
		case "Hits":
			hits = n
		case "Dropped":
			dropped = n
		}
	}
	return hits, dropped
}

// sameHist reports whether two histograms are one, be it paused or not.
func sameHist(a, b *command.Hist) bool {
	x, y := *a, *b
	x.State, y.State = "", ""
	return command.Equal(command.Shown(&x), command.Shown(&y))
}
