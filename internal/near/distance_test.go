package near

import (
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
)

// TestDistance checks the laws of a distance against random words.
func TestDistance(t *testing.T) {
	word := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) {
			t.Errorf("distance(%q, %q) is not symmetric", a, b)
		}
		if (d == 0) != (a == b) {
			t.Errorf("distance(%q, %q) = %d", a, b, d)
		}
		if longest := max(len(a), len(b)); d > longest || d < longest-min(len(a), len(b)) {
			t.Errorf("distance(%q, %q) = %d", a, b, d)
		}
	})
}
