package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kernbench/lab/perf"

	"github.com/google/go-cmp/cmp"
)

var numericsArgs = []string{"perf", "all_reduce", "--ranks", "8", "-b", "1K", "-e", "1M", "-d", "bf16", "--numerics", "--platform", "mock"}

// Finished rows are printed at once, and the closing lines after them.
func TestNumericsInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, stderr := &stopping{after: 7, stop: stop}, &bytes.Buffer{}
	status := execute(ctx, numericsArgs, out, stderr)
	if status != ExitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit status %d, want %d; stderr: %s", status, ExitInterrupted, stderr)
	}
	if text := out.buf.String(); strings.Count(text, "\n        ") == 0 ||
		!strings.Contains(text, "\n# interrupted: ") || !strings.Contains(text, " rows not examined\n") {
		t.Errorf("found\n%s", text)
	}

	stop()
	status, stdout, _ := call(ctx, append(numericsArgs, "--format", "json")...)
	var n perf.Rounding
	if err := json.Unmarshal([]byte(stdout), &n); err != nil || n.Planned != 11 || len(n.Rows) != 0 || status != ExitInterrupted {
		t.Errorf("%v, exit status %d: %s", err, status, stdout)
	}
}

func TestNumericsFullDisk(t *testing.T) {
	for _, format := range []string{"text", "json", "csv"} {
		var stderr bytes.Buffer
		status := execute(t.Context(), append(numericsArgs, "-e", "2K", "--format", format), fullDisk{}, &stderr)
		if status != ExitUsage || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%s: exit status %d, %q", format, status, &stderr)
		}
	}
}

// A command prints the same for every number of parallel runs.
func TestNumericsSameRunSameBytes(t *testing.T) {
	args := append(numericsArgs, "-e", "2K", "--inputs", "all", "--algorithm",
		"ring_allreduce_chunked,double_tree_allreduce", "--format", "json")
	_, first, _ := call(t.Context(), args...)
	_, second, _ := call(t.Context(), args...)
	if diff := cmp.Diff(first, second); diff != "" || first == "" {
		t.Errorf("two runs of one command differ\n%s", diff)
	}
}

// A single given size is the only one measured.
func TestNumericsSizes(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []int64
	}{
		{nil, []int64{65536}},
		{[]string{"-b", "1K"}, []int64{1024}},
		{[]string{"-e", "2K"}, []int64{2048}},
		{[]string{"-b", "1K", "-e", "4K", "-f", "4"}, []int64{1024, 4096}},
	} {
		_, out, stderr := call(t.Context(), append([]string{"perf", "reduce", "--ranks", "2", "--numerics",
			"--platform", "mock", "--format", "json"}, tt.args...)...)
		var n perf.Rounding
		if err := json.Unmarshal([]byte(out), &n); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		var got []int64
		for _, r := range n.Rows {
			got = append(got, int64(r.Size))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: sizes %v, want %v", tt.args, got, tt.want)
		}
	}
}
