package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wantProfile checks that a file is a whole profile of samples of some type.
func wantProfile(t *testing.T, file, samples string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	data, err := io.ReadAll(z) // to the checksum at its end
	if err != nil || !bytes.Contains(data, []byte(samples)) {
		t.Errorf("%s: %d bytes without %q, %v", file, len(data), samples, err)
	}
}

// Profiles are complete whether a command succeeds, fails or is interrupted.
func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   string
		after  time.Duration // until the interrupt; 0: none
		status int
	}{
		{"run", "run --ranks 4", 0, ExitOK},
		{"run with a deadlock", "run --ranks 4 --algorithm ring_allreduce --set algorithms.ring_allreduce.n_slots=1", 0, ExitFault},
		{"run with a mistake", "run --ranks 4000", 0, ExitUsage},
		{"run that is interrupted", "run --set system.sips.count=64 --algorithm ring_allreduce --n-elem 65536",
			50 * time.Millisecond, ExitInterrupted},
		{"perf", "perf all_reduce --ranks 4 -b 1K -e 1K", 0, ExitOK},
		{"perf with a deadlock",
			"perf all_reduce --ranks 4 -b 1K -e 1K --algorithm ring_allreduce --set algorithms.ring_allreduce.n_slots=1",
			0, ExitFault},
		{"perf that is interrupted", "perf all_reduce -b 1K -e 1G --set system.sips.count=64 --algorithm ring_allreduce",
			50 * time.Millisecond, ExitInterrupted},
		{"perf of rounding", "perf all_reduce --ranks 4 -b 1K -e 1K -d bf16 --numerics", 0, ExitOK},
		{"tune", "tune all_reduce --ranks 4 -b 1K -e 1K --algorithm ring_allreduce --vary n_slots=2", 0, ExitOK},
		{"tune that is interrupted", "tune all_reduce --topology all --ranks 8", 50 * time.Millisecond, ExitInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			cpu, memory := filepath.Join(dir, "cpu.pprof"), filepath.Join(dir, "memory.pprof")
			args := append(strings.Fields(c.args), "--cpuprofile", cpu, "--memprofile", memory)
			if args[0] == "tune" {
				args = append(args, "--db", filepath.Join(dir, "x.db"))
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if c.after > 0 {
				defer time.AfterFunc(c.after, stop).Stop()
			}
			if status, stdout, stderr := call(ctx, args...); status != c.status {
				t.Errorf("exit status %d, want %d\n%s%s", status, c.status, stdout, stderr)
			}
			wantProfile(t, cpu, "nanoseconds")
			wantProfile(t, memory, "alloc_space")
		})
	}
}

// A file that cannot be written is reported before the run.
func TestProfilesThatCannotBeWritten(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere", "x.pprof")
	for _, verb := range []string{"run --ranks 2", "perf all_reduce --ranks 2 -b 1K -e 1K",
		"perf all_reduce --ranks 2 -b 1K -e 1K -d bf16 --numerics", "tune all_reduce --ranks 2 --db " + nowhere + ".db"} {
		for _, flag := range []string{"--cpuprofile", "--memprofile"} {
			status, stdout, stderr := call(t.Context(), append(strings.Fields(verb), flag, nowhere)...)
			if status != ExitUsage || stdout != "" || !strings.Contains(stderr, flag+": "+nowhere+": there is no folder ") {
				t.Errorf("%s %s: exit status %d, stdout %q, stderr %q", verb, flag, status, stdout, stderr)
			}
		}
	}
	both := filepath.Join(t.TempDir(), "x.pprof")
	status, stdout, stderr := call(t.Context(), "run", "--ranks", "2", "--cpuprofile", both, "--memprofile", both)
	if status != ExitUsage || stdout != "" || !strings.Contains(stderr, "that is --cpuprofile too") {
		t.Errorf("one file for both: exit status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	// A profile that did not start does not block the next.
	if status, _, stderr := call(t.Context(), "run", "--ranks", "2", "--cpuprofile", both); status != ExitOK {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}

// A profile that could not be completed is an error, even if the command has reported another one.
func TestProfileOnAFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("there is no disk that is always full:", err)
	}
	for _, c := range []struct {
		args   string
		status int
	}{
		{"run --ranks 2", ExitUsage},
		{"run --ranks 4 --algorithm ring_allreduce --set algorithms.ring_allreduce.n_slots=1", ExitFault},
		{"perf all_reduce --ranks 4 -b 1K -e 1K --algorithm ring_allreduce --set algorithms.ring_allreduce.n_slots=1", ExitFault},
	} {
		status, _, stderr := call(t.Context(), append(strings.Fields(c.args), "--memprofile", full)...)
		if status != c.status || !strings.Contains(stderr, "no space left") {
			t.Errorf("%s: exit status %d, want %d, stderr %q", c.args, status, c.status, stderr)
		}
	}
}
