package conf_test

import (
	"strings"
	"testing"

	"kernbench/conf"

	"github.com/google/go-cmp/cmp"
)

const tuned = `tables:
  - topology: "ahbm"
    fingerprint: "0042881e5fd13b67"
    fidelity: slot
    collective: all_reduce
    ranks: 8
    type: f32
    rows:
      - from: 0
        use: a
      - {from: 4756, use: b, with: {w: 4, slot_size: 32KiB, chunk_size: auto}, else: [c, d]}
`

func TestTuningTables(t *testing.T) {
	got, err := conf.LoadTuning(conf.Source{Name: "t.yaml", Data: []byte(tuned)})
	if err != nil {
		t.Fatal(err)
	}
	x := got.Tables[0]
	if x.Fingerprint != "0042881e5fd13b67" || x.Ranks != 8 || len(x.Rows) != 2 || x.Rows[1].From != 4756 {
		t.Errorf("read %+v", x)
	}
	want := []conf.Set{{Key: "w", Value: "4"}, {Key: "slot_size", Value: "32KiB"}, {Key: "chunk_size", Value: "auto"}}
	if diff := cmp.Diff(want, x.Rows[1].With.Sets()); diff != "" {
		t.Error(diff)
	}
}

func TestTuningTablesThatAreWrong(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"a misspelled key", "collective:", "colective:", `did you mean "collective"?`},
		{"nothing", tuned, "", "kernbench tune --table FILE"},
		{"no ranks", "    ranks: 8\n", "", "tables.0.ranks: is missing"},
		{"no algorithm", "        use: a\n", "", "tables.0.rows.0.use: is missing"},
		{"a first row that is late", "from: 0", "from: 1", "the first row is from 0 on"},
		{"rows out of order", "from: 4756", "from: 0", "found 0 B after 0 B"},
		{"a setting that there is not", "slot_size", "slot_sice", `did you mean "slot_size"?`},
		{"a list", tuned, "- a", "a mapping with the keys tables"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := strings.Replace(tuned, c.from, c.to, 1)
			_, err := conf.LoadTuning(conf.Source{Name: "t.yaml", Data: []byte(data)})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "t.yaml:") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func FuzzTuning(f *testing.F) {
	f.Add(tuned)
	f.Add("tables: [{rows: [{}]}]")
	f.Fuzz(func(t *testing.T, data string) {
		if x, err := conf.LoadTuning(conf.Source{Name: "t", Data: []byte(data)}); err == nil && len(x.Tables) == 0 {
			t.Error("a file without tables is none")
		}
	})
}
