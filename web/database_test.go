package web

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"kernbench/lab/run"
	"kernbench/lab/tune"
	"kernbench/lab/view"
	"kernbench/store"
	"kernbench/unit"
)

// A run of a database is shown, named itself or in a folder, and put next to a report.
func TestDatabase(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "t.db")
	report(t, filepath.Join(folder, "z.html"), "a report")
	st, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tune.Run(context.Background(), tune.Spec{
		Base: run.Spec{}, Topologies: []string{"ahbm-cube"}, Ranks: []int{2}, Collectives: []string{"all_reduce"},
		Algorithms: []string{"ring_allreduce"},
		Min:        unit.KiB, Max: 2 * unit.KiB, Factor: 2, Best: 1, AllTo: unit.MiB, MeasureTo: unit.MiB,
		Budget: 1 << 40, Program: "of the test",
	}, func() (*store.Store, error) { return st, nil })
	if cerr := st.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	s, err := New(Options{Names: []string{file, folder}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, id := range []string{"0:1", "1/t.db:1", "0:1&id=1/z.html"} {
		w := ask(s, "GET", "/api/document?id="+id, "", nil)
		var d view.Document
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %v %s", id, w.Code, err, w.Body)
		}
		if len(d.Charts) != 1 || len(d.Charts[0].Series) != 4 || !d.Charts[0].Series[3].Bound ||
			len(d.Charts[0].Series[0].X) != 2 || len(d.Tables) != 2 {
			t.Errorf("%s: %s", id, clip(w.Body.String()))
		}
	}
	for _, id := range []string{"0:2", "0:-1", "0", "0:x", "1/t.db"} {
		if w := ask(s, "GET", "/api/document?id="+id, "", nil); w.Code != 404 {
			t.Errorf("%s: %d %s", id, w.Code, clip(w.Body.String()))
		}
	}
}
