package sim_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/topology"
	"kernbench/unit"
)

// alike returns a machine on which all pairs of ranks are alike, and do not meet: packages of one
// PE, fully connected.
func alike(ranks int) []string {
	return []string{
		fmt.Sprintf("system.sips.count=%d", ranks), "system.sips.topology=full", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]", "pe.ipcq.send_ns=0.5", "pe.ipcq.recv_ns=0.25",
	}
}

// message is one that is sent, in flight, and received.
func (c *terms) message(bytes int64) unit.Time { return c.Tx + c.token(0, 1, bytes) + c.W + c.Rx }

// step returns a message of n elements that is added to as many.
func (c *terms) step(n int) unit.Time { return c.message(int64(2*n)) + c.I + c.spec.Math.Time(n) }

// TestAllReduceClosedForms: where no two messages meet, an all-reduce takes the steps of its
// alpha-beta formula. A sum is loaded, and the result stored, at the two ends.
func TestAllReduceClosedForms(t *testing.T) {
	const n = 1920
	exchanged := func(c *terms, ranks int) unit.Time {
		_, dims := topology.Fold(ranks)
		return unit.Time(dims) * c.step(n)
	}
	tests := []struct {
		a     *algorithm.Algorithm
		steps func(c *terms, ranks int) unit.Time
	}{
		{algorithm.RecursiveDoublingAllReduce, exchanged},
		{algorithm.BineAllReduce, exchanged},
		{algorithm.BinomialAllReduce, func(c *terms, ranks int) unit.Time {
			_, dims := topology.Fold(ranks)
			return unit.Time(dims) * (c.step(n) + c.message(2*n) + c.I)
		}},
		{algorithm.HalvingDoublingAllReduce, func(c *terms, ranks int) (t unit.Time) {
			_, dims := topology.Fold(ranks)
			for k := range dims {
				t += c.step(n >> (k + 1))
			}
			for k := dims - 1; k >= 0; k-- {
				part := int64(2 * n >> (k + 1))
				t += c.message(part) + c.I
				if k > 0 { // stored, and loaded with what was there before: the port of HBM does both
					t += max(c.I, c.b.topo.Cube().HBMBW.Serial().Time(part)) + c.own(2*part)
				}
			}
			// A store of the own part is issued before it is sent on, and the last store is of a
			// half.
			return t + c.I - c.own(2*n) + c.own(n)
		}},
	}
	for _, tt := range tests {
		for _, ranks := range []int{2, 4, 8, 16} {
			t.Run(fmt.Sprintf("%s/%d", tt.a.Name, ranks), func(t *testing.T) {
				b := newBench(t, tt.a.Kernel, setup{world: ranks, n: n, topology: tt.a.Topology, sets: alike(ranks)})
				c := termsOf(b)
				want := c.I + c.own(2*n) + tt.steps(&c, ranks) + c.own(2*n)
				res, err := b.run(sim.Options{})
				if err != nil || res.Duration() != want {
					t.Errorf("took %v, %v; closed form %v (step %v)", res.Duration(), err, want, c.step(n))
				}
			})
		}
	}
}

// TestTorusClosedForm: on a torus whose hops are all alike every rank does the same at the
// same time, as on a ring. The columns work on what the rows leave in scratch; the rows go on
// with what the columns have stored.
func TestTorusClosedForm(t *testing.T) {
	for _, side := range []int{2, 3, 4} {
		ranks, n := side*side, side*side*100
		b := newBench(t, algorithm.TorusAllReduce.Kernel, setup{world: ranks, n: n, topology: "torus_2d", sets: uniformGrid(side, "torus")})
		c, hops := termsOf(b), unit.Time(side-1)
		row, column := n/side, n/ranks
		want := c.I + c.own(int64(2*row)) + hops*(c.step(row)+c.step(column))
		want += hops * (c.message(int64(2*column)) + 2*c.I)
		want += max(c.I, b.topo.Cube().HBMBW.Serial().Time(int64(2*column))) + c.own(int64(2*row))
		want += hops*(c.message(int64(2*row))+2*c.I) - c.I + c.own(int64(2*row))
		res, err := b.run(sim.Options{})
		if err != nil || res.Duration() != want {
			t.Errorf("%d x %d: took %v, %v; closed form %v", side, side, res.Duration(), err, want)
		}
	}
}

// uniformGrid returns a machine of cubes of one PE on a square.
func uniformGrid(side int, network string) []string {
	return []string{
		"system.sips.count=1", fmt.Sprintf("sip.cube_mesh.w=%d", side), fmt.Sprintf("sip.cube_mesh.h=%d", side),
		"sip.cube_mesh.network=" + network,
		"cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]", "pe.ipcq.send_ns=0.5", "pe.ipcq.recv_ns=0.25",
	}
}

// TestMeshCenterClosedForm: on a mesh of 4 x 4 the north-west corner is farthest from the middle,
// two hops in either dimension. The middle of a line adds what has come from its short side while
// the long one's sum was in flight. Answers take the long path first.
func TestMeshCenterClosedForm(t *testing.T) {
	const n = 640
	b := newBench(t, algorithm.MeshCenterAllReduce.Kernel, setup{world: 16, n: n, topology: "mesh_2d", sets: uniformGrid(4, "mesh")})
	c := termsOf(b)
	want := c.I + c.own(2*n) + 2*(2*c.step(n)+c.spec.Math.Time(n)) + 4*(c.message(2*n)+c.I) + c.own(2*n)
	res, err := b.run(sim.Options{})
	if err != nil || res.Duration() != want {
		t.Errorf("took %v, %v; closed form %v", res.Duration(), err, want)
	}
}

// TestBidirectionalRingByHand follows the clock of a rank, which is that of all. Two messages are
// sent one after the other, and each is received and added when it arrives.
func TestBidirectionalRingByHand(t *testing.T) {
	const ranks, chunk = 6, 48 // elements: short, so that the second message need not wait for the first one's tail
	b := newBench(t, algorithm.BidirectionalRingAllReduce.Kernel, setup{world: ranks, n: 2 * ranks * chunk, sets: uniformRing(ranks)})
	c := termsOf(b)
	flight, add := c.token(0, 1, 2*chunk), c.spec.Math.Time(chunk)
	var clock, math unit.Time
	var ready, sent [2]unit.Time // of each direction
	for way := range ready {
		clock += c.I
		ready[way] = clock + c.own(2*chunk)
	}
	exchange := func(before unit.Time, took func(way int)) {
		for way := range ready {
			clock = max(clock+before+c.I, ready[way]) + c.Tx
			sent[way] = clock
		}
		for way := range ready {
			clock = max(clock+c.I, sent[way]+flight) + c.Rx
			took(way)
		}
	}
	for range ranks - 1 {
		exchange(c.I, func(way int) { // before: the load of what is added
			clock += c.I
			math = max(clock, math) + add // one after the other
			ready[way] = math
		})
	}
	for way := range ready {
		clock = max(clock+c.I, ready[way]) // stored
	}
	for range ranks - 1 {
		exchange(0, func(way int) {
			clock += c.I // for the store
			ready[way] = clock
		})
	}
	want := clock + c.own(2*chunk)
	res, err := b.run(sim.Options{})
	if err != nil || res.Duration() != want {
		t.Errorf("took %v, %v; by hand %v", res.Duration(), err, want)
	}
}
