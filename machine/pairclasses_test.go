package machine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/conf"
)

// TestAlike: pairs of one number have routes over the same kinds of links, there and back, between
// whatever memories, and cross the same levels.
func TestPairClasses(t *testing.T) {
	machines := map[string]*Machine{
		"switches": mustBuild(t,
			"system.levels=[{name: a, network: switch, count: 3, link: {bw_gbs: 256, latency_ns: 30}, switch: {overhead_ns: 5}}, "+
				"{name: b, network: switch, count: 4, link: {bw_gbs: 256, latency_ns: 30}, switch: {overhead_ns: 5}}]"),
		"one SIP": mustBuild(t, "system.sips.count=1"),
		"torus":   mustBuild(t, shape(12, "torus_2d", 4, 3, 3, 2, "torus", 4, 2)...),
	}
	for _, p := range Presets() {
		source, _ := PresetSource(p.Name)
		top, err := conf.LoadTopology([]conf.Source{{Name: p.Name, Data: source}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if machines[p.Name], err = Build(top); err != nil {
			t.Fatal(err)
		}
	}
	for name, m := range machines {
		t.Run(name, func(t *testing.T) {
			type route struct {
				specs [4][]*LinkSpec
				level int
			}
			routeOf := func(a, b int) (r route) {
				for i, ends := range [...][2]NodeID{{m.TCM(a), m.TCM(b)}, {m.PE(b), m.PE(a)}, {m.HBM(a), m.PE(b)}, {m.PE(b), m.HBM(a)}} {
					for _, h := range m.Route(nil, ends[0], ends[1]) {
						r.specs[i] = append(r.specs[i], m.Spec(h.Link))
					}
				}
				r.level = m.Between(a, b)
				return r
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			a := m.PairClasses()
			var known []route
			again := 0
			for i := range 4000 {
				from, to := rnd.IntN(m.NumPEs()), rnd.IntN(m.NumPEs())
				if i%2 == 0 {
					to = (from + 1 + i%16) % m.NumPEs()
				}
				n, r := a.Number(from, to), routeOf(from, to)
				if int(n) == len(known) {
					known = append(known, r)
					continue
				}
				again++
				if int(n) > len(known) {
					t.Fatalf("number %d of PEs %d and %d, after %d", n, from, to, len(known))
				}
				for i := range r.specs {
					if !slices.Equal(r.specs[i], known[n].specs[i]) {
						t.Fatalf("number %d of PEs %d and %d: route %d takes %v, that of others %v", n, from, to, i,
							r.specs[i], known[n].specs[i])
					}
				}
				if r.level != known[n].level {
					t.Fatalf("number %d of PEs %d and %d: level %d, of others %d", n, from, to, r.level, known[n].level)
				}
			}
			if again == 0 {
				t.Error("no number came twice")
			}
		})
	}
}
