package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInterruptBench(t *testing.T) {
	for _, args := range [][]string{{"selfbench", "--only", "hold-1e3"}, {"selfbench", "--growth"}} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		status, stdout, stderr := call(ctx, args...)
		if status != ExitInterrupted || !strings.Contains(stderr, "interrupted") || stdout != "" {
			t.Errorf("%q: exit status %d, want %d; stdout: %s, stderr: %s", args, status, ExitInterrupted, stdout, stderr)
		}
	}
}

// An incomplete table does not replace a complete one, and the interruption is reported.
func TestInterruptedBenchSavesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "was.json")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	status, _, stderr := call(ctx, "selfbench", "--only", "hold-1e3", "--save", file)
	if status != ExitInterrupted || !strings.Contains(stderr, "was.json is not written") {
		t.Errorf("exit status %d, want %d; stderr: %s", status, ExitInterrupted, stderr)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("there is a file")
	}
}
