package joinproof

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

// instance is where scripts are carried out that name none.
const instance = "joinproof"

// machine is the guest's kernel, to carry out scripts on.
type machine struct {
	g  *vm.G
	fs *tracefs.FS
	to *target.Target
}

// live is opened once: all cases run in one boot.
var live = sync.OnceValues(func() (*target.Target, error) { return target.Open("live", os.DirFS("/")) })

func open(g *vm.G) *machine {
	to, err := live()
	if err != nil {
		g.Fatalf("%v", err)
	}
	f, err := tracefs.Open("")
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.Cleanup(func() { _ = f.Close() })
	return &machine{g: g, fs: f, to: to}
}

// compile compiles a script for the guest's own kernel.
func (m *machine) compile(text string, opts compiler.Options) (*plan.Plan, error) {
	src, err := source.New("proof.ep", text)
	if err != nil {
		return nil, err
	}
	p, list := compiler.Compile(src, m.to, opts)
	if p == nil {
		return nil, fmt.Errorf("%v", list)
	}
	return p, nil
}

// run carries out a script in an instance of its own, does what the script
// shall see, reads what came of it, and takes the script back.
func (m *machine) run(text string, do func()) *recording {
	p, err := m.compile(text, compiler.Options{Instance: instance})
	if err != nil {
		m.g.Fatalf("%v", err)
	}
	return m.carryOut(p, do)
}

func (m *machine) carryOut(p *plan.Plan, do func()) *recording {
	a, err := apply.Apply(m.g.Context(), m.fs, p)
	if err != nil {
		m.logWrites(p)
		m.g.Fatalf("%v", err)
	}
	defer func() {
		if err := a.Undo(); err != nil {
			m.g.Errorf("%v", err)
		}
	}()
	do()
	on := tracefs.In(p.Instance, "tracing_on")
	m.put(on, "0")
	rec := m.read(p)
	if p.Instance == "" {
		m.put(on, "1")
	}
	return rec
}

func (m *machine) logWrites(p *plan.Plan) {
	for _, w := range p.Writes {
		m.g.Logf("%s > %s", w.Data, w.File)
	}
}

// put writes a file that holds one value.
func (m *machine) put(name, value string) {
	if err := m.fs.Write(name, value, tracefs.Truncate); err != nil {
		m.g.Errorf("%v", err)
	}
}

// text reads a file of the instance.
func (m *machine) text(name string) string {
	data, err := m.fs.Read(tracefs.In(instance, name))
	if err != nil {
		m.g.Fatalf("%v", err)
	}
	return string(data)
}

// read reads what a plan's streams and tables hold.
func (m *machine) read(p *plan.Plan) *recording {
	rec := &recording{rows: map[string][]row{}, tables: map[string][]group{}}
	for _, t := range p.Tables {
		for _, h := range t.Hists {
			data, err := m.fs.Read(tracefs.In(p.Instance, path.Join("events", h.Group, h.Event, "hist")))
			if err != nil {
				m.g.Errorf("%v", err)
			}
			if rec.tables[t.Name] == nil {
				rec.tables[t.Name] = groups(string(data), h.Command)
			}
		}
	}
	if len(p.Streams) == 0 {
		return rec
	}
	ctx, cancel := context.WithCancel(m.g.Context())
	cancel() // the recording is at its end
	r, err := events.Open(os.DirFS(m.fs.Dir()), p.Streams, events.Options{Instance: p.Instance})
	if err != nil {
		m.g.Fatalf("%v", err)
	}
	defer r.Close()
	for e, err := range r.Records(ctx) {
		if err != nil {
			m.g.Errorf("%v", err)
			continue
		}
		rec.rows[e.Stream.Name] = append(rec.rows[e.Stream.Name], rowOf(e))
	}
	for _, l := range r.Losses() {
		if l.Overrun > 0 || l.Bad > 0 {
			m.g.Errorf("records were lost: %+v", l)
		}
	}
	return rec
}

func rowOf(e *events.Record) row {
	r := row{numbers: map[string]uint64{}, texts: map[string]string{}, tid: e.TID}
	for i, f := range e.Stream.Fields {
		v := e.Values[i]
		switch f.Type.(type) {
		case types.String, types.Stack, types.Array:
			r.texts[f.Name] = string(v.Data)
		default:
			r.numbers[f.Name] = v.Num
		}
	}
	return r
}

// state is all of tracefs that the writes of a plan may change, save in the
// plan's own instance, which goes.
func (m *machine) state(p *plan.Plan) string {
	var b strings.Builder
	show := func(name string) {
		data, err := m.fs.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			data = []byte("none\n")
		} else if err != nil {
			m.g.Errorf("%v", err)
		}
		fmt.Fprintf(&b, "%s: %s", name, data)
	}
	for _, name := range []string{"dynamic_events", "trace_clock", "set_event", "set_event_pid", "tracing_on"} {
		show(name)
	}
	entries, err := os.ReadDir(path.Join(m.fs.Dir(), "instances"))
	if err != nil {
		m.g.Errorf("%v", err)
	}
	for _, e := range entries {
		fmt.Fprintf(&b, "instance %s\n", e.Name())
	}
	var seen []string
	for _, w := range p.Writes {
		dir := path.Dir(w.File)
		if !strings.HasPrefix(dir, "events/") || slices.Contains(seen, dir) {
			continue
		}
		seen = append(seen, dir)
		for _, name := range []string{"enable", "filter", "trigger"} {
			show(path.Join(dir, name))
		}
	}
	return b.String()
}
