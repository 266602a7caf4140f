package plans

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"kernbench/frontend"
	"kernbench/lab/run"
	"kernbench/unit"
)

// written exports an algorithm as MSCCL XML and returns the file.
func written(t *testing.T, algorithm string, ranks, elems, channels int) string {
	t.Helper()
	f, err := run.Record(context.Background(), run.Spec{Algorithm: algorithm, Ranks: ranks, NElem: elems})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range frontend.Formats() {
		if to.Name != "msccl" {
			continue
		}
		x, err := to.Export(f, algorithm, frontend.ExportOptions{Channels: channels})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "x.xml")
		if err := os.WriteFile(name, x.Files[0].Data, 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	t.Fatal("no format msccl")
	return ""
}

func timed(t *testing.T, file, topology string, bytes unit.Bytes) *Result {
	t.Helper()
	l, err := Load(Spec{File: file, Topology: topology})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Time(context.Background(), bytes)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// More instances of an all-gather gain as much as its links carry on a full mesh. A ring uses one
// link of 48 GB/s, and all pairs use seven.
func TestInstancesGainWhatLinksCarry(t *testing.T) {
	const bytes = 512 * unit.MiB
	for _, c := range []struct {
		algorithm string
		links     float64
		gain      float64 // at least
	}{{"ring_allgather", 1, 2}, {"direct_allgather", 7, 4}} {
		one := timed(t, written(t, c.algorithm, 8, 1, 1), "mi300x-8", bytes).BusBW
		eight := timed(t, written(t, c.algorithm, 8, 1, 8), "mi300x-8", bytes).BusBW
		if eight < c.gain*one || eight > c.links*48 {
			t.Errorf("%s: busbw %.1f GB/s with one instance, %.1f with eight; want %v times as much, and at most %v links of 48",
				c.algorithm, one, eight, c.gain, c.links)
		}
	}
}

// The smallest call takes at least the time of its launch.
func TestFloor(t *testing.T) {
	for _, topology := range []string{"dgx-h100", "mi300x-8", "dgx-a100"} {
		if r := timed(t, written(t, "direct_allreduce", 4, 4, 1), topology, 64); r.Time < 5*unit.Microsecond {
			t.Errorf("%s: 64 bytes take %v, want at least 5us", topology, r.Time)
		}
	}
}

// BenchmarkScale judges and times a ring of 256 ranks: 130,816 steps, 130,560 messages.
func BenchmarkScale(b *testing.B) {
	f, err := run.Record(context.Background(), run.Spec{Algorithm: "ring_allreduce_chunked", Ranks: 256, NElem: 256})
	if err != nil {
		b.Fatal(err)
	}
	x, err := frontend.Formats()[1].Export(f, "ring", frontend.ExportOptions{})
	if err != nil {
		b.Fatal(err)
	}
	name := filepath.Join(b.TempDir(), "x.xml")
	if err := os.WriteFile(name, x.Files[0].Data, 0o666); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l, err := Load(Spec{File: name})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Time(context.Background(), 64*unit.MiB); err != nil {
			b.Fatal(err)
		}
	}
}
