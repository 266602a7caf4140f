package sim_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/unit"
)

// TestLibraryClosedForms: on networks where messages do not meet, the algorithms of the library
// take the times of their costs. alpha and beta have the constants of the machine.
func TestLibraryClosedForms(t *testing.T) {
	const ranks, n, pieces = 8, 400, 6
	ring := uniformRing(ranks)
	all := append(uniformRing(ranks), "sip.cube_mesh.network=full")
	tests := []struct {
		a    *algorithm.Algorithm
		sets []string
		n    int // elements of a vector
		args []int
		want func(c *terms, n int) unit.Time
	}{
		{algorithm.RingAllGather, ring, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n)
			step := c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + 2*c.I
			return c.I + c.own(bytes) + (ranks-1)*step + c.own(bytes)
		}},
		{algorithm.RingReduceScatter, ring, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n / ranks)
			step := c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.I + c.spec.Math.Time(n/ranks)
			return c.I + c.own(bytes) + (ranks-1)*step + c.own(bytes)
		}},
		{algorithm.RingSendRecv, ring, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n)
			return c.I + c.own(bytes) + c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.I + c.own(bytes)
		}},
		// Pieces follow one another at the rate of the slowest link ...
		{algorithm.ChainBroadcast, ring, pieces * 2 * n, []int{0}, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n / pieces)
			_, slowest := c.b.m.Latency(c.b.m.Route(nil, c.b.m.TCM(0), c.b.m.TCM(1)))
			step := c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.I
			return c.I + c.own(bytes) + (ranks-1)*step + (pieces-1)*slowest.Serial().Time(bytes) + c.own(bytes)
		}},
		// ... or at that of the ranks, which receive, add, send, and start a load of the next but
		// one.
		{algorithm.ChainReduce, ring, pieces * 2 * n, []int{0}, func(c *terms, n int) unit.Time {
			bytes, add := int64(2*n/pieces), c.spec.Math.Time(n/pieces)
			step := c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.I + add
			each := c.Rx + c.I + add + c.Tx + c.I
			return c.I + c.own(bytes) + (ranks-1)*step + (pieces-1)*each + (pieces-2)*c.I + c.own(bytes)
		}},
		{algorithm.BinomialBroadcast, all, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n)
			step := c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.I
			return c.I + c.own(bytes) + 3*step + c.own(bytes)
		}},
		{algorithm.BinomialReduce, all, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n)
			step := c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.I + c.spec.Math.Time(n)
			return c.I + c.own(bytes) + 3*step + c.own(bytes)
		}},
		// All but rank 0 copy their own vectors first; the data of the first message are read right
		// after that store.
		{algorithm.RecursiveDoublingAllGather, all, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n)
			took := c.I + 2*c.own(bytes) + max(c.I, c.b.topo.Cube().HBMBW.Serial().Time(bytes))
			for k := range 3 {
				if k > 0 {
					took += c.I + c.own(bytes)
				}
				took += c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.own(bytes)
				bytes *= 2
			}
			return took
		}},
		// Rank 7 is the only one at depth 3. Its path is 7, 3, 1, 0 and back; 1 and 0 have a second
		// child each, which has come before. An empty message passes links as a byte does.
		{algorithm.TreeBarrier, all, n, nil, func(c *terms, _ int) unit.Time {
			step := c.Tx + c.token(0, 1, 1) + c.W + c.Rx
			return c.I + c.spec.Math.Time(0) + 6*step + 5*c.I + 2*(c.I+c.Rx)
		}},
		// The ranks before end, as in recursive doubling; then all vectors are copied one by one.
		{algorithm.BruckAllGather, all, n / 4, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n)
			took := c.I + 2*c.own(bytes) + max(c.I, c.b.topo.Cube().HBMBW.Serial().Time(bytes))
			for k := range 3 {
				if k > 0 {
					took += c.I + c.own(bytes<<k)
				}
				took += c.Tx + c.token(0, 1, bytes<<k) + c.W + c.Rx + c.own(bytes<<k)
			}
			return took + ranks*(c.I+c.own(bytes)) + c.own(bytes)
		}},
		// The longest path is from rank 7 by 6 and 4, which has received from 5 before.
		{algorithm.BinomialGather, all, n / 4, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n)
			took := c.I + 2*c.own(bytes) + max(c.I, c.b.topo.Cube().HBMBW.Serial().Time(bytes))
			for k := range 3 {
				if k > 0 {
					took += c.I + c.own(bytes<<k)
				}
				took += c.Tx + c.token(0, 1, bytes<<k) + c.W + c.Rx + c.own(bytes<<k)
			}
			return took
		}},
		// And there, but for the copy at its end, which is out of staging memory.
		{algorithm.BinomialScatter, all, n, nil, func(c *terms, n int) unit.Time {
			took := unit.Time(0)
			for part := n / 2; part >= n/ranks; part /= 2 {
				bytes := int64(2 * part)
				took += c.I + c.own(bytes) + c.Tx + c.token(0, 1, bytes) + c.W + c.Rx + c.own(bytes)
			}
			return took + c.I + 2*c.own(int64(2*n/ranks))
		}},
		// A rank that has put waits for the word of a put at the same time. It ends when it has
		// copied out and knows that its last block has arrived.
		{algorithm.PairwiseAllToAll, all, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n / ranks)
			step := c.I + c.S + c.path(c.b.m.HBM(0), c.b.m.HBM(1), bytes) + c.W
			known := c.path(c.b.m.PE(1), c.b.m.PE(0), int64(c.b.topo.Fabric().RequestBytes))
			return c.I + c.own(bytes) + (ranks-1)*step + max(c.I+2*c.own(int64(2*n)), known)
		}},
		{algorithm.PairwiseReduceScatter, all, n, nil, func(c *terms, n int) unit.Time {
			bytes := int64(2 * n / ranks)
			step := c.I + c.S + c.path(c.b.m.HBM(0), c.b.m.HBM(1), bytes) + c.W + 2*c.I + c.own(bytes) + c.spec.Math.Time(n/ranks)
			return c.I + c.own(bytes) + (ranks-1)*step + c.I + 2*c.own(bytes)
		}},
		{algorithm.RecursiveHalvingReduceScatter, all, n, nil, func(c *terms, n int) unit.Time {
			took := c.I + c.own(int64(2*n))
			for part := n / 2; part >= n/ranks; part /= 2 {
				took += c.Tx + c.token(0, 1, int64(2*part)) + c.W + c.Rx + c.I + c.spec.Math.Time(part)
			}
			return took + c.own(int64(2*n/ranks))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.a.Name, func(t *testing.T) {
			b := libraryBench(t, tt.a, setup{world: ranks, n: tt.n, sets: tt.sets, args: tt.args, chunk: 4 * n, slots: 2 * pieces})
			c := termsOf(b)
			res, err := b.run(sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.want(&c, tt.n); res.Duration() != want {
				t.Errorf("took %v, closed form %v: %v more", res.Duration(), want, res.Duration()-want)
			}
		})
	}
}
