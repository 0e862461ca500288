package lower

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// What programs write to the file trace_marker is an event of ftrace itself,
// ftrace.print, and unlike all others: it is always on, has no filter, and takes
// no probe (kernel/trace/trace_export.c; trace_events.c, event_create_dir). It
// does take triggers, which may test the text but not keep it, for its size is
// not known. So what is made of it is made by histograms.

// markerSystem is the group of ftrace's own records, of which the checker lets
// through ftrace.print alone.
const markerSystem = "ftrace"

// asMarker makes r the record of a marker.
func (r *record) asMarker() {
	r.marker = true
	for i := range r.columns {
		if _, text := r.columns[i].typ.(types.String); text {
			r.columns[i].tested = true
		}
	}
}

// onMarker reports whether the recipe's first step is a marker.
func (r *recipe) onMarker() bool { return r.steps[0].on != nil && r.steps[0].on.marker }

// seesMarkers warns where a script in an instance waits for markers: programs
// write them to the top level, and each instance has a file of its own.
func (l *lowerer) seesMarkers(r *record, sp source.Span) {
	if r.marker && l.plan.Instance != "" && !l.marked {
		l.marked = true
		l.markersElsewhere(sp, l.plan.Instance)
	}
}

// markerAsIs reports what histograms cannot take of a marker.
func (l *lowerer) markerAsIs(rec *recipe) {
	list, _ := l.stepValues(rec, 0)
	for _, x := range list {
		if ref, ok := x.(*ir.FieldRef); ok && rec.steps[0].on.column(ref.Name).tested {
			l.markerText(x.Span())
			return
		}
		if c, ok := x.(*ir.Context); ok && c.Kind == ir.Comm {
			l.need(target.CommonComm, x.Span(), "know the thread of a marker by its name")
			return
		}
	}
	l.cannotCompute(rec.ev.Span)
}
