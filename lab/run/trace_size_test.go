package run_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kernbench/lab/run"
)

// A .pftrace takes at most 80 bytes for each span, 45 without annotations.
func TestTraceSizes(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec run.Spec
	}{
		{"ring", run.Spec{Topology: "ahbm", Algorithm: "ring_allreduce", Ranks: 32, NElem: 16384}},
		{"many small messages", run.Spec{Topology: "ahbm", Algorithm: "ring_allreduce", Ranks: 64}},
		{"windows", run.Spec{Topology: "ahbm", Algorithm: "window_allreduce_onephase", Ranks: 16, NElem: 4096}},
		{"tasks", run.Spec{Topology: "ahbm-cube", Bench: "hccl_allreduce"}},
		{"streams", run.Spec{Topology: "ahbm-cube", Bench: "bounded_queue"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := func(name string, plain bool) []byte {
				s := tt.spec
				s.TraceFile, s.TracePlain = filepath.Join(t.TempDir(), name), plain
				if _, err := run.Run(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(s.TraceFile)
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			spans := bytes.Count(file("x.json", false), []byte(`"ph":"X"`))
			if spans < 1000 {
				t.Fatalf("%d spans", spans)
			}
			for _, plain := range []bool{false, true} {
				most := 80 * spans
				if plain {
					most = 45 * spans
				}
				if n := len(file("x.pftrace", plain)); n > most {
					t.Errorf("plain %v: %d bytes for %d spans, more than %d", plain, n, spans, most)
				}
			}
		})
	}
}
