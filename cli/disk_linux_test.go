package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRealFullDisk: each command that writes a file reports the full disk once, exits with 2, and
// keeps the former file of that name.
func TestRealFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no disk can be mounted (that takes root): %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	name := filepath.Join(disk, "out.json")
	if err := os.WriteFile(name, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	fill := filepath.Join(disk, "fill")
	if err := os.WriteFile(fill, make([]byte, 1<<20-1<<14), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "--ranks", "64", "--trace", name},
		{"perf", "all_reduce", "--ranks", "8", "-b", "8", "-e", "64K", "-c", "0", "--vary", "n_slots=2,4,8,16", "-J", name},
	} {
		status, stdout, stderr := call(t.Context(), args...)
		got, err := os.ReadFile(name)
		if string(got) != "before" || err != nil {
			t.Errorf("%v: the file holds %.20q, %v", args, got, err)
		}
		if status != ExitUsage || strings.Count(stderr, "no space left on device") != 1 || !strings.Contains(stderr, name) {
			t.Errorf("%v: exit status %d\n%s%s", args, status, stdout, stderr)
		}
	}
	if left, err := os.ReadDir(disk); len(left) != 2 {
		t.Errorf("%v are left, %v", left, err)
	}
}
