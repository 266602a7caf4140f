package machine

import "testing"

// TestBetween: two PEs are joined by the innermost level one of whose groups has both.
func TestBetween(t *testing.T) {
	m := mustBuild(t, chips(
		"{name: tray, network: torus, dims: [2, 3], link: {bw_gbs: 40}}",
		"{name: rack, network: switch, count: 3, join: group, link: {bw_gbs: 30}}",
		"{name: rail, network: switch, count: 2, join: each, link: {bw_gbs: 20}}",
	)...)
	for a := range m.NumPEs() {
		for b := range m.NumPEs() {
			want := -1
			for a != b {
				if want++; m.Group(want, m.PE(a)) == m.Group(want, m.PE(b)) {
					break
				}
			}
			if got := m.Between(a, b); got != want {
				t.Fatalf("PEs %d and %d: level %d, want %d", a, b, got, want)
			}
		}
	}
	ahbm := mustBuild(t)
	for b, want := range map[int]int{0: -1, 1: -1, 127: -1, 128: 0, 255: 0} {
		if got := ahbm.Between(0, b); got != want {
			t.Errorf("PEs 0 and %d of the default machine: level %d, want %d", b, got, want)
		}
	}
}
