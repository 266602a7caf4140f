//go:build !nodb

package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kernbench/store"

	"github.com/google/go-cmp/cmp"
)

var when = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

func point(key string) *store.Point {
	off := 0.25
	return &store.Point{
		Key: key, Program: "prog", Topology: "ahbm", Machine: "2 SIPs", Fingerprint: "f", Fidelity: "slot",
		Collective: "all_reduce", Algorithm: "ring", Settings: "n_slots=8", Type: "f32", Op: "sum", Root: -1, Ranks: 8,
		Size: 1024, Elems: 256, InPlace: true, Time: 140_000, Messages: 7, Events: 99, Estimated: true, EstimateError: &off,
	}
}

func opened(t *testing.T, file string) *store.Store {
	t.Helper()
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func begun(t *testing.T, s *store.Store) int64 {
	t.Helper()
	run, err := s.Begin(store.Run{Started: when, Command: "kernbench tune", Program: "prog"})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestWhatIsPutIsFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b?c#%20.db")
	s := opened(t, file)
	run := begun(t, s)
	failed := point("failed")
	failed.Error, failed.Time, failed.EstimateError, failed.Estimated, failed.Size = "deadlock", 0, nil, false, 2048
	for _, p := range []*store.Point{point("a"), failed} {
		if err := s.Put(run, p); err != nil {
			t.Fatal(err)
		}
	}
	bound := &store.Bound{Hardware: 5, HardwareLimit: "cut", Configured: 6, ConfiguredLimit: "slots"}
	if err := s.PutBound("a", bound); err != nil {
		t.Fatal(err)
	}
	other := point("a")
	other.Time = 1
	if err := s.Put(run, other); err != nil { // what is there stays
		t.Fatal(err)
	}
	if err := s.Finish(run, when.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}

	r, err := store.OpenToRead(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := point("a")
	a.Bound = bound
	got, err := r.Points(run)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Point{*a, *failed}, got); diff != "" {
		t.Error(diff)
	}
	runs, err := r.Runs()
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Run{{
		ID: run, Started: when, Finished: when.Add(time.Minute), Command: "kernbench tune", Program: "prog",
		Points: 2, Topologies: "ahbm", Collectives: "all_reduce", Fidelity: "slot",
	}}
	if diff := cmp.Diff(want, runs); diff != "" {
		t.Error(diff)
	}
	if _, err := r.Run(7); err == nil || !strings.Contains(err.Error(), "there is no run 7: the runs are 1 to 1") {
		t.Errorf("run 7: %v", err)
	}
}

func TestFindMakesAPointOneOfTheRun(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "x.db"))
	first, second := begun(t, s), begun(t, s)
	if err := s.Put(first, point("a")); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{"a": true, "b": false} {
		p, err := s.Find(second, key)
		if err != nil || (p != nil) != want {
			t.Errorf("find %s: %v, %v", key, p, err)
		}
	}
	if got, err := s.Points(second); err != nil || len(got) != 1 {
		t.Errorf("points of the second run: %v, %v", got, err)
	}
}

func TestVerdicts(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "x.db"))
	if _, known, err := s.Verdict("k"); known || err != nil {
		t.Errorf("before: %v, %v", known, err)
	}
	if err := s.PutVerdict("k", "prog", "ring", 8, 64, "3 elements are wrong"); err != nil {
		t.Fatal(err)
	}
	if wrong, known, err := s.Verdict("k"); wrong != "3 elements are wrong" || !known || err != nil {
		t.Errorf("after: %q, %v, %v", wrong, known, err)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, sqls ...string) string {
		file := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range sqls {
			if _, err := db.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return file
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, want string }{
		{"text", text, "text: this file is not a results database: name another with --db"},
		{"another program's", write("other.db", "CREATE TABLE t (x)"), "other.db: is a database of another program"},
		{"newer", write("newer.db", "PRAGMA application_id = 0x6b62656e", "PRAGMA user_version = 9"),
			"written by a newer kernbench: found version 9, want 1 to 1"},
		{"in no folder", filepath.Join(dir, "none", "x.db"), "cannot be opened: check that its folder exists"},
		{"unnamed", "", "needs a file name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := store.Open(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Open: %v, want %s", err, c.want)
			}
		})
	}
	if _, err := store.OpenToRead(filepath.Join(dir, "missing.db")); err == nil || !strings.Contains(err.Error(), "kernbench tune --db") {
		t.Errorf("missing: %v", err)
	}
	if _, err := store.OpenToRead(text); err == nil || !strings.Contains(err.Error(), "is not a results database") {
		t.Errorf("text: %v", err)
	}
}

func TestQueriesChangeNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, file)
	if err := s.Put(begun(t, s), point("a")); err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenToRead(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got [][]string
	keep := func(cells []string) error { got = append(got, cells); return nil }
	if err := r.Query(t.Context(), "SELECT algorithm, time_ps, estimate_error, NULL AS nought FROM point", keep); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"algorithm", "time_ps", "estimate_error", "nought"}, {"ring", "140000", "0.25", ""}}, got); diff != "" {
		t.Error(diff)
	}
	for _, q := range []string{"DELETE FROM point", "PRAGMA query_only = 0; DELETE FROM point", "DROP TABLE point"} {
		if err := r.Query(t.Context(), q, keep); err == nil || !strings.Contains(err.Error(), "only reading is allowed") {
			t.Errorf("%s: %v", q, err)
		}
	}
	if err := r.Query(t.Context(), "SELEKT", keep); err == nil || !strings.Contains(err.Error(), "syntax error") {
		t.Errorf("SELEKT: %v", err)
	}
	if p, err := r.AllPoints(); err != nil || len(p) != 1 {
		t.Errorf("%d points are left: %v", len(p), err)
	}
}

// Several processes write to one file at once, and one of them is killed: what was finished is
// there.
func TestProcessesShareAFile(t *testing.T) {
	if dir := os.Getenv("STORE_TEST_WRITER"); dir != "" {
		write(t, dir, os.Getenv("STORE_TEST_NAME"))
		return
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "killed"} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProcessesShareAFile$")
		cmd.Env = append(os.Environ(), "STORE_TEST_WRITER="+dir, "STORE_TEST_NAME="+name)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if name == "killed" {
			for lines(t, dir, name) < 5 {
				time.Sleep(time.Millisecond)
			}
			stop() // SIGKILL
			cmd.Wait()
			continue
		}
		wg.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v\n%s", name, err, &out)
			}
		})
	}
	wg.Wait()
	s := opened(t, filepath.Join(dir, "x.db"))
	for _, name := range []string{"a", "b", "killed"} {
		for i := range lines(t, dir, name) {
			if p, err := s.Find(1, fmt.Sprintf("%s%d", name, i)); err != nil || p == nil {
				t.Fatalf("point %d of %s, which said that it was put: %v, %v", i, name, p, err)
			}
		}
	}
}

// write puts points, and prints a line for each.
func write(t *testing.T, dir, name string) {
	s := opened(t, filepath.Join(dir, "x.db"))
	run := begun(t, s)
	said, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	most := 50
	if name == "killed" {
		most = 1 << 30
	}
	for i := range most {
		if err := s.Put(run, point(fmt.Sprintf("%s%d", name, i))); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(said, i)
	}
}

func lines(t *testing.T, dir, name string) int {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}
