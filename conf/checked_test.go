package conf_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/conf"
	_ "kernbench/internal/fewcollections"
)

// A loaded configuration returns copies: nothing that a caller writes to it changes the
// configuration.
func TestLoadedConfigurationsCannotBeChanged(t *testing.T) {
	sets := []string{"system.levels=[{network: torus, dims: [2, 3], link: {bw_gbs: 50}}]"}
	load := func() (*conf.Topology, *conf.CCL) {
		top, err := conf.LoadTopology(nil, sets)
		if err != nil {
			t.Fatal(err)
		}
		ccl, err := top.LoadCCL(nil, []string{"algorithms.ring_allreduce.n_slots=7"})
		if err != nil {
			t.Fatal(err)
		}
		return top, ccl
	}
	top, ccl := load()
	before := top.Fingerprint()
	levels := top.System().Between()
	levels[0].Dims[0], levels[0].Network = 5, "ring"
	top.System().Levels[0].Count = 9
	top.SIP().UCIe.ConnectionOfPE[0] = 3
	top.Cube().PELayout.Corners[0] = "middle"
	if after := top.Fingerprint(); after != before {
		t.Errorf("fingerprint %s, before %s", after, before)
	}
	want := ccl.Merge("ring_allreduce")
	*ccl.Entry("ring_allreduce").NSlots = 0
	if got := ccl.Merge("ring_allreduce"); got.NSlots != 7 || !cmp.Equal(got.Settings, want.Settings) {
		t.Errorf("n_slots %d, want 7", got.NSlots)
	}
}

// A load leaves the embedded defaults as they are, on which the next one builds.
func TestLoadsDoNotMeet(t *testing.T) {
	defaults, entry := conf.DefaultTopology().Fingerprint(), conf.DefaultCCL().Merge("ring_allreduce")
	top, err := conf.LoadTopology(nil, []string{
		"sip.ucie.connection_of_pe.2=1", "fabric.flit_bytes=64",
	})
	if err != nil || top.Fingerprint() == defaults {
		t.Fatal(top, err)
	}
	ccl, err := top.LoadCCL(nil, []string{"algorithms.ring_allreduce.n_slots=9", "defaults.n_slots=8",
		"algorithms.new.module=ring_allreduce"})
	if err != nil || ccl.Merge("ring_allreduce").NSlots != 9 {
		t.Fatal(ccl, err)
	}
	again := conf.DefaultCCL()
	if got := again.Merge("ring_allreduce"); conf.DefaultTopology().Fingerprint() != defaults ||
		!cmp.Equal(got.Settings, entry.Settings) || again.Entry("new") != nil {
		t.Errorf("the defaults are now %+v", got)
	}
}

func TestOnlyLoadedTopologiesAreLoaded(t *testing.T) {
	var none *conf.Topology
	if none.Loaded() || new(conf.Topology).Loaded() || !conf.DefaultTopology().Loaded() {
		t.Error("Loaded does not tell what LoadTopology made")
	}
}
