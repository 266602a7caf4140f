package sweep_test

import (
	"testing"

	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// runKey returns the key of the runs of an algorithm with settings.
func runKey(t *testing.T, topology, name string, settings ...sweep.Setting) string {
	t.Helper()
	what, err := sweep.FindCollective("all_reduce")
	if err != nil {
		t.Fatal(err)
	}
	base := run.Spec{Topology: topology}
	if topology == "two nodes" {
		base.Topology, base.Sets = "dgx-a100", []string{"system.nodes.count=2"}
	}
	target, err := sweep.NewTarget(&base, what, name, settings)
	if err != nil {
		t.Fatal(err)
	}
	return sweep.RunKey(target.Plan)
}

// TestRunKey: two runs have the same key if they differ only in settings that have no effect.
func TestRunKey(t *testing.T) {
	set := func(key, value string) sweep.Setting { return sweep.Setting{Key: key, Value: value} }
	direct := runKey(t, "dgx-h100", "direct_allreduce")
	for name, other := range map[string]string{
		"rails of one node":       runKey(t, "dgx-h100", "rail_allreduce"),
		"pieces without pipeline": runKey(t, "dgx-h100", "rail_allreduce", set("chunk_size", "32KiB")),
		"slots without rings":     runKey(t, "dgx-h100", "direct_allreduce", set("slot_size", "4KiB"), set("n_slots", "2")),
	} {
		if other != direct {
			t.Errorf("%s: %s, want %s", name, other, direct)
		}
	}
	ring := runKey(t, "dgx-h100", "ring_allreduce_chunked")
	for name, pair := range map[string][2]string{
		"protocol":           {direct, runKey(t, "dgx-h100", "direct_allreduce", set("protocol", "ll"))},
		"algorithm":          {direct, runKey(t, "dgx-h100", "hierarchical_direct_allreduce")},
		"slots of rings":     {ring, runKey(t, "dgx-h100", "ring_allreduce_chunked", set("n_slots", "2"))},
		"pieces of rings":    {ring, runKey(t, "dgx-h100", "ring_allreduce_chunked", set("chunk_size", "32KiB"))},
		"rails of two nodes": {runKey(t, "two nodes", "direct_allreduce"), runKey(t, "two nodes", "rail_allreduce")},
		"pieces of rails": {runKey(t, "two nodes", "rail_allreduce"),
			runKey(t, "two nodes", "rail_allreduce", set("chunk_size", "32KiB"))},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%s: both are %s", name, pair[0])
		}
	}
}
