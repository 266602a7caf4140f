package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kernbench/store"
)

// Ctrl-C keeps the finished results and prints a note. It writes no incomplete table.
func TestInterruptDuringATune(t *testing.T) {
	dir := t.TempDir()
	db, table := filepath.Join(dir, "x.db"), filepath.Join(dir, "t.yaml")
	args := []string{"tune", "all_reduce", "--ranks", "64", "-b", "1K", "-e", "64M", "--algorithm",
		"ring_allreduce_chunked", "--db", db, "--table", table}
	st, err := store.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for n := 0; n < 3 && ctx.Err() == nil; time.Sleep(time.Millisecond) {
			points, err := st.AllPoints()
			if err != nil {
				t.Error(err)
			}
			n = len(points)
		}
		stop()
	}()
	status, stdout, stderr := call(ctx, args...)
	if status != ExitInterrupted || !strings.Contains(stderr, "the same command continues from there") ||
		!strings.Contains(stdout, "all_reduce of 64 ranks") {
		t.Errorf("exit status %d; stdout: %s\nstderr: %s", status, stdout, stderr)
	}
	if _, err := os.Stat(table); err == nil {
		t.Error("a table of a part was written")
	}
	if points, err := st.Points(1); err != nil || len(points) < 3 {
		t.Errorf("%d points are kept: %v", len(points), err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 3 {
		t.Errorf("%v are left", entries)
	}
}

func TestCommandLineCanBeCalledAgain(t *testing.T) {
	a := app{args: []string{"tune", "it's", "a b", "--set", "a=[1]", ""}}
	if got, want := a.commandLine(), `kernbench tune 'it'\''s' 'a b' --set 'a=[1]' ''`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
