package trace

import (
	"bytes"
	"slices"
	"testing"
)

// The critical path is a track of its own, with what each step is for. It may come last, though it
// begins before what has been written.
func TestWritePath(t *testing.T) {
	steps := []Step{
		{Start: 0, End: 1500, Reason: "issue", Operation: "rank 0 send at ring.go:7"},
		{Start: 1500, End: 9 * ns, Reason: "queueing", Operation: "rank 1 recv at ring.go:9", Resource: "a->b",
			Behind: "rank 2 send at ring.go:7"},
	}
	for _, plain := range []bool{false, true} {
		var b bytes.Buffer
		p := NewPFTrace(&b, peName, nil, plain)
		for i := range twoRanks {
			p.Emit(&twoRanks[i])
		}
		WritePath(p, steps)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		d := decoded(t, b.Bytes())
		if d.open != 0 {
			t.Errorf("%d slices are open", d.open)
		}
		var got []*pfSlice
		for _, s := range d.slices {
			if d.path(s.track) == "critical path" {
				got = append(got, s)
			}
		}
		if len(got) != 2 || got[0].name != "issue" || got[1].name != "queueing" || got[1].start != 1 || got[1].end != 9 {
			t.Fatalf("plain %v: %+v", plain, got)
		}
		if plain {
			if len(got[1].texts)+len(got[1].notes) != 0 {
				t.Errorf("annotations of a plain trace: %v %v", got[1].texts, got[1].notes)
			}
			continue
		}
		if n := got[1].notes; n["start_ps"] != 1500 || n["dur_ps"] != 7500 {
			t.Errorf("exact times %v", n)
		}
		if x := got[1].texts; x["operation"] != steps[1].Operation || x["resource"] != "a->b" || x["behind"] != steps[1].Behind {
			t.Errorf("texts %v", x)
		}
		if _, ok := got[0].texts["behind"]; ok {
			t.Error("an empty annotation")
		}
	}
}

// Views without tracks do without a path, and an empty path adds nothing.
func TestWritePathElsewhere(t *testing.T) {
	for name, view := range views() {
		var with, without bytes.Buffer
		for _, b := range []*bytes.Buffer{&with, &without} {
			v := view(b)
			switch {
			case b == &without:
			case name == "pftrace":
				WritePath(v, nil)
			default:
				WritePath(v, []Step{{End: 5, Reason: "issue"}})
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(with.Bytes(), without.Bytes()) {
			t.Errorf("%s: %q and %q", name, with.Bytes(), without.Bytes())
		}
	}
	WritePath(nil, []Step{{End: 5}})
}
