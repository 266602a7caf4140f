package cli

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite what the README shows")

// execute runs a command line in this process.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return (&app{args: args, out: stdout, err: stderr}).execute(ctx)
}

// call is execute, and returns what is printed.
func call(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = execute(ctx, args, &out, &err)
	return status, out.String(), err.String()
}

func TestInterruptBeforeTheRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	status, _, stderr := call(ctx, "run", "--topology", "ahbm-cube")
	if status != ExitInterrupted || !strings.Contains(stderr, "interrupted") || strings.Contains(stderr, "context canceled") {
		t.Errorf("exit status %d, want %d; stderr: %s", status, ExitInterrupted, stderr)
	}
}

// A run of hours ends at once when it is interrupted.
func TestInterruptDuringARun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	status, _, stderr := call(ctx, "run", "--set", "system.sips.count=64", "--algorithm", "ring_allreduce", "--n-elem", "65536")
	if status != ExitInterrupted || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit status %d, want %d; stderr: %s", status, ExitInterrupted, stderr)
	}
}

// Finished results are printed, even if the run is interrupted.
func TestInterruptKeepsWhatIsFinished(t *testing.T) {
	untilFinished(t, func(ctx context.Context) (int, bool, string) {
		status, stdout, stderr := call(ctx, "test", "ring_allreduce", "--ranks", "1-250", "--exhaustive")
		return status, strings.Contains(stdout, "ring_allreduce") && strings.Contains(stdout, " 0 failed"), stdout + stderr
	})
}

// Further schedules are reported if they were run.
func TestInterruptDuringSchedules(t *testing.T) {
	untilFinished(t, func(ctx context.Context) (int, bool, string) {
		status, stdout, stderr := call(ctx, "run", "--bench", "allgather_distributed", "--seeds", "10000000")
		finished := strings.Contains(stdout, "more schedules came to the same result")
		return status, strings.Contains(stderr, "interrupted") && finished, stdout + stderr
	})
}

// untilFinished interrupts a long command, later and later, until a result was finished before the
// interrupt.
func untilFinished(t *testing.T, command func(context.Context) (status int, finished bool, said string)) {
	t.Helper()
	for after := 300 * time.Millisecond; ; after *= 2 {
		ctx, stop := context.WithCancel(t.Context())
		timer := time.AfterFunc(after, stop)
		status, finished, said := command(ctx)
		timer.Stop()
		stop()
		switch {
		case status != ExitInterrupted:
			t.Fatalf("exit status %d, want %d: %s", status, ExitInterrupted, said)
		case finished:
			return
		case after > 10*time.Second:
			t.Fatalf("nothing was finished after %v: %s", after, said)
		}
	}
}

func TestSameRunSameBytes(t *testing.T) {
	args := []string{"run", "--ranks", "16", "--verify-data", "--format", "json", "--seed", "3"}
	without := func(s string) string {
		lines := slices.DeleteFunc(strings.Split(s, "\n"), func(l string) bool {
			return strings.Contains(l, `"wall_`) || strings.Contains(l, `"events_per_second"`)
		})
		return strings.Join(lines, "\n")
	}
	_, first, _ := call(t.Context(), args...)
	_, second, _ := call(t.Context(), args...)
	if diff := cmp.Diff(without(first), without(second)); diff != "" || first == "" {
		t.Errorf("two runs of one command differ\n%s", diff)
	}
}

// The README's picture is the real output, except for wall time and the number of events, which
// describe the program and not its result.
func TestReadmeShowsWhatComesOut(t *testing.T) {
	const readme, fence = "../README.md", "```"
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), fence+"text\n")
	shown, tail, closed := strings.Cut(rest, fence)
	if !ok || !closed || !strings.Contains(head, "go run ./cmd/kernbench run --bench ccl_allreduce --verify-data\n") {
		t.Fatal("the README does not show the main command and, in a text block, its output")
	}
	status, got, stderr := call(t.Context(), "run", "--bench", "ccl_allreduce", "--verify-data")
	if status != ExitOK {
		t.Fatalf("exit status %d\n%s%s", status, got, stderr)
	}
	if *update {
		if err := os.WriteFile(readme, []byte(head+fence+"text\n"+got+fence+tail), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	without := func(s string) []string {
		return slices.DeleteFunc(strings.Split(s, "\n"), func(l string) bool {
			return strings.HasPrefix(l, "wall time ") || strings.HasPrefix(l, "events ")
		})
	}
	if diff := cmp.Diff(without(shown), without(got)); diff != "" {
		t.Errorf("README.md (-shown +got; go test ./cli -update rewrites it)\n%s", diff)
	}
}

// fullDisk is a writer that fails as a full disk does.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A failed write is an error of every verb.
func TestFullDisk(t *testing.T) {
	for _, args := range [][]string{
		{}, {"run", "--ranks", "2"}, {"run", "--ranks", "2", "--format", "json"}, {"test", "hello_send", "--ranks", "2"},
		{"compare", "--topology", "ahbm-cube"}, {"probe", "--topology", "ahbm-cube"}, {"schema", "ccl"}, {"version"},
		{"list", "benches"}, {"list", "algorithms"}, {"list", "topologies"}, {"list", "presets"},
		{"list", "collectives"}, {"list", "executors"},
		{"new", "project", filepath.Join(t.TempDir(), "mine"), "--kernbench", ".."},
	} {
		var stderr bytes.Buffer
		if status := execute(t.Context(), args, fullDisk{}, &stderr); status != ExitUsage ||
			!strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%q: exit status %d, %q", args, status, &stderr)
		}
	}
}
