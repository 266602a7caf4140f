package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/tl"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func peName(pe int) string { return fmt.Sprintf("sip0.cube0.pe%d", pe) }

const ns = unit.Nanosecond

// twoRanks is a run of two ranks that send to each other along E and along W. So both messages from
// 0 to 1 have the same number. Rank 1 receives before rank 0 has sent, and two loads of rank 0
// overlap. A store of rank 1 overlaps one of its communication engine.
var twoRanks = []Event{
	{Kind: Load, PE: 0, Peer: -1, Start: 0, End: 20 * ns, Bytes: 64},
	{Kind: Load, PE: 0, Peer: -1, Start: 4 * ns, End: 24 * ns, Bytes: 64},
	{Kind: Recv, PE: 1, Rank: 1, Peer: 0, Dir: uint8(tl.West), Start: 5 * ns, End: 38200, Bytes: 64, Stalled: 33200,
		Ring: 1, Line: "ring.go:14"},
	{Kind: Send, PE: 0, Peer: 1, Dir: uint8(tl.West), Start: 20 * ns, End: 24400, Bytes: 64, Ring: 2, Line: "ring.go:12"},
	{Kind: Message, PE: 0, Peer: 1, Dir: uint8(tl.West), Start: 24400, End: 41 * ns, Bytes: 64, Ring: 2},
	{Kind: Send, PE: 0, Peer: 1, Dir: uint8(tl.East), Start: 24400, End: 28400, Bytes: 64, Stalled: 400, Ring: 1, Line: "ring.go:12"},
	{Kind: Message, PE: 0, Peer: 1, Dir: uint8(tl.East), Start: 28400, End: 38200, Bytes: 64, Ring: 1},
	{Kind: Recv, PE: 1, Rank: 1, Peer: 0, Dir: uint8(tl.East), Start: 38200, End: 41 * ns, Bytes: 64, Ring: 2, Line: "ring.go:14"},
	{Kind: Math, PE: 1, Rank: 1, Peer: -1, Start: 41 * ns, End: 41001, Bytes: 64},
	{Kind: Credit, PE: 1, Rank: 1, Peer: 0, Start: 41001, End: 50 * ns, Bytes: 16, Ring: 1},
	{Kind: Store, PE: 1, Rank: 1, Peer: -1, Start: 41001, End: 12 * unit.Microsecond, Bytes: 64},
	{Kind: Kernel, PE: 1, Rank: 1, Core: CommCore, Peer: -1, Start: 42 * ns, End: 60 * ns},
	{Kind: Store, PE: 1, Rank: 1, Core: CommCore, Peer: -1, Start: 44 * ns, End: 58 * ns, Bytes: 64},
}

func views() map[string]func(w *bytes.Buffer) Writer {
	return map[string]func(w *bytes.Buffer) Writer{
		"ccl":      func(w *bytes.Buffer) Writer { return NewCCL(w, peName, true) },
		"text":     func(w *bytes.Buffer) Writer { return NewText(w, peName) },
		"perfetto": func(w *bytes.Buffer) Writer { return NewPerfetto(w, peName) },
		"pftrace":  func(w *bytes.Buffer) Writer { return NewPFTrace(w, peName, map[string]string{"version": "v1"}, false) },
	}
}

func TestGoldenViews(t *testing.T) {
	for name, view := range views() {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			v := view(&b)
			for i := range twoRanks {
				v.Emit(&twoRanks[i])
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".golden")
			got := b.String()
			if name == "pftrace" {
				got = decoded(t, b.Bytes()).String()
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got; go test -update rewrites it)\n%s", diff)
			}
		})
	}
}

// chromeEvent is the part of the format that the checks below need.
type chromeEvent struct {
	Ph, Name string
	Pid, Tid int
	Ts, Dur  float64
	ID       int
}

func chromeEvents(t *testing.T, events []Event) []chromeEvent {
	t.Helper()
	var b bytes.Buffer
	p := NewPerfetto(&b, peName)
	for i := range events {
		p.Emit(&events[i])
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []chromeEvent }
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, b.Bytes())
	}
	return file.TraceEvents
}

func TestPerfettoSpansOfATrackDoNotOverlap(t *testing.T) {
	last := map[[2]int]float64{}
	for _, e := range chromeEvents(t, twoRanks) {
		if e.Ph != "X" {
			continue
		}
		k := [2]int{e.Pid, e.Tid}
		if e.Ts < last[k] {
			t.Errorf("%s of process %d, track %d starts at %g, before %g", e.Name, e.Pid, e.Tid, e.Ts, last[k])
		}
		last[k] = e.Ts + e.Dur
	}
}

func TestPerfettoArrowsFaceEachOther(t *testing.T) {
	events := chromeEvents(t, twoRanks)
	under := func(a chromeEvent) string { // the span that contains an arrow's end
		for _, e := range events {
			if e.Ph == "X" && e.Pid == a.Pid && e.Tid == a.Tid && e.Ts <= a.Ts && a.Ts < e.Ts+e.Dur {
				return e.Name
			}
		}
		return "nothing"
	}
	from := map[int]string{}
	for _, e := range events {
		if e.Ph == "s" {
			from[e.ID] = under(e)
		}
	}
	got := map[string]string{}
	for _, e := range events {
		if e.Ph == "f" {
			got[from[e.ID]] = under(e)
		}
	}
	want := map[string]string{"send E": "recv W", "send W": "recv E"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arrows (-want +got)\n%s", diff)
	}
}

func TestEmptyPerfettoIsJSON(t *testing.T) {
	if got := chromeEvents(t, nil); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestCloseTellsWhatWasNotWritten(t *testing.T) {
	full := errors.New("disk full")
	for _, v := range []Writer{
		NewCCL(failingWriter{full}, peName, true), NewText(failingWriter{full}, peName), NewPerfetto(failingWriter{full}, peName),
		NewPFTrace(failingWriter{full}, peName, nil, false),
	} {
		v.Emit(&Event{Kind: Send, Peer: -1})
		if err := v.Close(); !errors.Is(err, full) {
			t.Errorf("%T.Close() = %v, want %v", v, err, full)
		}
	}
}

func TestNewFile(t *testing.T) {
	for _, name := range []string{"a.txt", "a.json", "dir.d/a.JSON", "a.pftrace", "a.pftrace.gz", "a.txt.GZ"} {
		if _, err := NewFile(name, new(bytes.Buffer), FileOptions{PE: peName}); err != nil {
			t.Errorf("NewFile(%q): %v", name, err)
		}
	}
	for _, name := range []string{"", "trace", "a.csv", "json", "a.gz", "a.json.zip"} {
		_, err := NewFile(name, new(bytes.Buffer), FileOptions{PE: peName})
		if err == nil || !strings.Contains(err.Error(), ".json") {
			t.Errorf("NewFile(%q) = %v, want an error that names the extensions", name, err)
		}
	}
}

// A file for Perfetto has its origin in the format's metadata. The text form has none.
func TestFileSaysWhereItComesFrom(t *testing.T) {
	about := map[string]string{"version": "v1", "command": `kernbench run --set 'a="b"'`}
	var b bytes.Buffer
	w, err := NewFile("a.json", &b, FileOptions{PE: peName, About: about})
	if err != nil {
		t.Fatal(err)
	}
	w.Emit(&Event{Kind: Send, Peer: -1})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var file struct {
		OtherData   map[string]string `json:"otherData"`
		TraceEvents []any             `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil || !maps.Equal(file.OtherData, about) || len(file.TraceEvents) == 0 {
		t.Errorf("%v: %s", err, &b)
	}
	b.Reset()
	if w, err = NewFile("a.txt", &b, FileOptions{PE: peName, About: about}); err != nil || w.Close() != nil ||
		strings.Contains(b.String(), "v1") {
		t.Errorf("%v: %s", err, &b)
	}
}

type counter int

func (c *counter) Emit(*Event) { *c++ }

func TestTee(t *testing.T) {
	if Tee() != nil || Tee(nil, nil) != nil {
		t.Error("Tee of nothing is not nil, so executors would make events without a consumer")
	}
	var a, b counter
	Tee(&a, nil, &b).Emit(&Event{})
	if a != 1 || b != 1 {
		t.Errorf("the sinks saw %d and %d events, want 1 each", a, b)
	}
}

func TestAppendDecimal(t *testing.T) {
	for _, c := range []struct {
		t, scale unit.Time
		want     string
	}{
		{0, ns, "0"}, {346400, ns, "346.4"}, {1, ns, "0.001"}, {1, unit.Microsecond, "0.000001"},
		{1000, ns, "1"}, {-1500, ns, "-1.5"}, {1234567, unit.Microsecond, "1.234567"},
	} {
		if got := string(appendDecimal(nil, c.t, c.scale)); got != c.want {
			t.Errorf("appendDecimal(%d, %d) = %s, want %s", c.t, c.scale, got, c.want)
		}
	}
}

func BenchmarkViews(b *testing.B) {
	for name, view := range views() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf bytes.Buffer
			v := view(&buf)
			e := twoRanks[3]
			for b.Loop() {
				e.Start, e.End, e.Seq = e.End, e.End+ns, e.Seq+1
				v.Emit(&e)
				if buf.Len() > 1<<20 {
					buf.Reset()
				}
			}
		})
	}
}
