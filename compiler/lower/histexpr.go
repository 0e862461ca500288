package lower

import "github.com/eptrace/ep/compiler/command"

// What a histogram's expressions have in them, as far as the kernel has limits or
// ways of its own for it.

// references counts the variables of others that h refers to, as the kernel
// does: each once.
func references(h *command.Hist) int {
	seen := map[string]bool{}
	var visit func(x command.HistExpr)
	visit = func(x command.HistExpr) {
		switch x := x.(type) {
		case command.HistRef:
			seen[x.Name] = true
		case *command.HistBinary:
			visit(x.X)
			visit(x.Y)
		case *command.HistNeg:
			visit(x.X)
		}
	}
	for _, v := range h.Vars {
		visit(v.Expr)
	}
	for _, a := range h.Actions {
		for _, p := range a.Params {
			visit(p)
		}
	}
	return len(seen)
}

// keyBytes is the room that step i's keys take: each is rounded up to 8 bytes
// (trace_events_hist.c, HIST_KEY_SIZE_MAX).
func (r *recipe) keyBytes(i int) int {
	n := 0
	for _, k := range r.keysOf(i) {
		n += (max(r.textRoom(i, k), 8) + 7) &^ 7
	}
	return n
}

// hasNumber reports whether x has a number in it.
func hasNumber(x command.HistExpr) bool {
	switch x := x.(type) {
	case command.HistNum:
		return true
	case *command.HistBinary:
		return hasNumber(x.X) || hasNumber(x.Y)
	case *command.HistNeg:
		return hasNumber(x.X)
	}
	return false
}

// usesTime reports whether x has an event's time in it.
func usesTime(x command.HistExpr) bool {
	switch x := x.(type) {
	case command.HistField:
		return x.Name == "common_timestamp"
	case *command.HistBinary:
		return usesTime(x.X) || usesTime(x.Y)
	case *command.HistNeg:
		return usesTime(x.X)
	}
	return false
}
