package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/eptrace/ep/runtime/doctor"
	"github.com/eptrace/ep/runtime/events"
)

type doctorCmd struct {
	Verbose bool `short:"v" help:"Print all features and quirks, not only what is lacking or broken."`
	JSON    bool `name:"json" help:"Print one JSON object instead of text."`
}

// Help implements kong.HelpProvider.
func (*doctorCmd) Help() string {
	return `Nothing on the machine is changed. The exit code is 4 if nothing can be traced here as things are.

What is listed at the end is in tracefs now, whoever put it there: it costs time or room, or fills the buffer, and stays until somebody removes it. With it stands which script of 'ep status' has it, or that it bears a name that ep gives.

Examples:

    sudo ep doctor
    sudo ep doctor --json | jq '.leftovers'
`
}

// Run carries out the command.
func (c *doctorCmd) Run(env *Env) error {
	d := doctor.Machine{Root: env.Root, Writable: env.Writable}
	if m, err := openMachine(env, false); err == nil { // else the report tells why
		d.Journals = m.journals
		m.close()
	}
	r := doctor.Examine(d)
	var out bytes.Buffer
	if c.JSON {
		if err := printJSON(&out, newDiagnosis(r)); err != nil {
			return fmt.Errorf("print the report: %w", err)
		}
	} else {
		c.print(&out, r)
	}
	if err := writeOutput(env, "", trimLines(out.Bytes())); err != nil {
		return err
	}
	if !r.Works() {
		return exitError{code: exitMachine}
	}
	return nil
}

func (c *doctorCmd) print(out io.Writer, r *doctor.Report) {
	release, arch := r.Release, r.Arch
	if release == "" {
		release = "of unknown release"
	}
	if arch == "" {
		arch = "unknown architecture"
	}
	fmt.Fprintf(out, "Linux %s, %s\n\n", release, arch)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.State, f.Check, f.Message)
		if f.Help != "" {
			fmt.Fprintf(w, "\t\t  %s\n", f.Help)
		}
	}
	_ = w.Flush() // out is a buffer
	if r.Tracefs == "" {
		return
	}
	abilities(out, "features", r.Features, func(a doctor.Ability) bool { return c.Verbose || !a.Has })
	abilities(out, "quirks", r.Quirks, func(a doctor.Ability) bool { return c.Verbose || a.Has })
	if len(r.Leftovers) == 0 {
		fmt.Fprint(out, "\nnothing is left in tracefs by anybody\n")
		return
	}
	fmt.Fprint(out, "\nin tracefs now\n")
	w = tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, l := range r.Leftovers {
		who, in := "", ""
		switch {
		case l.Script != "":
			who = "ep's: " + l.Script
		case l.Ep:
			who = "a name of ep's"
		}
		if l.In != "" {
			in = "in " + l.In
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", l.Kind, events.Plain(l.Name), events.Plain(in), who, events.Plain(strings.ReplaceAll(l.Text, "\t", " ")))
	}
	_ = w.Flush() // out is a buffer
}

// abilities prints how many of the features or quirks the kernel has, and those
// that show picks.
func abilities(out io.Writer, what string, list []doctor.Ability, show func(doctor.Ability) bool) {
	has := 0
	for _, a := range list {
		if a.Has {
			has++
		}
	}
	fmt.Fprintf(out, "\n%s: %d of the %d that ep knows of\n", what, has, len(list))
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, a := range list {
		if !show(a) {
			continue
		}
		yes := "no"
		if a.Has {
			yes = "yes"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", yes, strings.TrimPrefix(a.Name, "quirk: "), a.Basis)
	}
	_ = w.Flush() // out is a buffer
}

// diagnosis is what `ep doctor --json` prints. docs/json.md describes it.
type diagnosis struct {
	Version   int            `json:"version"`
	Works     bool           `json:"works"`
	Release   string         `json:"release"`
	Arch      string         `json:"arch"`
	Tracefs   string         `json:"tracefs,omitempty"`
	Findings  []findingJSON  `json:"findings"`
	Features  []abilityJSON  `json:"features"`
	Quirks    []abilityJSON  `json:"quirks"`
	Leftovers []leftoverJSON `json:"leftovers"`
}

type findingJSON struct {
	Check   string       `json:"check"`
	State   doctor.State `json:"state"`
	Message string       `json:"message"`
	Help    string       `json:"help,omitempty"`
}

type abilityJSON struct {
	Name  string `json:"name"`
	Has   bool   `json:"has"`
	Basis string `json:"basis"`
}

type leftoverJSON struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	In   string `json:"in,omitempty"`
	Text string `json:"text,omitempty"`
	Ep   bool   `json:"ep"`

	Script string `json:"script,omitempty"`
}

func newDiagnosis(r *doctor.Report) diagnosis {
	d := diagnosis{
		Version: 1, Works: r.Works(), Release: r.Release, Arch: r.Arch, Tracefs: r.Tracefs,
		Findings: []findingJSON{}, Features: []abilityJSON{}, Quirks: []abilityJSON{}, Leftovers: []leftoverJSON{},
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, findingJSON(f))
	}
	for _, a := range r.Features {
		d.Features = append(d.Features, abilityJSON(a))
	}
	for _, a := range r.Quirks {
		d.Quirks = append(d.Quirks, abilityJSON(a))
	}
	for _, l := range r.Leftovers {
		d.Leftovers = append(d.Leftovers, leftoverJSON(l))
	}
	return d
}
