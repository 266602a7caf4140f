package outfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFullDisk fills a disk of 1 MiB: what was there stays whole, the error names the file, and
// nothing is left next to it.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no disk can be mounted (that takes root): %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	name := filepath.Join(disk, "out.json")
	if err := os.WriteFile(name, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("x"), 1<<16)
	for range 32 {
		f.Write(line)
	}
	err = f.Commit()
	var path *os.PathError
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &path) || path.Path != name {
		t.Errorf("%v, want that there is no space for %s", err, name)
	}
	if got, err := os.ReadFile(name); string(got) != "before" {
		t.Errorf("the file holds %.20q, %v, want what it held before", got, err)
	}
	if left, err := os.ReadDir(disk); len(left) != 1 {
		t.Errorf("%v are left, %v", left, err)
	}
}
