//go:build !nodb

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/store"
)

// TestQueriesMakeNoFiles: no question makes a file.
func TestQueriesMakeNoFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.db")
	s := opened(t, file)
	if err := s.Put(begun(t, s), point("a")); err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenToRead(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	made := filepath.Join(dir, "made")
	for _, q := range []string{
		"ATTACH '" + made + "' AS m", "ATTACH 'file:" + made + "?mode=rwc' AS m; CREATE TABLE m.t(x)", "VACUUM INTO '" + made + "'",
		"SELECT 1; ATTACH '" + made + "' AS m",
	} {
		if err := r.Query(t.Context(), q, func([]string) error { return nil }); err == nil ||
			!strings.HasSuffix(err.Error(), "a query cannot open or create other files") {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("a file was made")
	}
}

// TestErrorsAreSentences: the codes of SQLite are not for people.
func TestErrorsAreSentences(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "x.db"))
	for q, want := range map[string]string{
		"SELECT * FROM nope": "x.db: no such table: nope (the tables and their columns are in docs/tune.md)",
		"SELEKT":             `x.db: near "SELEKT": syntax error (the tables and their columns are in docs/tune.md)`,
	} {
		if err := s.Query(t.Context(), q, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestReadOnlyFolder: a database in a folder that may not be written can be read.
func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.db")
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(begun(t, s), point("a")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write everywhere")
	}
	r, err := store.OpenToRead(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if p, err := r.AllPoints(); err != nil || len(p) != 1 {
		t.Errorf("%d points, %v", len(p), err)
	}
}

// TestReadersLeaveNoFiles: a database that was read is alone in its folder, as one that was
// written.
func TestReadersLeaveNoFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.db")
	w, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Put(begun(t, w), point("a")), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenToRead(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.AllPoints()
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
