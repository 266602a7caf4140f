package near_test

import (
	"testing"

	"kernbench/internal/near"
)

func TestUnknown(t *testing.T) {
	known := []string{"ring_1d", "mesh_2d"}
	for word, want := range map[string]string{
		"rng_1d": `unknown topology "rng_1d": did you mean "ring_1d"?`,
		"tree":   `unknown topology "tree": known are ring_1d, mesh_2d`,
	} {
		if got := near.Unknown("topology", word, known).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
