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

// stopping cancels a context after some number of lines.
type stopping struct {
	buf   bytes.Buffer
	after int
	stop  func()
}

func (s *stopping) Write(p []byte) (int, error) {
	if s.after -= bytes.Count(p, []byte("\n")); s.after <= 0 {
		s.stop()
	}
	return s.buf.Write(p)
}

// Finished rows are printed at once, and the closing lines after them.
func TestPerfInterruptKeepsWhatIsFinished(t *testing.T) {
	for format, after := range map[string]int{"text": 13, "csv": 4} {
		ctx, stop := context.WithCancel(t.Context())
		out, stderr := &stopping{after: after, stop: stop}, &bytes.Buffer{}
		status := execute(ctx, []string{"perf", "all_reduce", "--ranks", "8", "-b", "8", "-e", "1G", "--format", format}, out, stderr)
		if status != ExitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%s: exit status %d, want %d; stderr: %s", format, status, ExitInterrupted, stderr)
		}
		lines := strings.Split(strings.TrimSpace(out.buf.String()), "\n")
		rows := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
			return strings.HasPrefix(l, "#") || strings.HasPrefix(l, "collective,")
		})
		if len(rows) < 3 || len(rows) > 20 {
			t.Errorf("%s: %d rows of 28\n%s", format, len(rows), &out.buf)
		}
		if last := lines[len(lines)-1]; format == "text" && !strings.HasPrefix(last, "# Collective test interrupted: all_reduce, ") {
			t.Errorf("the last line is %q", last)
		}
	}
}

func TestPerfInterruptBeforeTheFirstRow(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	status, stdout, stderr := call(ctx, "perf", "all_reduce", "--ranks", "2", "-e", "1K", "--format", "json")
	var sweep perf.Sweep
	if err := json.Unmarshal([]byte(stdout), &sweep); err != nil || sweep.Planned != 8 || len(sweep.Rows) != 0 {
		t.Errorf("%v: %s", err, stdout)
	}
	if status != ExitInterrupted || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit status %d, want %d; stderr: %s", status, ExitInterrupted, stderr)
	}
}

// A failed write is an error in every format, and ends the measurement.
func TestPerfFullDisk(t *testing.T) {
	for _, format := range []string{"text", "json", "csv"} {
		var stderr bytes.Buffer
		status := execute(t.Context(), []string{"perf", "all_reduce", "--ranks", "2", "-e", "1K", "--format", format}, fullDisk{}, &stderr)
		if status != ExitUsage || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%s: exit status %d, %q", format, status, &stderr)
		}
	}
}

func TestPerfSameRunSameBytes(t *testing.T) {
	args := []string{"perf", "all_reduce", "--ranks", "8", "-e", "64K", "--algorithm",
		"ring_allreduce,window_allreduce_ring", "--format", "json"}
	_, first, _ := call(t.Context(), args...)
	_, second, _ := call(t.Context(), args...)
	if diff := cmp.Diff(first, second); diff != "" || first == "" {
		t.Errorf("two runs of one command differ\n%s", diff)
	}
}

func TestSplitValues(t *testing.T) {
	for text, want := range map[string][]string{
		"1": {"1"}, "1,2,4": {"1", "2", "4"}, "[1, 2],[3]": {"[1, 2]", "[3]"}, "{a: 1, b: 2},x": {"{a: 1, b: 2}", "x"}, "a,": {"a", ""},
	} {
		if got := splitValues(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
