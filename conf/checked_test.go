package conf_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/conf"
)

// What a loaded configuration returns is a copy: nothing that a caller writes to it changes the configuration.
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

func TestOnlyLoadedTopologiesAreLoaded(t *testing.T) {
	var none *conf.Topology
	if none.Loaded() || new(conf.Topology).Loaded() || !conf.DefaultTopology().Loaded() {
		t.Error("Loaded does not tell what LoadTopology made")
	}
}
