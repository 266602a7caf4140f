package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFileErrors: an error about a file says what failed, and what would be right.
func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "results.json"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tt := range []struct {
		op, name string
		err      error
		want     string
	}{
		{"open", at("reslts.json"), syscall.ENOENT,
			at("reslts.json") + ": there is no such file; did you mean " + at("results.json") + "?"},
		{"open", at("other.txt"), syscall.ENOENT, at("other.txt") + ": there is no such file"},
		{"open", at("none/x"), syscall.ENOENT, at("none/x") + ": there is no folder " + at("none")},
		{"open", at("x"), syscall.EACCES, "open " + at("x") + ": permission denied"},
		{"mkdir", at("x"), syscall.ENOENT, "cannot create folder " + at("x") + ": no such file or directory"},
		{"mkdir", at("x"), syscall.EACCES, "cannot create folder " + at("x") + ": permission denied"},
		{"create", at("none/x"), syscall.ENOENT, at("none/x") + ": there is no folder " + at("none")},
		{"create", at("x"), syscall.ENOENT, "cannot create file " + at("x") + ": no such file or directory"},
		{"create", at("x"), syscall.EACCES, "cannot create file " + at("x") + ": permission denied"},
	} {
		if got := fileErrorText(fmt.Errorf("--out: %w", &fs.PathError{Op: tt.op, Path: tt.name, Err: tt.err})); got != "--out: "+tt.want {
			t.Errorf("%s: %q, want %q", tt.op, got, "--out: "+tt.want)
		}
	}
}
