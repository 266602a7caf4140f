package bound

import (
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

// Every call is refused or has limits, and no limit is negative.
func FuzzOf(f *testing.F) {
	f.Add(uint8(0), 8, 4096, uint8(1), 0, 4, int64(4096), int64(1000))
	f.Add(uint8(3), 9, 1<<60, uint8(3), 8, 1, int64(8), int64(0))
	f.Add(uint8(5), 9, -1, uint8(200), -1, 1<<15, int64(1)<<40, int64(1)<<62)
	g := lattice(true, 3, 3)
	s := newSolver(g, 64, unit.Nanosecond)
	all := collective.All()
	f.Fuzz(func(t *testing.T, which uint8, world, elems int, typ uint8, root, slots int, slotBytes, roundTrip int64) {
		co := all[int(which)%len(all)]
		c := collective.Call{World: world, Elems: elems, Type: dtype.Type(typ), Op: tl.Sum, Root: root}
		o := Options{}
		if slots > 0 && slots <= 1<<15 && slotBytes >= 8 && slotBytes <= 1<<40 && roundTrip >= 0 {
			o.Rings = []Ring{{From: 0, To: 1, Slots: slots, SlotBytes: slotBytes, Rate: unit.GBPerSecond,
				RoundTrip: unit.Time(roundTrip)}}
		}
		r, err := s.Limits(co, c, o)
		if err != nil {
			return
		}
		if r.Hardware < 0 || r.Limit < r.Hardware {
			t.Fatalf("%s %+v: limits %v and %v", co.Name, c, r.Hardware, r.Limit)
		}
		for _, b := range r.Bounds {
			if b.Time <= 0 || b.Time > r.Limit {
				t.Fatalf("%s %+v: %s at %v, of %v", co.Name, c, b.Kind, b.Time, r.Limit)
			}
		}
	})
}
