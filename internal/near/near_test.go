package near_test

import (
	"testing"

	"kernbench/internal/near"
)

func TestUnknown(t *testing.T) {
	known := []string{"ring_1d", "mesh_2d"}
	for word, want := range map[string]string{
		"rng_1d": `unknown topology "rng_1d": did you mean "ring_1d"?`,
		"tree":   `unknown topology "tree": want one of ring_1d, mesh_2d`,
	} {
		if got := near.Unknown("topology", word, known).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestUnknownOfMany(t *testing.T) {
	known := []string{"my_ring", "ring_reduce",
		"ring_gather", "ring_scatter", "ring_scan_a", "ring_scan_b", "ring_all_a", "ring_all_b", "tree_reduce", "tree_scan"}
	for word, want := range map[string]string{
		"rng_reduce": `unknown bench "rng_reduce": did you mean "ring_reduce"? list prints all 10`,
		"Tree":       `unknown bench "Tree": did you mean one of tree_reduce, tree_scan? list prints all 10`,
		"ring":       `unknown bench "ring": ring_reduce, ring_gather, ring_scatter, ring_scan_a, ring_scan_b, and 3 more contain it; list prints all 10`,
		"rring":      `unknown bench "rring": did you mean "ring"? ring_reduce, ring_gather, ring_scatter, ring_scan_a, ring_scan_b, and 3 more contain it; list prints all 10`,
		"tre":        `unknown bench "tre": did you mean one of tree_reduce, tree_scan? list prints all 10`,
		"ttree":      `unknown bench "ttree": did you mean one of tree_reduce, tree_scan? list prints all 10`,
		"trie":       `unknown bench "trie": list prints all 10`,
		"my":         `unknown bench "my": did you mean "my_ring"? list prints all 10`,
		"xyz":        `unknown bench "xyz": list prints all 10`,
		"":           `unknown bench "": list prints all 10`,
	} {
		if got := near.UnknownOfMany("bench", word, known, "list").Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
