//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipeWithoutWriter: a command that waits for a pipe ends on the first signal.
func TestPipeWithoutWriter(t *testing.T) {
	if os.Getenv("CLI_TEST_PIPE") != "" {
		os.Exit(Main([]string{"run", "--topology", os.Getenv("CLI_TEST_PIPE")}))
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPipeWithoutWriter$")
	cmd.Env = append(os.Environ(), "CLI_TEST_PIPE="+pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// This fails until the command waits for a writer.
	w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	for errors.Is(err, syscall.ENXIO) {
		time.Sleep(time.Millisecond)
		w, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != ExitInterrupted {
		t.Errorf("%v, want exit status %d", err, ExitInterrupted)
	}
}
