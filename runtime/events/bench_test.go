package events

import (
	"slices"
	"strings"
	"testing"
)

// benchPages returns the pages of one kind of recording and what decodes them.
func benchPages(b *testing.B, kind string) (pages [][]byte, streams map[int]*Stream, records int) {
	b.Helper()
	files := recorded(b)
	recording := ""
	for name := range files {
		if dir, ok := strings.CutSuffix(name, "/trace"); ok && strings.HasPrefix(dir, "6.17-x86_64-") && strings.HasSuffix(dir, "/"+kind) {
			recording = dir
		}
	}
	if recording == "" {
		b.Skipf("no recording of %s", kind)
	}
	streams = streamsOf(b, files, recording)
	for name, data := range files {
		if strings.HasPrefix(name, recording+"/") && strings.HasSuffix(name, "trace_pipe_raw") {
			pages = slices.AppendSeq(pages, slices.Chunk(data, 4096))
		}
	}
	for _, data := range pages {
		p, err := layout64(b).Page(data)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, _, ok := p.Next(); !ok {
				break
			}
			records++
		}
	}
	return pages, streams, records
}

// BenchmarkDecode decodes recorded pages: of sched_switch as an eprobe sees
// it, of openat with paths, and of fifty kernel events.
func BenchmarkDecode(b *testing.B) {
	for _, kind := range []string{"switch", "openat", "static"} {
		pages, streams, records := benchPages(b, kind)
		byID := make([]*Stream, 1<<16)
		var common common
		for id, s := range streams {
			byID[id], common = s, s.common
		}
		l := layout64(b)
		run := func(name string, line func(dst []byte, r *Record) []byte) {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				var r Record
				r.Comm = "bench"
				out := make([]byte, 0, 1<<16)
				total := 0
				for b.Loop() {
					for _, data := range pages {
						p, err := l.Page(data)
						if err != nil {
							b.Fatal(err)
						}
						for {
							record, t, ok := p.Next()
							if !ok {
								break
							}
							s := byID[common.id(record)]
							if s == nil {
								continue
							}
							s.Decode(record, &r)
							r.Time = t
							out = line(out[:0], &r)
							total += len(out)
						}
					}
				}
				n := float64(b.N) * float64(records)
				b.ReportMetric(n/b.Elapsed().Seconds(), "records/s")
				b.ReportMetric(b.Elapsed().Seconds()*1e9/n, "ns/record")
				b.ReportMetric(0, "ns/op")
			})
		}
		text, json := Text{}, JSON{}
		run("values", func(dst []byte, r *Record) []byte { return dst })
		run("text", text.AppendRecord)
		run("json", json.AppendRecord)
	}
}
