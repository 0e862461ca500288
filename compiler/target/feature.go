package target

import (
	"bytes"
	"path"
	"slices"
)

// Feature is something that a kernel can do and another cannot, by name. The
// names are shown to users and do not change.
type Feature string

// Has reports whether the target has a feature or a quirk.
//
// What README tells decides where it can, since stable kernels and
// distributions carry features back; otherwise the release does. If the
// release is not known, the newest that README proves stands for it, and a
// quirk is taken to be there unless it cannot be. A Feature that is not one of
// this package's is a bug in the caller and panics.
func (t *Target) Has(f Feature) bool {
	t.mu.Lock()
	has, ok := t.has[f]
	t.mu.Unlock()
	if ok {
		return has
	}
	has = t.decide(f)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.has[f] = has
	return has
}

// OnlyRunning reports whether t lacks a feature only because it is still booting.
func (t *Target) OnlyRunning(f Feature) bool {
	return t.booting && slices.ContainsFunc(featureRules, func(r rule) bool { return r.feature == f && r.running })
}

// Features returns all features, quirks not among them, in the order of the
// table.
func Features() []Feature {
	var all []Feature
	for _, r := range featureRules {
		all = append(all, r.feature)
	}
	return all
}

// Quirks returns all quirks, in the order of the table.
func Quirks() []Feature {
	var all []Feature
	for _, q := range quirkRules {
		all = append(all, q.quirk)
	}
	return all
}

// rule decides a feature: all that is set must hold.
type rule struct {
	feature Feature
	since   patch      // the first release; of a feature with readme set it is for the record only
	carried [][2]patch // releases before since that are known to have it, from the first up to but not the second
	until   patch      // the first release without it again; zero if there is none
	readme  string     // what README says only if the kernel has it
	file    string     // a file or folder of tracefs
	config  string     // an option that the configuration, if the target tells it, must not call off
	with    []Feature  // what it cannot be without
	running bool       // a kernel that is still booting does not have it
}

func (t *Target) decide(f Feature) bool {
	for _, r := range featureRules {
		if r.feature == f {
			return t.follows(r)
		}
	}
	for _, q := range quirkRules {
		if q.quirk == f {
			return t.suffers(q)
		}
	}
	panic("internal error: unknown feature " + string(f))
}

func (t *Target) follows(r rule) bool {
	if r.running && t.booting {
		return false
	}
	if r.readme != "" && !t.readmeHas(r.readme) {
		return false
	}
	if r.readme == "" && t.system.least.before(r.since) && !t.within(r.carried) {
		return false
	}
	if r.until != (patch{}) && !t.system.most.before(r.until) {
		return false
	}
	if r.file != "" && !t.exists(r.file) {
		return false
	}
	if r.config != "" && t.ConfigOff(r.config) {
		return false
	}
	for _, f := range r.with {
		if !t.Has(f) {
			return false
		}
	}
	return true
}

// within reports whether the kernel surely is in one of the ranges.
func (t *Target) within(ranges [][2]patch) bool {
	for _, r := range ranges {
		if !t.system.least.before(r[0]) && t.system.most.before(r[1]) {
			return true
		}
	}
	return false
}

// readmeHas reports whether tracefs' README has the text.
func (t *Target) readmeHas(s string) bool {
	readme, err := t.read(path.Join(t.root, FileReadme))
	return err == nil && bytes.Contains(readme, []byte(s))
}

// readmeMarks are words of README by the release that brought them, the newest
// first. What depends on the configuration is not there in every kernel of the
// release, so that a word proves an age and its absence proves nothing.
var readmeMarks = []struct {
	word  string
	since patch
}{
	{"this_cpu_read(", patch{7, 3, 0}},
	{"Can enable module events via", patch{6, 14, 0}},
	{"%pd/%pD", patch{6, 9, 0}},
	{"<argname>[->field[", patch{6, 6, 0}},
	{"<tracepoint> [<args>]", patch{6, 5, 0}},
	{"'common_stacktrace'", patch{6, 4, 0}},
	{"[<args>] [if <filter>]", patch{6, 0, 0}},
	{"<attached-group>.<attached-event>", patch{5, 15, 0}},
	{"dynamic_events", patch{5, 0, 0}},
}

// leastFromReadme returns the oldest release that README can be of.
func (t *Target) leastFromReadme() patch {
	for _, m := range readmeMarks {
		if t.readmeHas(m.word) {
			return m.since
		}
	}
	return patch{}
}
