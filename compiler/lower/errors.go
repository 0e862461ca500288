package lower

import (
	"fmt"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

func (l *lowerer) err(code diag.Code, sp source.Span, message string, notes ...diag.Note) {
	l.list = append(l.list, diag.Diagnostic{Severity: diag.Error, Code: code, Source: l.prog.Source, Span: sp, Message: message, Notes: notes})
}

func todo(format string, args ...any) diag.Note {
	return diag.Note{Span: source.NoSpan, Message: fmt.Sprintf(format, args...)}
}

func place(sp source.Span, format string, args ...any) diag.Note {
	return diag.Note{Span: sp, Message: fmt.Sprintf(format, args...)}
}

// kernel names the target's kernel in a sentence.
func (l *lowerer) kernel() string {
	if v := l.t.Version(); v != (target.Version{}) {
		return "Linux " + v.String()
	}
	return "the target's kernel"
}

func (l *lowerer) perCPUElsewhere(sp source.Span, name string) {
	l.err(diag.NotStorable, sp, fmt.Sprintf("each CPU has a variable '%s' of its own, which only a probe in the kernel finds", name),
		todo("read it where 'func F.enter', 'kprobe' or 'tracepoint' is the source"))
}

func (l *lowerer) cannotFetch(sp source.Span) {
	l.err(diag.NotStorable, sp, "no probe can read this value", todo("give what it is made of a field of its own"))
}

// missing reports a feature that the target lacks, with what would help.
func (l *lowerer) missing(f target.Feature, sp source.Span, what string) {
	if l.t.OnlyRunning(f) {
		l.err(diag.NotAtBoot, sp, fmt.Sprintf("a booting kernel cannot %s: it has no %s yet", what, f),
			todo("a booting kernel makes only kprobes at entries, synthetic events of joins, histograms, triggers and filters"))
		return
	}
	message := fmt.Sprintf("%s cannot %s: it has no %s", l.kernel(), what, string(f))
	note := todo("what shows that a kernel has them: %s", target.Basis(f))
	switch f {
	case target.SyntheticEvents, target.HistVariables:
		note = todo("they came with Linux 4.17 (CONFIG_SYNTH_EVENTS, CONFIG_HIST_TRIGGERS); this kernel may be built without them")
	case target.Hist:
		note = todo("they came with Linux 4.7 (CONFIG_HIST_TRIGGERS); this kernel may be built without them")
	case target.SyntheticStacks:
		note = todo("they came with Linux 6.3; 'on … do stack' records one beside each event, 'hist … by $kstack' counts by them")
	case target.Eprobes:
		note = todo("eprobes came with Linux 5.15 (CONFIG_EPROBE_EVENTS); until then record the event itself: 'trace group.event', or use a 'kprobe'")
	case target.EprobeFilter:
		note = todo("conditions of eprobes came with Linux 6.0; filter the records when reading them")
	}
	l.err(diag.MissingFeature, sp, message, note)
}

// noTracepointProbe is about a raw tracepoint where the target probes none: its
// event has the name of the tracepoint, mostly.
func (l *lowerer) noTracepointProbe(p *ir.Probe) {
	note := todo("they came with Linux 6.5 (CONFIG_FPROBE_EVENTS); this kernel may be built without them")
	if groups := l.t.EventNamed(p.Symbol); len(groups) > 0 {
		note = todo("what the tracepoint's event has is in '%s.%s'", groups[0], p.Symbol)
	}
	l.err(diag.MissingFeature, p.Span, l.kernel()+" cannot probe a raw tracepoint: it has no tracepoint probes", note)
}

func (l *lowerer) tooLong(origins []command.Origin, n int) {
	// The span is what the longer half of the command comes from.
	sp := source.NoSpan
	for _, o := range origins {
		if o.Lo >= n/2 && o.Span.Valid() {
			if !sp.Valid() {
				sp = o.Span
			}
			sp = source.Join(sp, o.Span)
		}
	}
	if !sp.Valid() && len(origins) > 0 {
		sp = origins[0].Span
	}
	l.err(diag.TooLong, sp, fmt.Sprintf("this becomes a command of %d bytes; the kernel takes %d", n, command.MaxLine), todo("shorten its conditions, or split it into two events"))
}

func (l *lowerer) argTooLong(sp source.Span, n, most int) {
	l.err(diag.TooLong, sp, fmt.Sprintf("this becomes %d characters in a probe; %s takes %d", n, l.kernel(), most), todo("shorten it"))
}

// tooFar is about a value that is behind more pointers than events after each
// other read.
func (l *lowerer) tooFar(x ir.Expr) {
	n := 0
	ir.Visit(x, func(x ir.Expr) bool {
		switch x.(type) {
		case *ir.Load, *ir.Str:
			n++
		}
		return true
	})
	l.err(diag.TooDeepDeref, x.Span(), fmt.Sprintf("this reads memory %d times behind each other, more than the kernel can in one moment", n), todo("read a part of the way"))
}

func (l *lowerer) tooManyArgs(sp source.Span, n int) {
	l.err(diag.TooManyFields, sp, fmt.Sprintf("the event has %d fields with those that its conditions need; the kernel allows %d", n, command.MaxArgs), todo("split it into two events"))
}

func (l *lowerer) tooLarge(sp source.Span, n, most int) {
	l.err(diag.TooManyFields, sp, fmt.Sprintf("a record of the event takes %d bytes; the kernel allows %d", n, most), todo("leave some fields out, or split it into two events"))
}

func (l *lowerer) tooManyCarried(sp source.Span, n, most int) {
	l.err(diag.TooManyFields, sp, fmt.Sprintf("the join carries %d values; a synthetic event holds %d", n, most), todo("leave some out, or split it into two events"))
}

func (l *lowerer) tooManyVariables(sp source.Span, n int) {
	l.err(diag.TooManyVariables, sp, fmt.Sprintf("the join keeps %d values of this stage; a histogram holds %d", n, command.MaxVars), todo("leave some out, or split it into two events"))
}

func (l *lowerer) tooManyReferences(sp source.Span, n int) {
	l.err(diag.TooManyVariables, sp, fmt.Sprintf("the event takes %d values from its stages; a histogram refers to %d", n, command.MaxRefs), todo("leave some out, or split it into two events"))
}

func (l *lowerer) keysTooLong(sp source.Span, n int) {
	l.err(diag.TooManyKeys, sp, fmt.Sprintf("the keys take %d bytes; a histogram's take at most %d", n, l.t.Limits().HistKeyBytes), todo("join by one text at most, better by a number"))
}

// histKeysTooLong reports the first key for which there is no room: with it all
// take n bytes.
func (l *lowerer) histKeysTooLong(sp source.Span, n int) {
	l.err(diag.TooManyKeys, sp, fmt.Sprintf("the keys take %d bytes with this one; %s has room for %d", n, l.kernel(), l.t.Limits().HistKeyBytes),
		todo("a text takes %d bytes, also '$comm', and a number 8: leave one out, or count by a number", command.MaxSynthString))
}

func (l *lowerer) noSyscallEvents(sp source.Span, name string) {
	l.err(diag.MissingFeature, sp, fmt.Sprintf("target '%s' has no events of system calls", l.t.Name()), todo("they want CONFIG_FTRACE_SYSCALLS; 'kprobe' can watch a function that '%s' calls", name))
}

func (l *lowerer) rawUnreadable(sp source.Span, name string) {
	l.err(diag.KernelQuirk, sp, fmt.Sprintf("%s cannot read the arguments of '%s'", l.kernel(), name),
		todo("there are no events of single system calls here, and an eprobe does not reach the array of raw_syscalls before Linux 6.17"))
}

func (l *lowerer) arrayByValue(sp source.Span, name string) {
	l.err(diag.KernelQuirk, sp, fmt.Sprintf("%s cannot read an element of '%s'", l.kernel(), name),
		todo("an eprobe gets the first 8 bytes of an array here, not its address; 'syscall X' works where the kernel has its event"))
}

func (l *lowerer) arrayAsNumber(sp source.Span, name string, size int) {
	l.err(diag.KernelQuirk, sp, fmt.Sprintf("the kernel reads the %d bytes of '%s' as one number, not as an array", size, name),
		todo("record the event itself: 'trace group.event'"))
}

func (l *lowerer) userArray(sp source.Span) {
	l.err(diag.MissingFeature, sp, "a probe copies no array from user memory", todo("read the elements that are wanted, one by one: 'p[0]'"))
}

func (l *lowerer) charPointer(sp source.Span, on *record, name string) {
	l.err(diag.KernelQuirk, sp, fmt.Sprintf("%s reads one byte of the pointer '%s'", l.kernel(), name),
		todo("its eprobes are broken for fields of type 'char *'; a join carries the pointer whole, and so does 'syscall X'"))
}

func (l *lowerer) cannotCopy(sp source.Span, name string, t types.Type) {
	l.err(diag.NotStorable, sp, fmt.Sprintf("a probe cannot copy '%s'", name), todo("list the fields that are wanted, without it"))
}

// stackBeforeRead is about the stack of a moment that is over when something is
// read: no probe copies a stack.
func (l *lowerer) stackBeforeRead(rec *recipe, stack, read ir.Expr) {
	text := l.prog.Source.Slice(read.Span())
	note := todo("read it then too, in a 'let' of that stage: 'let x = …'")
	if len(rec.ev.Stages) == 1 {
		note = todo("read it then too: 'enter(%s)'", text)
	}
	l.err(diag.NotStorable, stack.Span(), fmt.Sprintf("the stack of an earlier moment cannot stand beside '%s', which is read later", text), note)
}

func (l *lowerer) cannotCarry(sp source.Span) {
	l.err(diag.NotStorable, sp, "a join cannot carry this value", todo("a join carries numbers, pointers, texts and stacks"))
}

// warn adds a warning.
func (l *lowerer) warn(code diag.Code, sp source.Span, message string, notes ...diag.Note) {
	l.list = append(l.list, diag.Diagnostic{Severity: diag.Warning, Code: code, Source: l.prog.Source, Span: sp, Message: message, Notes: notes})
}

// faultUntold warns once of a value that may be what an earlier record left.
func (l *lowerer) faultUntold(sp source.Span, message string, notes ...diag.Note) {
	for _, d := range l.list {
		if d.Code == diag.FaultUntold && (sp.Contains(d.Span) || d.Span.Contains(sp)) { // a chain has a warning for the part that is too long
			return
		}
	}
	l.warn(diag.FaultUntold, sp, message, notes...)
}

func (l *lowerer) userFaultUntold(sp source.Span) {
	l.faultUntold(sp, "this kernel does not tell whether user memory could be read: if it could not, the value is left from an earlier record",
		todo("only a pointer that is NULL is told; read the kernel's copy where there is one"))
}

func (l *lowerer) chainUntold(sp source.Span) {
	l.faultUntold(sp, fmt.Sprintf("of more than %d pointers behind each other only the first are checked: if a later one is NULL, the value is left from an earlier record", maxThrough),
		todo("test the later pointers in a 'where'"))
}

func (l *lowerer) textCut(sp source.Span) {
	for _, d := range l.list {
		if d.Code == diag.TextCut && d.Span == sp {
			return // carried on and on
		}
	}
	l.warn(diag.TextCut, sp, fmt.Sprintf("a text of more than %d bytes is cut here", command.MaxSynthString-1), todo("a histogram hands no more of it on; an event without a join and a stack has it whole"))
}

func (l *lowerer) timesWhileStopped(sp source.Span, start bool) {
	word := "stop"
	if start {
		word = "start"
	}
	l.warn(diag.TimesWhileStopped, sp, fmt.Sprintf("while nothing is recorded the kernel takes times from another clock: those of a pair that spans this %s are wrong", word),
		todo("start and stop the events instead, which keeps the clock: '%s NAME'", word))
}

func (l *lowerer) markersElsewhere(sp source.Span, instance string) {
	l.warn(diag.MarkersElsewhere, sp, fmt.Sprintf("the instance '%s' sees only what is written to its own trace_marker", instance),
		todo("programs write to the common one: use --top-level, or no 'option instance'; else they must open instances/%s/trace_marker", instance))
}

func (l *lowerer) markerText(sp source.Span) {
	l.err(diag.NotStorable, sp, "the kernel keeps the text of a marker in the marker's own record alone", todo("test it in 'where', or write 'trace ftrace.print' without fields"))
}

func (l *lowerer) cannotCarryStack(sp source.Span) {
	l.err(diag.NotStorable, sp, "this stack cannot be carried so far", todo("the kernel hands a stack on once, to the event that joins its stage with the next: make an event of these two that has it, and trace that too"))
}

func (l *lowerer) tooNested(sp source.Span, name string, most int) {
	l.err(diag.TooDeep, sp, fmt.Sprintf("'%s' comes of too many events that come of each other: the kernel keeps the times of %d at once", name, most), todo("take fewer steps: derive it from the events that the others are made of"))
}

func (l *lowerer) cannotFilter(sp source.Span) {
	for _, d := range l.list {
		if d.Severity == diag.Error && sp.Contains(d.Span) {
			return // why it cannot be read has been said
		}
	}
	l.err(diag.CannotFilter, sp, "no filter of the kernel reaches this value", todo("make it a field of an event, and test that"))
}

// bitsOfCPU: a filter takes `CPU & 1`, and it holds for no CPU
// (kernel/trace/trace_events_filter.c, filter_pred_cpu).
func (l *lowerer) bitsOfCPU(sp source.Span) {
	l.err(diag.CannotFilter, sp, "the kernel cannot test bits of a CPU's number", todo("list the CPUs that are meant: $cpu in { 1, 3 }"))
}

func (l *lowerer) neverHolds(sp source.Span) {
	l.warn(diag.ConstantCondition, sp, "this condition never holds for what the event is made of", todo("nothing is recorded"))
}

func (l *lowerer) noOrder(sp source.Span, name string) {
	l.err(diag.CannotFilter, sp, fmt.Sprintf("the kernel has no order of values of type %s", name), todo("compare with '==' or '!='"))
}

func (l *lowerer) twoValues(sp source.Span) {
	l.err(diag.CannotFilter, sp, "the kernel orders two values of 32 bits or two times, and compares no two texts", todo("test with '==' or '!=', or compare with a constant"))
}

func (l *lowerer) inexactDuration(sp source.Span, u types.Unit) {
	l.err(diag.ConstantOutOfRange, sp, fmt.Sprintf("this is no whole number of %s and equals none", u), todo("compare with '<' or '>', or with whole %s", u))
}

func (l *lowerer) orderOfBits(sp source.Span) {
	l.err(diag.CannotFilter, sp, "masked bits have no order for the kernel", todo("compare them with '==' or '!='"))
}

func (l *lowerer) impossibleBits(sp source.Span) {
	l.err(diag.ConstantCondition, sp, "the mask leaves none of the bits that are asked for", todo("ask for bits of the mask"))
}

func (l *lowerer) sameName(sp source.Span, name string, at source.Span) {
	l.err(diag.NameTaken, sp, fmt.Sprintf("two events have the kernel's name '%s'", name), place(at, "the other is here"), todo("rename one"))
}

func (l *lowerer) nameTaken(sp source.Span, name string, at source.Span) {
	l.err(diag.NameTaken, sp, fmt.Sprintf("a join called '%s' beside another event of that name", name), place(at, "the other is here"),
		todo("some kernels confuse a synthetic event with others of its bare name; rename one"))
}

func (l *lowerer) nameOfTarget(sp source.Span, name, system string) {
	l.err(diag.NameTaken, sp, fmt.Sprintf("a join called '%s' beside the target's '%s.%s'", name, system, name),
		todo("some kernels confuse a synthetic event with others of its bare name; rename it"))
}

func (l *lowerer) kprobeRefused(sp source.Span, name string) {
	l.err(diag.NotProbeable, sp, fmt.Sprintf("the kernel lets no kprobe on '%s'", name), todo("write 'option functions auto': an fprobe is allowed"))
}

func (l *lowerer) ambiguousFunction(p *ir.Probe, n int) {
	note := todo("they are static functions of several files; choose one by its distance from '_text' in /proc/kallsyms: 'kprobe _text+OFF', for this kernel build only")
	if l.t.Has(target.FprobeEvents) && p.Offset == 0 {
		note = todo("write 'func %s': an fprobe takes the one that can be traced", p.Symbol)
	}
	l.err(diag.AmbiguousSymbol, p.Span, fmt.Sprintf("target '%s' has %d separate functions called '%s'", l.t.Name(), n, p.Symbol), note)
}

func (l *lowerer) cannotCompute(sp source.Span) {
	l.err(diag.CannotCompute, sp, "the kernel cannot compute with this value", todo("it computes with '+', '-', '*' and '/', and masks bits by a constant"))
}

// cannotRead is about a value that neither a histogram nor a probe can make.
func (l *lowerer) cannotRead(x ir.Expr) {
	var cast *ir.Cast
	ir.Visit(x, func(x ir.Expr) bool {
		if c, ok := x.(*ir.Cast); ok && cast == nil && !castable(c) {
			cast = c
		}
		return cast == nil
	})
	if cast != nil {
		l.err(diag.CannotCompute, cast.Sp, fmt.Sprintf("a probe reads this with fewer bytes than %s has", cast.T), todo("leave the wider type out"))
		return
	}
	l.cannotCompute(x.Span())
}

func (l *lowerer) signedDivision(sp source.Span) {
	l.err(diag.CannotCompute, sp, "the kernel divides numbers without a sign only", todo("if it is never below zero, say so: 'x as u64'"))
}

func (l *lowerer) narrowing(sp source.Span) {
	l.err(diag.CannotCompute, sp, "the kernel cannot narrow a number within arithmetic", todo("narrow the result instead: 'name: u32 = …'"))
}

func (l *lowerer) snapshotAtSwitch(sp source.Span) {
	l.err(diag.KernelQuirk, sp, fmt.Sprintf("%s may hang with snapshots at every switch of tasks", l.kernel()), todo("say how many: 'times 1 do snapshot'"))
}

func (l *lowerer) argumentNotThere(sp source.Span, why error) {
	message := "this argument cannot be had here"
	if why != nil {
		message += ": " + why.Error()
	}
	l.err(diag.NotStorable, sp, message, todo("leave it out, or read registers with $reg(…)"))
}

func (l *lowerer) argumentAtReturn(sp source.Span, p *ir.Probe) {
	word, where := "func", l.kernel()+" does not keep"
	if p.Place == ir.AtUserFunc {
		word, where = "ufunc", "a probe in user space does not keep"
	}
	l.err(diag.MissingFeature, sp, where+" arguments until a function returns", todo("write the span, '%s %s' without '.exit': it remembers them", word, p.Symbol))
}

func (l *lowerer) argumentOnStack(sp source.Span, n, most int) {
	l.err(diag.MissingFeature, sp, fmt.Sprintf("argument %d lies on the stack, where the kernel on %s does not look", n, l.t.Arch()),
		todo("only the first %d arguments can be had there", most))
}

func (l *lowerer) secondTracepointProbe(sp source.Span, name string, at source.Span) {
	l.err(diag.KernelQuirk, sp, fmt.Sprintf("%s takes one event for the raw tracepoint '%s'", l.kernel(), name), place(at, "the first is here"),
		todo("make one event with all fields of it, or use the group's event of that name"))
}

func (l *lowerer) argumentLost(sp source.Span, n int) {
	l.err(diag.NotStorable, sp, fmt.Sprintf("argument %d is a struct of more than 8 bytes, so the place of what comes from there on is not known", n),
		todo("read registers with 'kprobe' and $reg(…)"))
}

func (l *lowerer) narrowAddress(sp source.Span, bits int) {
	l.err(diag.NotStorable, sp, fmt.Sprintf("this address has %d bits in the program's memory, and the kernel reads 64", bits),
		todo("what lies behind it cannot be read; numbers can"))
}

func (l *lowerer) registerOfFprobe(sp source.Span, reg string) {
	l.err(diag.MissingFeature, sp, fmt.Sprintf("an fprobe or raw tracepoint does not know the register '%s'", reg), todo("write 'kprobe', or take out 'option functions fprobe'"))
}

func (l *lowerer) unionDiffers(sp source.Span, name string) {
	l.err(diag.MismatchedTypes, sp, fmt.Sprintf("the sources of '%s' do not keep their fields alike", name), todo("give each field a type: 'name: u64 = …'"))
}

func (l *lowerer) optionWantsInstance(sp source.Span) {
	l.err(diag.UnknownOption, sp, "this option is about the buffer, and the top level's is everybody's", todo("add 'option instance NAME', or compile with --instance"))
}
