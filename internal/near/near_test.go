package near_test

import (
	"testing"

	"kernbench/internal/near"
)

func TestUnknown(t *testing.T) {
	known := []string{"ring_1d", "mesh_2d"}
	for word, want := range map[string]string{
		"rng_1d": `unknown topology "rng_1d"; did you mean "ring_1d"?`,
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
		"rng_reduce": `unknown bench "rng_reduce" (list prints all 10); did you mean "ring_reduce"?`,
		"Tree":       `unknown bench "Tree" (list prints all 10); did you mean "tree_reduce" or "tree_scan"?`,
		"ring":       `unknown bench "ring" (list prints all 10); did you mean "ring_reduce", "ring_gather", "ring_scatter", "ring_scan_a", "ring_scan_b" or one of 3 more with "ring" in the name?`,
		"rring":      `unknown bench "rring" (list prints all 10); did you mean "ring_reduce", "ring_gather", "ring_scatter", "ring_scan_a", "ring_scan_b" or one of 3 more with "ring" in the name?`,
		"tre":        `unknown bench "tre" (list prints all 10); did you mean "tree_reduce" or "tree_scan"?`,
		"ttree":      `unknown bench "ttree" (list prints all 10); did you mean "tree_reduce" or "tree_scan"?`,
		"trie":       `unknown bench "trie": list prints all 10`,
		"my":         `unknown bench "my" (list prints all 10); did you mean "my_ring"?`,
		"xyz":        `unknown bench "xyz": list prints all 10`,
		"":           `unknown bench "": list prints all 10`,
	} {
		if got := near.UnknownOfMany("bench", word, known, "list").Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
