package hccl

import (
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	_ "kernbench/internal/fewcollections"
)

func TestParseAlgConfig(t *testing.T) {
	for _, tt := range []struct {
		text string
		want AlgConfig
	}{
		{"AllReduce=level0:doublering", AlgConfig{OpAllReduce, "doublering", ""}},
		{"AllGather=level0:ring", AlgConfig{OpAllGather, "ring", ""}},
		{"ReduceScatter=level0:fullmesh", AlgConfig{OpReduceScatter, "fullmesh", ""}},
		{"AlltoAll=level0:fullmesh", AlgConfig{OpAlltoAll, "fullmesh", ""}},
		{"AlltoAll=level0:fullmesh;level1:pairwise", AlgConfig{OpAlltoAll, "fullmesh", "pairwise"}},
		{"AlltoAllV=level1:pairwise;level0:fullmesh", AlgConfig{OpAlltoAllV, "fullmesh", "pairwise"}},
		{"BatchWrite=level0:fullmesh", AlgConfig{OpBatchWrite, "fullmesh", ""}},
	} {
		if got, err := ParseAlgConfig(tt.text); err != nil || got != tt.want {
			t.Errorf("ParseAlgConfig(%q) = %+v, %v; want %+v", tt.text, got, err, tt.want)
		}
	}
}

func TestParseAlgConfigTellsWhereAndWhat(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", `empty algorithm string: write one such as "AllReduce=level0:doublering"`},
		{"unknown operation", "AllReduec=level0:ring",
			`column 1: unknown operation "AllReduec": want one of AllReduce, AllGather, ReduceScatter, AlltoAllV, AlltoAll, BatchWrite; did you mean "AllReduce"?`},
		{"other case", "allreduce=level0:ring", `did you mean "AllReduce"?`},
		{"space", " AllReduce=level0:ring", `column 1: unknown operation " AllReduce": want one of AllReduce, AllGather, ReduceScatter, AlltoAllV, AlltoAll, BatchWrite; did you mean "AllReduce"?`},
		{"operation only", "AllReduce", `column 10: the end: an algorithm follows, such as "AllReduce=level0:doublering"`},
		{"no level", "AllReduce=", `column 11: nothing: a level follows, such as "level0:doublering"`},
		{"no level after semicolon", "AlltoAll=level0:fullmesh;", `column 26: nothing: a level follows, such as "level0:fullmesh"`},
		{"no algorithm", "AllGather=level0", `column 17: level0 has no algorithm: write one such as "level0:doublering"`},
		{"empty algorithm", "AllGather=level0:",
			`column 18: AllGather has no algorithm "" for level0: want one of doublering, ring, fullmesh`},
		{"unknown algorithm", "AllReduce=level0:doublring",
			`column 18: AllReduce has no algorithm "doublring" for level0: want one of doublering, ring, fullmesh; did you mean "doublering"?`},
		{"algorithm of another operation", "AlltoAll=level0:ring",
			`column 17: AlltoAll has no algorithm "ring" for level0: want one of fullmesh`},
		{"algorithm of another level", "AlltoAll=level0:fullmesh;level1:fullmesh",
			`column 33: AlltoAll has no algorithm "fullmesh" for level1: want one of pairwise`},
		{"level of another operation", "AllReduce=level0:ring;level1:pairwise",
			`column 23: AllReduce has no level "level1": want one of level0; did you mean "level0"?`},
		{"unknown level", "AlltoAll=level0:fullmesh;level2:pairwise",
			`column 26: AlltoAll has no level "level2": want one of level0, level1; did you mean "level0"?`},
		{"level twice", "AlltoAll=level0:fullmesh;level0:fullmesh", `column 26: level0 a second time: it is "fullmesh" already`},
		{"level1 alone", "AlltoAll=level1:pairwise",
			`column 10: level1 without level0: say what is done inside a server, too: "AlltoAll=level0:fullmesh;level1:pairwise"`},
		{"columns count characters", "AllReduce=level0:é;x", `column 18: AllReduce has no algorithm "é"`},
		{"no text", "AllReduce=\xff\x00", `column 11: AllReduce has no level "\xff\x00"`},
		{"too long", "AllReduce=level0:" + strings.Repeat("r", 1<<20), `... (1048593 bytes): at most 128 bytes`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := ParseAlgConfig(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nwant one with %s", err, tt.want)
			}
			if a != (AlgConfig{}) {
				t.Errorf("%+v beside an error", a)
			}
		})
	}
}

func TestKnownAlgConfigsArePerformed(t *testing.T) {
	all := KnownAlgConfigs()
	if len(all) != 3*3+2*2+1 {
		t.Errorf("%d algorithm strings: %v", len(all), all)
	}
	collectives := map[OpType]string{
		OpAllReduce: "all_reduce", OpAllGather: "all_gather", OpReduceScatter: "reduce_scatter",
		OpAlltoAll: "all_to_all_v", OpAlltoAllV: "all_to_all_v",
	}
	rows := map[*algorithm.Algorithm]bool{}
	for _, s := range all {
		a, err := ParseAlgConfig(s)
		if err != nil || a.String() != s {
			t.Errorf("%q is read as %q: %v", s, a, err)
			continue
		}
		row, err := a.Row()
		switch {
		case a.Op == OpBatchWrite:
			if err == nil || !strings.Contains(err.Error(), "list of copies") {
				t.Errorf("%q: %v, %v", s, row, err)
			}
		case err != nil:
			t.Errorf("%q: %v", s, err)
		default:
			rows[row] = true
			if want := collectives[a.Op]; row.Collective != want {
				t.Errorf("%q is %s, which performs %s", s, row.Name, row.Collective)
			}
			if row.Window == nil {
				t.Errorf("%q is %s, which has no window", s, row.Name)
			}
		}
	}
	if len(rows) != 3*3+2 { // both exchanges share theirs
		t.Errorf("%d algorithms perform them", len(rows))
	}
	if _, err := (AlgConfig{OpAllReduce, "tree", ""}).Row(); err == nil || !strings.Contains(err.Error(), all[0]) {
		t.Errorf("error %v, want one that lists what there is", err)
	}
}

func TestDefaultAlgConfigsGoWithTheirOperation(t *testing.T) {
	for _, op := range OpTypes() {
		s := DefaultAlgConfig(op)
		a, err := ParseAlgConfig(s)
		if err == nil {
			err = a.For(op)
		}
		if err != nil || !slices.Contains(KnownAlgConfigs(), s) {
			t.Errorf("%v: %q: %v", op, s, err)
		}
	}
	if got := DefaultAlgConfig(20); got != "" {
		t.Errorf("an operation without tasks has %q", got)
	}
}

func TestAlgConfigIsForItsOperation(t *testing.T) {
	for _, a := range OpTypes() {
		for _, op := range OpTypes() {
			want := a == op || a == OpAlltoAll && op == OpAlltoAllV
			err := AlgConfig{a, "fullmesh", ""}.For(op)
			if (err == nil) != want {
				t.Errorf("%v for %v: %v", a, op, err)
			}
			if err != nil && !strings.Contains(err.Error(), DefaultAlgConfig(op)) {
				t.Errorf("%v does not say what is right", err)
			}
		}
	}
}

// Every string that is read is a known one, its text is read back as the same, and errors are
// short.
func FuzzParseAlgConfig(f *testing.F) {
	for _, s := range KnownAlgConfigs() {
		f.Add(s)
		f.Add(s + ";")
		f.Add(s[:len(s)-1])
	}
	f.Add("AlltoAll=level1:pairwise;level0:fullmesh")
	f.Add("=;:\xff")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAlgConfig(s)
		if err != nil {
			if len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("error %q", err)
			}
			return
		}
		again, err := ParseAlgConfig(a.String())
		if err != nil || again != a {
			t.Errorf("%q is read as %+v, its text %q as %+v, %v", s, a, a, again, err)
		}
		if !slices.Contains(KnownAlgConfigs(), a.String()) {
			t.Errorf("%q is read as %q, which is not known", s, a)
		}
	})
}
