package outfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/internal/outfile"
)

// holds checks what a file holds, and that nothing else is in its folder.
func holds(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
	}
	if all, _ := os.ReadDir(filepath.Dir(name)); len(all) != 1 {
		t.Errorf("%d entries in the folder, want 1: %v", len(all), all)
	}
}

func old(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	return name
}

func created(t *testing.T, name string) *outfile.File {
	t.Helper()
	f, err := outfile.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReplacedWhole: no reader sees a part of a file, and its permissions stay.
func TestReplacedWhole(t *testing.T) {
	name := old(t)
	f := created(t, name)
	f.Write([]byte("ne"))
	if got, _ := os.ReadFile(name); string(got) != "old" {
		t.Errorf("before the end: %q", got)
	}
	f.Write([]byte("w"))
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard() // as a deferred call
	holds(t, name, "new")
	if info, _ := os.Stat(name); info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v", info.Mode())
	}
}

// TestLeavesWhatWas: what was there stays after Discard, after DiscardAll, and after a write that
// failed.
func TestLeavesWhatWas(t *testing.T) {
	for what, end := range map[string]func(f *outfile.File){
		"discard":     func(f *outfile.File) { f.Discard() },
		"discard all": func(*outfile.File) { outfile.DiscardAll() },
	} {
		name := old(t)
		f := created(t, name)
		f.Write([]byte("new"))
		end(f)
		t.Log(what)
		holds(t, name, "old")
	}
}

// TestNewFile: a file that was not there has the permissions of a new file, or is not there.
func TestNewFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.txt")
	created(t, name).Discard()
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("after Discard: %v", err)
	}
	if err := outfile.WriteFile(name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, name, "new")
}

// TestLinkStays: what a link leads to is replaced, not the link.
func TestLinkStays(t *testing.T) {
	name := old(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(name, link); err != nil {
		t.Skip(err)
	}
	if err := outfile.WriteFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, name, "new")
	if !outfile.Same(link, name) || outfile.Same(link, old(t)) {
		t.Error("Same does not look at files")
	}
}

// TestRefused: a destination that cannot be written is refused before there is anything to write.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir:                                "is a folder",
		filepath.Join(dir, "none", "x"):    "create " + filepath.Join(dir, "none", "x") + ": no such file",
		filepath.Join(old(t), "below.txt"): "not a directory",
	} {
		if _, err := outfile.Create(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".part") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestFullDisk: a device is written as it is, and a write that fails is the error of Commit.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	if err := outfile.WriteFile("/dev/full", []byte("new")); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v, want that there is no space", err)
	}
	if err := outfile.WriteFile(os.DevNull, []byte("new")); err != nil {
		t.Error(err)
	}
}
