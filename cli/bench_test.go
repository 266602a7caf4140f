package cli

import (
	"context"
	"strings"
	"testing"
)

func TestInterruptBench(t *testing.T) {
	for _, args := range [][]string{{"bench", "--only", "hold-1e3"}, {"bench", "--growth"}} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		status, stdout, stderr := call(ctx, args...)
		if status != ExitInterrupted || !strings.Contains(stderr, "interrupted") || stdout != "" {
			t.Errorf("%q: exit status %d, want %d; stdout: %s, stderr: %s", args, status, ExitInterrupted, stdout, stderr)
		}
	}
}
