package sim_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/internal/exhaustive"
	"kernbench/tl"
)

// TestReplayedValues: the data of the library's algorithms is the same in both modes, with all
// operations and several types, in lockstep and in turns.
func TestReplayedValues(t *testing.T) {
	for i, a := range onRings() {
		for _, op := range tl.ReduceOps() {
			worlds := []int{8}
			if op == tl.Avg {
				worlds = []int{7, 8, 12, 25}
			}
			for j, world := range worlds {
				if !exhaustive.On() && len(worlds) > 1 && (i+j)%2 > 0 {
					continue
				}
				typ := []dtype.Type{dtype.F16, dtype.I32, dtype.F32, dtype.BF16, dtype.I8}[op]
				s := setup{world: world, n: 5 * world, typ: typ, op: op, chunk: 16 * int64(world%2), slotBytes: 32,
					slots: max(4, a.MinSlots)}
				if !takes(a, world, s.n) || testing.Short() && world > 8 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%d", a.Name, op, world), func(t *testing.T) {
					outs, _ := libraryBench(t, a, s).sameInBothModes(t, sim.Options{SecondCore: true}, views{data: true})
					if outs[0].Err != "" {
						t.Error(outs[0].Err)
					}
				})
			}
		}
	}
}

// TestReplayedLooseTypes: without strict validation a payload is received as another type of the
// same size, in both modes, and one of another size is refused.
func TestReplayedLooseTypes(t *testing.T) {
	for _, tt := range []struct {
		typ  dtype.Type
		n    int
		ends bool
	}{{dtype.I16, 24, true}, {dtype.BF16, 24, true}, {dtype.F32, 24, false}, {dtype.I16, 22, false}} {
		for _, world := range []int{2, 9} {
			for _, slotBytes := range []int64{8, 4096} {
				b := newBench(t, func(c *tl.Context, a tl.Args) {
					c.Send(tl.East, own(c, a))
					x := c.Recv(tl.West, tl.Dims(2, tt.n/2), tt.typ)
					c.Store(a.Shard(c.Rank()).Slice(0, x.Len()), c.Convert(x, a.DType))
				}, setup{world: world, n: 24, slotBytes: slotBytes, ring: func(r *tl.Ring) { r.Strict = false }})
				outs, replayed := b.sameInBothModes(t, sim.Options{}, views{}, views{data: true})
				if ends := outs[1].Err == ""; ends != tt.ends || replayed != tt.ends {
					t.Errorf("%v, %d elements: %q, replayed %v", tt.typ, tt.n, outs[1].Err, replayed)
				}
			}
		}
	}
}
