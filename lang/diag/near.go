package diag

// Near returns the candidate that name is most likely a misspelling of, and
// whether there is one near enough to be worth saying.
//
// Nearness is the number of single-byte insertions, deletions, replacements
// and swaps of neighbours, with upper and lower case counted as equal. A third
// of the name's length may differ, at most three bytes; a name of one byte has
// only its other case near it. Of equally near candidates the one with the
// nearer case wins, then the one with the longer common beginning, then the
// first in alphabetical order, so that the order of candidates does not matter.
// Name itself is never returned.
//
// Near takes thousands of candidates without a noticeable delay: most are
// refused by their length alone, and none allocates.
func Near(name string, candidates []string) (string, bool) {
	if name == "" || len(name) > maxNear {
		return "", false
	}
	limit := min(len(name)/3, 3)
	if len(name) == 2 {
		limit = 1
	}
	best, found := nearness{distance: limit + 1}, ""
	for _, c := range candidates {
		if c == name || c == "" || len(c) > maxNear || abs(len(c)-len(name)) > min(best.distance, limit) {
			continue
		}
		d := distance(name, c, min(best.distance, limit))
		if d > limit || d > best.distance {
			continue
		}
		n := nearness{d, caseDiffers(name, c), commonPrefix(name, c)}
		if found == "" || n.better(best) || n == best && c < found {
			best, found = n, c
		}
	}
	return found, found != ""
}

// maxNear is the greatest length in bytes of a name that Near looks at; the
// kernel's own names are shorter.
const maxNear = 127

// nearness is how near a candidate is, the most important part first.
type nearness struct {
	distance int
	cased    int // bytes that differ in case alone
	prefix   int // length of the common beginning
}

func (n nearness) better(m nearness) bool {
	if n.distance != m.distance {
		return n.distance < m.distance
	}
	if n.cased != m.cased {
		return n.cased < m.cased
	}
	return n.prefix > m.prefix
}

// distance returns the edit distance of a and b with swaps of neighbours
// (optimal string alignment), or some number over limit if it is over limit.
//
// Only the cells within limit of the diagonal are computed: all others are
// over limit anyway.
func distance(a, b string, limit int) int {
	var rows [3][maxNear + 2]uint8
	over := uint8(limit + 1)
	for j := range min(len(b), limit) + 1 {
		rows[0][j] = uint8(j)
	}
	rows[0][limit+1] = over
	for i := 1; i <= len(a); i++ {
		row, prev, before := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		lo, hi := max(i-limit, 1), min(i+limit, len(b))
		row[lo-1], row[hi+1] = over, over
		if lo == 1 {
			row[0] = min(uint8(i), over)
		}
		least := row[lo-1]
		x := lower(a[i-1])
		for j := lo; j <= hi; j++ {
			y := lower(b[j-1])
			d := prev[j-1]
			if x != y {
				d++
			}
			d = min(d, prev[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x == lower(b[j-2]) && lower(a[i-2]) == y {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > over-1 {
			return limit + 1
		}
	}
	return int(rows[len(a)%3][len(b)])
}

// caseDiffers returns how many bytes at equal places of a and b differ in case
// alone.
func caseDiffers(a, b string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && lower(a[i]) == lower(b[i]) {
			n++
		}
	}
	return n
}

func commonPrefix(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
