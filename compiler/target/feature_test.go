package target

import (
	"testing"
	"testing/fstest"
)

// kernels are the embedded targets in the columns of the tables below.
var kernels = []string{
	"5.10-x86_64", "6.1-x86_64", "6.12-x86_64", "6.17-x86_64", "7.2-x86_64", "7.3-x86_64", "6.12-arm64", "6.17-arm64",
}

// TestFeatures holds what real kernels of these releases did when they were
// tried: 'x' has it, '.' has not.
func TestFeatures(t *testing.T) {
	want := map[Feature]string{
		DynamicEvents:      "xxxxxx xx",
		Eprobes:            ".xxxxx xx",
		EprobeFilter:       ".xxxxx xx",
		GroupOnly:          ".xxxxx xx",
		EprobeArrayAddress: "...xxx .x",
		EprobeTypecast:     "....xx ..",
		EprobeBareField:    ".....x ..",
		EprobeOnProbe:      "..xxxx .x",
		SyntheticEvents:    ".xxxxx xx",
		SyntheticStrings:   ".xxxxx xx",
		SyntheticStacks:    "..xxxx xx",
		Hist:               ".xxxxx xx",
		HistVariables:      ".xxxxx xx",
		HistOnChange:       ".xxxxx xx",
		HistSnapshot:       ".xxxxx xx",
		HistArithmetic:     ".xxxxx xx",
		HistBuckets:        ".xxxxx xx",
		HistPercent:        ".xxxxx xx",
		HistNoHitcount:     "..xxxx xx",
		HistStackVariable:  "..xxxx xx",
		CommonStacktrace:   "..xxxx xx",
		CommonComm:         "...xxx .x",
		HistHitcountKey:    "..xxxx xx",
		HistDeepStacks:     "....xx ..",
		KprobeEvents:       "xxxxxx xx",
		KprobeArgs:         "xxxxxx xx",
		ReturnArgs:         "..xxxx xx",
		FprobeEvents:       "..xxxx .x",
		TracepointProbes:   "..xxxx .x",
		FprobeMaxactive:    "..x... ..",
		BTFArgs:            "..xxxx xx",
		BTFMembers:         "..xxxx xx",
		PathFetch:          "..xxxx xx",
		CharType:           "..xxxx xx",
		SymstrType:         ".xxxxx xx",
		UserString:         "xxxxxx xx",
		Immediate:          "xxxxxx xx",
		LongArgs:           ".....x ..",
		Typecast:           ".....x ..",
		CurrentFetch:       ".....x ..",
		PerCPUFetch:        ".....x ..",
		UniqueSymbols:      ".xxxxx xx",
		UprobeEvents:       "xxxxxx xx",
		FilterFunction:     "..xxxx xx",
		FilterCPUs:         "..xxxx xx",
		FilterUstring:      "xxxxxx xx",
		SyscallEvents:      "xxxxxx xx",
		RawSyscalls:        "xxxxxx xx",
		Instances:          "xxxxxx xx",
		InstanceErrorLog:   "xxxxxx xx",
		Snapshot:           "xxxxxx xx",
		BootTrigger:        "..xxxx xx",
		BootInstance:       "..xxxx xx",
		NotracePID:         "xxxxxx xx",
	}
	compareTable(t, Features(), want)
}

func TestQuirks(t *testing.T) {
	want := map[Feature]string{
		QuirkEprobePointerByte:   "...x.. .x",
		QuirkSyntheticArrayPrint: "...x.. .x",
		QuirkStacktraceModifier:  "...x.. .x",
		QuirkFieldVariable:       ".x.xx. .x",
		QuirkSnapshotAtSwitch:    "xxxx.. xx",
		QuirkPercentRefused:      "...x.. .x",
		QuirkHelpersStay:         "...xx. .x",
		QuirkSyntheticNames:      "...xx. .x",
		QuirkOneTracepointProbe:  "..x... ..",
		QuirkArgsDropped:         "xx.... ..",
		QuirkPayloadUnchecked:    "...x.. .x",
		QuirkCommDereference:     ".x.... ..",
		QuirkTrailingOperator:    "...xx. .x",
		QuirkFileAt:              "...x.. .x",
		QuirkSymstr:              ".xxxxx xx",
		QuirkEmptyUserText:       "xxx... x.",
	}
	compareTable(t, Quirks(), want)
}

func compareTable(t *testing.T, features []Feature, want map[Feature]string) {
	t.Helper()
	var targets []*Target
	for _, name := range kernels {
		tg, err := Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, tg)
	}
	if len(want) != len(features) {
		t.Errorf("the table has %d rows for %d features", len(want), len(features))
	}
	for _, f := range features {
		got := ""
		for i, tg := range targets {
			if i == 6 {
				got += " "
			}
			got += map[bool]string{true: "x", false: "."}[tg.Has(f)]
		}
		if got != want[f] {
			t.Errorf("%-40s got %q, want %q", f, got, want[f])
		}
	}
}

func TestLimits(t *testing.T) {
	for name, want := range map[string][2]int{"6.17-x86_64": {63, 13}, "7.3-x86_64": {255, 8}} {
		tg, err := Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		l := tg.Limits()
		if got := [2]int{l.ArgText, l.ArgNesting}; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestUnknownFeaturePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("want a panic")
		}
	}()
	machine(t, nil).Has("no such feature")
}

// machine returns a target of the given files, with a tracefs that has nothing
// else.
func machine(t *testing.T, files map[string]string) *Target {
	t.Helper()
	m := fstest.MapFS{
		"sys/kernel/tracing/README":               &fstest.MapFile{},
		"sys/kernel/tracing/events/x/y/format":    &fstest.MapFile{Data: []byte("name: y\nID: 1\n")},
		"sys/kernel/tracing/events/header_page":   &fstest.MapFile{},
		"sys/kernel/tracing/events/x/filter":      &fstest.MapFile{},
		"sys/kernel/tracing/events/x/y/trigger":   &fstest.MapFile{},
		"sys/kernel/tracing/events/a/y/format":    &fstest.MapFile{Data: []byte("name: y\nID: 2\n")},
		"sys/kernel/tracing/events/a/filter":      &fstest.MapFile{},
		"sys/kernel/tracing/events/a/only/format": &fstest.MapFile{Data: []byte("name: only\n")},
	}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tg, err := Open("machine", m)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// TestReleaseDecides tries features and quirks that README does not tell of.
func TestReleaseDecides(t *testing.T) {
	const readme = "\t  e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>]\n      hist trigger\t- If set\n onmatch( \n"
	for _, c := range []struct {
		name, release, version string
		feature                Feature
		want                   bool
	}{
		{"old", "6.16.12", "", EprobeArrayAddress, false},
		{"first", "6.17.0", "", EprobeArrayAddress, true},
		{"candidate", "6.17-rc1", "", EprobeArrayAddress, true},
		{"next major", "7.0.1-arch1-1", "", EprobeArrayAddress, true},
		{"bad", "6.17.13", "", QuirkEprobePointerByte, true},
		{"mended in the stable tree", "6.12.117+deb13-amd64", "", QuirkEprobePointerByte, false},
		{"before it was mended", "6.12.116", "", QuirkEprobePointerByte, true},
		{"a later stable release", "6.1.200", "", QuirkEprobePointerByte, false},
		{"patch hidden", "6.1.0-57-amd64", "", QuirkEprobePointerByte, true},
		{"patch in the banner", "6.1.0-57-amd64", "Linux version 6.1.0-57-amd64 (gcc 12.2.0) #1 SMP Debian 6.1.192-3 (2026-11-26)", QuirkEprobePointerByte, false},
		{"release unknown, might be", "", "", QuirkEprobePointerByte, true},
		{"release unknown, not proven", "", "", EprobeArrayAddress, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"sys/kernel/tracing/README": readme, "proc/version": c.version}
			if c.release != "" {
				files["proc/sys/kernel/osrelease"] = c.release + "\n"
			}
			if got := machine(t, files).Has(c.feature); got != c.want {
				t.Errorf("release %q: %s is %v, want %v", c.release, c.feature, got, c.want)
			}
		})
	}
}

// TestReadmeBoundsTheRelease checks that a copy of a tracefs alone tells as
// much of its kernel as README proves.
func TestReadmeBoundsTheRelease(t *testing.T) {
	for _, name := range kernels {
		full, err := Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := fsSub(full, "sys/kernel/tracing")
		if err != nil {
			t.Fatal(err)
		}
		alone, err := Open(name, sub)
		if err != nil {
			t.Fatal(err)
		}
		if alone.Release() != "" || alone.Arch() != "" || alone.Version() != (Version{}) {
			t.Errorf("%s: got release %q on %q", name, alone.Release(), alone.Arch())
		}
		if s, f := alone.system, full.system; f.least.before(s.least) {
			t.Errorf("%s: %v is before %v", name, f.least, s.least)
		}
		for _, f := range Features() {
			if alone.Has(f) && !full.Has(f) {
				t.Errorf("%s: %s is claimed without proof", name, f)
			}
		}
		for _, q := range Quirks() {
			if full.Has(q) && !alone.Has(q) {
				t.Errorf("%s: %s is not feared", name, q)
			}
		}
	}
}
