package conf_test

import (
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

func TestWithChangesOneEntryOfACopy(t *testing.T) {
	c, err := conf.LoadCCL(nil, []string{"algorithms.ring_allreduce.n_slots=3"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ring_allreduce", "of_no_entry"} {
		w, err := c.With(name, []string{"slot_size=6000", "poll_interval_ns=1.5"})
		if err != nil {
			t.Fatal(err)
		}
		r := w.Merge(name)
		if r.SlotSize != 6000 || r.PollInterval != 1500*unit.Picosecond {
			t.Errorf("%s: %v, %v", name, r.SlotSize, r.PollInterval)
		}
		if own := c.Entry(name); own != nil && own.SlotSize != nil {
			t.Errorf("%s: With changed what it was called on", name)
		}
		want := []conf.Set{{Key: "slot_size", Value: "6000B"}, {Key: "poll_interval_ns", Value: "1500ps"}}
		if name == "ring_allreduce" {
			own := []conf.Set{{Key: "module", Value: "ring_allreduce"}, {Key: "topology", Value: "ring_1d"}, {Key: "n_slots", Value: "3"}}
			want = append(own, want...)
		}
		if diff := cmp.Diff(want, w.Entry(name).Sets()); diff != "" {
			t.Error(diff)
		}
		var again []string
		for _, s := range w.Entry(name).Sets() {
			again = append(again, s.Key+"="+s.Value)
		}
		if v, err := c.With(name, again); err != nil || !cmp.Equal(v.Entry(name), w.Entry(name)) {
			t.Errorf("%s: what Sets lists does not make the same entry: %v", name, err)
		}
	}
	if _, err := c.With("ring_allreduce", []string{"n_slotz=3"}); err == nil || !strings.Contains(err.Error(), "n_slots") {
		t.Errorf("n_slotz: %v", err)
	}
}

func TestFingerprintsTellMachinesApart(t *testing.T) {
	seen := map[string]string{}
	for _, set := range []string{"", "system.sips.count=3", "cube.noc.link_bw_gbs=257", "pe.tcm.scratch=8MiB"} {
		var sets []string
		if set != "" {
			sets = []string{set}
		}
		topo, err := conf.LoadTopology(nil, sets)
		if err != nil {
			t.Fatal(err)
		}
		f := topo.Fingerprint()
		if other, twice := seen[f]; twice {
			t.Errorf("%q and %q have one fingerprint", set, other)
		}
		if again, _ := conf.LoadTopology(nil, sets); again.Fingerprint() != f {
			t.Errorf("%q has two", set)
		}
		seen[f] = set
	}
}

// No time depends on the multiprocessors of a GPU, so tables that were tuned before stay valid.
func TestMultiprocessorsAreNotInTheFingerprint(t *testing.T) {
	topo, err := conf.LoadTopology(nil, []string{"pe.multiprocessors=108"})
	if err != nil {
		t.Fatal(err)
	}
	if got := topo.PE().SMs; got != 108 {
		t.Errorf("multiprocessors %d, want 108", got)
	}
	if topo.Fingerprint() != conf.DefaultTopology().Fingerprint() {
		t.Error("multiprocessors change the fingerprint")
	}
}
