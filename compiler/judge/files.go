package judge

import (
	"slices"
	"strings"
)

// judged are the files at the top of a buffer's folder whose writes a Judge
// knows; those of options it knows too.
var judged = []string{
	"dynamic_events", "kprobe_events", "uprobe_events", "synthetic_events", "trace_clock", "set_event",
	"set_event_pid", "set_event_notrace_pid", "set_ftrace_pid", "set_ftrace_notrace_pid", "tracing_on", "snapshot",
	"buffer_size_kb", "current_tracer", "trace", "trace_marker", "trace_options", "tracing_cpumask", "error_log",
	"max_graph_depth", "buffer_percent", "saved_cmdlines_size", "tracing_thresh",
	"set_ftrace_filter", "set_ftrace_notrace", "set_graph_function", "set_graph_notrace",
}

// others are the files that take writes of which a Judge knows nothing.
var others = []string{
	"buffer_subbuf_size_kb", "free_buffer", "function_profile_enabled", "stack_max_size", "stack_trace_filter",
	"trace_marker_raw", "tracing_max_latency", "user_events_data",
}

// folders hold files of which a Judge knows nothing.
var folders = []string{"hwlat_detector/", "options/", "osnoise/", "per_cpu/"}

// Judges reports whether a Judge knows what a kernel says of writes to the file,
// from the root of tracefs.
func Judges(path string) bool {
	path = withoutInstance(path)
	if option, ok := strings.CutPrefix(path, "options/"); ok && slices.Contains(options, option) || slices.Contains(judged, path) {
		return true
	}
	return !slices.Contains(others, path) && !slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f) })
}

// withoutInstance is the path as it would be at the top level.
func withoutInstance(path string) string {
	if rest, ok := strings.CutPrefix(path, "instances/"); ok {
		if _, inside, ok := strings.Cut(rest, "/"); ok {
			return inside
		}
	}
	return path
}

// noFile refuses a file that tracefs has not. Nobody can make one there.
func noFile(path string) error {
	all := append(slices.Clone(judged), others...)
	return no("EACCES", "", "tracefs has no file '%s'", path).near(path, all)
}
