package judge

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// placeEprobe finds the event that an eprobe hangs on: find_and_get_event of
// kernel/trace/trace_eprobe.c.
func (p *probe) placeEprobe(c *command.Eprobe) error {
	p.kind = eprobe
	p.place = c.On.Group + "/" + c.On.Name
	if err := p.j.needs(target.Eprobes, p.line, "e"); err != nil {
		return err
	}
	const gone = "Attached event does not exist"
	n := name{c.On.Group, c.On.Name}
	list := p.j.find(n)
	if len(list) == 0 {
		r := no("ENODEV", gone, "there is no event %s", n).at(p.line, p.words[1])
		r.Near = p.j.nearEvent(n)
		return r
	}
	p.on = list[0]
	for _, e := range list {
		if e.kind == synthetic {
			p.on = e
		}
	}
	switch p.on.kind {
	case static:
		if n.group == "ftrace" {
			return no("ENODEV", gone, "no eprobe can hang on events of the group ftrace").at(p.line, p.words[1])
		}
	case synthetic:
	case fprobe, tprobe:
		if !p.j.t.Has(target.EprobeOnProbe) {
			return no("ENODEV", gone, "on this kernel no eprobe can hang on a probe").at(p.line, p.words[1])
		}
	default:
		return no("ENODEV", gone, "no eprobe can hang on %s, which is a probe itself", n).at(p.line, p.words[1])
	}
	return nil
}

// condition judges an eprobe's `if`: on the fields of the event that it hangs
// on.
func (p *probe) condition(c *command.Eprobe) error {
	if !p.j.t.Has(target.EprobeFilter) {
		return no("EINVAL", "", "this kernel has no %s", target.EprobeFilter).at(p.line, " if ")
	}
	_, text, _ := strings.Cut(p.line, " if ")
	found, err := p.j.cond(p.on, c.If, text)
	if err != nil {
		return shifted(err, len(p.line)-len(text))
	}
	p.misleads = append(p.misleads, found...)
	if doubleBlank.MatchString(text) {
		p.mislead("several blanks in an eprobe's text become one")
	}
	return nil
}

// doubleBlank finds text between quotes with several blanks in a row.
var doubleBlank = regexp.MustCompile(`"[^"]*[ \t][ \t][^"]*"|'[^']*[ \t][ \t][^']*'`)

const (
	badSymbol = "Invalid probed address or symbol"
	unplaced  = "Failed to register probe event"
)

// kprobePlace is a place as the kernel compares it with what a delete names: the
// offset is decimal, and not there if it is 0; an address it hides.
func kprobePlace(c *command.Kprobe) string {
	s := c.Symbol
	switch {
	case s == "":
		return sprintf("address %x", c.Offset)
	case c.Module != "":
		s = c.Module + ":" + s
	}
	if c.Offset != 0 {
		s += "+" + strconv.FormatUint(c.Offset, 10)
	}
	return s
}

// placeKprobe finds an instruction.
func (p *probe) placeKprobe(c *command.Kprobe) error {
	p.kind, p.exit = kprobe, c.Return
	if c.Return {
		p.kind = kretprobe
	}
	p.place = kprobePlace(c)
	if err := p.j.needs(target.KprobeEvents, p.line, "p"); err != nil {
		return err
	}
	if c.Symbol == "" && c.Module == "" {
		if c.Offset == 0 {
			return no("EINVAL", unplaced, "0 is no address of the kernel").at(p.line, p.words[1])
		}
		// The upper half of the addresses is the kernel's.
		if c.Offset>>(8*p.j.t.Arch().WordSize()-1) == 0 {
			p.mislead("0x%x is no address of the kernel: enabling the event will fail", c.Offset)
		}
		return nil
	}
	if c.Module == "" && target.TextStart(c.Symbol) {
		return p.fromText(c)
	}
	f, there, err := p.function(c.Module, c.Symbol)
	if err != nil || !there {
		return err
	}
	switch f.State {
	case target.SymbolAbsent, target.SymbolUnlisted, target.SymbolData:
		return p.noFunction(c.Symbol)
	case target.SymbolFixed:
		return no("EINVAL", unplaced, "'%s' cannot be probed: it is not traced, or runs at the start alone", c.Symbol).at(p.line, c.Symbol)
	case target.SymbolFprobeOnly:
		return no("EINVAL", unplaced, "'%s' is on the kernel's list of what no kprobe may stop at", c.Symbol).at(p.line, c.Symbol)
	}
	if c.Module == "" && !p.j.quiet && p.j.t.Has(target.UniqueSymbols) {
		if n := max(p.j.t.Namesakes(c.Symbol), len(f.Modules)); n > 1 {
			return no("EADDRNOTAVAIL", "The symbol is not unique", "%d functions are called '%s'", n, c.Symbol).at(p.line, c.Symbol)
		}
	}
	p.entry = c.Offset == 0 || p.j.t.EntryOffset(c.Offset) && p.j.t.Has(target.BTFArgs)
	if c.Return && !p.entry {
		return no("EINVAL", "Retprobe address must be an function entry", "a function returns to where it was called; want its entry").at(p.line, p.words[1])
	}
	if p.j.t.InsideInstruction(c.Offset) {
		return no("EILSEQ", "Probe point is not an instruction boundary", "no instruction of '%s' begins at +%d", c.Symbol, c.Offset).at(p.line, p.words[1])
	}
	p.is(c.Module, c.Symbol, f)
	return nil
}

// fromText judges a place counted from the start of the kernel's code. Targets do
// not keep addresses, so that the kernel tells if a function begins there, which
// arguments and a return need.
func (p *probe) fromText(c *command.Kprobe) error {
	if c.Offset == 0 {
		return no("EINVAL", unplaced, "'%s' is not a function; want an offset from it", c.Symbol).at(p.line, c.Symbol)
	}
	p.entry = true
	return nil
}

// function returns what the target knows of a function. there is false for one
// of a module that is not loaded: a probe on it waits.
func (p *probe) function(module, symbol string) (f target.Function, there bool, err error) {
	if module == "" {
		f, err = p.j.t.Function(symbol)
		return f, true, err
	}
	f, err = p.j.t.Function(module + ":" + symbol)
	if err == nil && f.State != target.SymbolProbeable && f.State != target.SymbolFprobeOnly {
		p.mislead("module '%s' is not loaded, so the probe waits for it", module)
		return f, false, nil
	}
	return f, true, err
}

// noFunction refuses a symbol that is no function to probe.
func (p *probe) noFunction(symbol string) error {
	r := no("EINVAL", badSymbol, "there is no function '%s' that can be probed", symbol).at(p.line, symbol)
	r.Near, _ = p.j.t.NearSymbol(symbol)
	return r
}

// is notes which function the probe is on: f, which has the name symbol.
func (p *probe) is(module, symbol string, f target.Function) {
	if module == "" && len(f.Modules) > 0 {
		module = f.Modules[0]
	}
	p.module, p.symbol = module, symbol
}

// prototype returns what the probe's function or tracepoint takes and returns;
// nil if the kernel does not look it up or its types do not tell. It is looked
// up when it is first wanted.
func (p *probe) prototype() *target.Proto {
	if !p.looked {
		p.looked = true
		var err error
		switch {
		case !p.j.t.Has(target.BTFArgs) || p.symbol == "":
		case p.kind == tprobe:
			if p.proto, err = p.j.t.TracepointProto(p.symbol); err != nil || p.proto == nil {
				p.proto, err = p.namesake()
			}
		default:
			p.proto, err = p.j.t.FuncProto(p.module, p.symbol)
		}
		if err != nil {
			p.proto = nil
		}
	}
	return p.proto
}

// namesake is the function that the kernel takes for a tracepoint that it has
// not: without the first parameter, which of tracepoints' functions is not told.
func (p *probe) namesake() (*target.Proto, error) {
	f, err := p.j.t.FuncProto("", p.symbol)
	if err != nil || f == nil || len(f.Params) == 0 {
		return f, err
	}
	rest := *f
	rest.Params = rest.Params[1:]
	return &rest, nil
}

// maxactive refuses what stands between the 'f' or 't' of a probe and the colon.
// Kernels that take a number there look at nothing else.
func (p *probe) maxactive() error {
	head, _, _ := strings.Cut(p.words[0], ":")
	extra := head[1:]
	takes := p.j.t.Has(target.FprobeMaxactive)
	if extra == "" || takes && (extra[0] < '0' || extra[0] > '9') {
		return nil
	}
	n, err := strconv.ParseUint(extra, 0, 32)
	if takes && p.kind == fprobe && strings.HasSuffix(p.words[1], "%return") && err == nil && n > 0 && n <= command.MaxActive {
		return nil
	}
	return no("EINVAL", "Invalid maxactive number", "want ':' after '%s'", head[:1]).at(p.line, head)
}

// placeFprobe finds a function of function tracing.
func (p *probe) placeFprobe(c *command.Fprobe) error {
	p.kind, p.exit, p.entry = fprobe, c.Return, !c.Return
	p.place = strings.TrimSuffix(p.words[1], "%return")
	if err := p.j.needs(target.FprobeEvents, p.line, "f"); err != nil {
		return err
	}
	if err := p.maxactive(); err != nil {
		return err
	}
	if c.Return && !strings.HasSuffix(p.words[1], "%return") {
		p.mislead("with $retval the probe is one of the function's return, not of its entry")
	}
	if strings.ContainsAny(c.Symbol, "*?[") {
		return p.placeGlob(c.Symbol)
	}
	f, there, err := p.function(c.Module, c.Symbol)
	if err != nil {
		return err
	}
	if !there {
		return no("EINVAL", badSymbol, "module '%s' is not loaded, and an fprobe does not wait for it", c.Module).at(p.line, c.Module)
	}
	switch f.State {
	case target.SymbolAbsent, target.SymbolUnlisted, target.SymbolData, target.SymbolFixed:
		return p.noFunction(c.Symbol)
	}
	p.is(c.Module, c.Symbol, f)
	return nil
}

// placeGlob finds the functions that an fprobe's pattern matches.
func (p *probe) placeGlob(pattern string) error {
	list, err := p.j.t.Functions(func(name string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
	if err == nil && len(list) == 0 {
		return no("EINVAL", badSymbol, "no function that can be probed matches '%s'", pattern).at(p.line, pattern)
	}
	return nil
}

// placeTprobe finds a raw tracepoint. The kernel takes any name, for a module
// may bring it.
func (p *probe) placeTprobe(c *command.Tprobe) error {
	p.kind, p.entry = tprobe, true
	p.place = p.words[1]
	if err := p.j.needs(target.TracepointProbes, p.line, "t"); err != nil {
		return err
	}
	if err := p.maxactive(); err != nil {
		return err
	}
	if p.j.t.Has(target.QuirkOneTracepointProbe) {
		for _, e := range p.j.made.list() {
			if e.kind == tprobe && e.lines[0].place == p.place {
				return no("EEXIST", unplaced, "this kernel takes one probe on a tracepoint, and %s is there", e.name).at(p.line, p.place)
			}
		}
	}
	p.symbol = c.Tracepoint
	if _, err := p.j.t.TracepointProto(c.Tracepoint); err == nil && !p.j.t.TracepointProbeable(c.Tracepoint) {
		p.mislead("the kernel does not trace the function of tracepoint '%s': enabling the event will fail, and it cannot be removed then", c.Tracepoint)
	}
	if p.j.quiet || p.prototype() != nil {
		return nil
	}
	if list, err := p.j.t.Tracepoints(); err == nil {
		r := (&Refusal{}).near(c.Tracepoint, list)
		hint := ""
		if r.Near != "" {
			hint = "; did you mean '" + r.Near + "'?"
		}
		p.mislead("there is no tracepoint '%s', so the probe never fires%s", c.Tracepoint, hint)
	}
	return nil
}

// placeUprobe finds a file. What files a machine has, a target does not tell:
// only what is a folder on every Linux is refused.
func (p *probe) placeUprobe(c *command.Uprobe) error {
	p.kind, p.exit = uprobe, c.Return
	at := c.Path + ":" + sprintf("0x%0*x", 2*p.j.t.Arch().WordSize(), c.Offset)
	p.place = at
	if c.RefCtr != 0 {
		p.place += sprintf("(0x%x)", c.RefCtr)
	}
	if err := p.j.needs(target.UprobeEvents, p.line, "p"); err != nil {
		return err
	}
	if c.Offset >= 1<<31 {
		p.mislead("0x%x is beyond the end of most files; the offset is not looked at before the event is turned on", c.Offset)
	}
	if strings.Contains(c.Path, ":") { // no program has such a name
		return no("ENOENT", "Failed to find the given file", "'%s' is taken for the name of a file: the last ':' parts it from the offset", c.Path).at(p.line, c.Path)
	}
	for _, e := range p.j.made.list() {
		for _, l := range e.lines {
			there, _, _ := strings.Cut(l.place, "(")
			if e.kind == uprobe && there == at && l.place != p.place {
				return no("EINVAL", "", "%s is at the same place with another reference counter", e.name).at(p.line, p.words[1])
			}
		}
	}
	if strings.HasPrefix(c.Path, "/dev/") && !strings.HasPrefix(c.Path, "/dev/shm/") {
		return no("EINVAL", "Not a regular file", "'%s' is a device", c.Path).at(p.line, c.Path)
	}
	switch strings.TrimRight(c.Path, "/") {
	case "", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64",
		"/etc", "/dev", "/proc", "/sys", "/tmp", "/var", "/run", "/root", "/home", "/opt", "/usr/local", "/usr/local/bin":
		return no("EINVAL", "Not a regular file", "'%s' is a folder", c.Path).at(p.line, c.Path)
	}
	return nil
}
