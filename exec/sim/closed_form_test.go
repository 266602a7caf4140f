package sim_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/hw/memory"
	"kernbench/hw/pe"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// uniformRing returns a machine on which all hops of a ring are alike: cubes of one PE, joined
// in a ring.
func uniformRing(cubes int) []string {
	return []string{
		"system.sips.count=1", fmt.Sprintf("sip.cube_mesh.w=%d", cubes), "sip.cube_mesh.h=1", "sip.cube_mesh.network=ring",
		"cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]", "pe.ipcq.send_ns=0.5", "pe.ipcq.recv_ns=0.25",
	}
}

// terms are the costs that closed forms are made of.
type terms struct {
	b     *bench
	spec  *pe.Spec
	I, S  unit.Time // issue; setup of the DMA
	Tx    unit.Time // of a send
	Rx, W unit.Time // of a receive; to wake
}

func termsOf(b *bench) terms {
	s := pe.FromConfig(b.topo)
	return terms{b, s, s.Issue, s.DMA.Setup, s.Send, s.Recv, b.launch.Ring.WakeCost}
}

// path returns what a message alone needs: latencies, and its bytes over the slowest link.
func (c *terms) path(from, to machine.NodeID, bytes int64) unit.Time {
	head, slowest := c.b.m.Latency(c.b.m.Route(nil, from, to))
	return head + slowest.Serial().Time(bytes)
}

// own returns a load or store of the own HBM slice, from the moment that DMA takes it.
func (c *terms) own(bytes int64) unit.Time {
	return c.S + c.b.topo.Cube().HBM.Access + c.b.topo.Cube().HBMBW.Serial().Time(bytes)
}

// token returns a slot message from the send to its being visible.
func (c *terms) token(from, to int, bytes int64) unit.Time {
	ring := &c.b.launch.Ring
	return c.S + c.path(c.b.m.TCM(from), memory.RingNode(c.b.m, to, ring.Space), ring.Protocol.Wire(bytes)) +
		c.late(from, to, false) + ring.Protocol.Copied(bytes)
}

// late returns what software adds to a message, or to a credit.
func (c *terms) late(from, to int, credit bool) unit.Time {
	message, seen := c.b.launch.Ring.Protocol.Late(c.b.m.Between(from, to))
	if credit {
		return seen
	}
	return message
}

// credit returns the time of a credit to the sender.
func (c *terms) credit(from, to int) unit.Time {
	ring := &c.b.launch.Ring
	return c.path(c.b.m.PE(from), c.b.m.PE(to), ring.CreditBytes) + c.late(from, to, true)
}

// TestRingClosedForm: on a uniform ring all ranks do the same at the same time, so that
// the chunked all-reduce is a sum. With A for a token's flight, M for the addition of a
// chunk, and from x, when a rank's partial sum is ready, on:
//
//	reduce-scatter step: sent at x+Tx, visible A later, wake W, Rx, issue of the
//	                     addition, which takes M: x' = x + Tx + A + W + Rx + I + M
//	all-gather step:     issue of the send and of the store: y' = y + Tx + A + W + Rx + 2I
//
// A PE that polls checks at multiples of the interval after it began to wait. Under the older
// credit rule a receive also takes as long as its credit.
func TestRingClosedForm(t *testing.T) {
	const ranks, n = 6, 6 * 500
	tests := []struct {
		name string
		ring func(*tl.Ring)
	}{
		{"awake at once", func(*tl.Ring) {}},
		{"sleep", func(r *tl.Ring) { r.WakeCost = 33 * unit.Nanosecond }},
		{"poll", func(r *tl.Ring) { r.Poll, r.PollEvery = true, 7*unit.Nanosecond }},
		{"poll, rarely", func(r *tl.Ring) { r.Poll, r.PollEvery = true, 10*unit.Microsecond }},
		{"credit on receive", func(r *tl.Ring) { r.OnRecv, r.WakeCost = true, 5*unit.Nanosecond }},
		{"ll", func(r *tl.Ring) { r.Protocol = protocols["ll"] }},
		{"few channels", func(r *tl.Ring) { r.Protocol = protocols["slow"] }},
		{"ll128", func(r *tl.Ring) { r.Protocol, r.WakeCost = protocols["ll128"], 33*unit.Nanosecond }},
		{"simple", func(r *tl.Ring) { r.Protocol, r.Poll, r.PollEvery = protocols["simple"], true, 7*unit.Nanosecond }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, algorithm.RingAllReduceChunked.Kernel, setup{world: ranks, n: n, sets: uniformRing(ranks), ring: tt.ring})
			c, ring := termsOf(b), &b.launch.Ring
			const bytes = n / ranks * 2
			flight := c.token(0, 1, bytes)
			for r := range ranks {
				if f := c.token(r, (r+1)%ranks, bytes); f != flight {
					t.Fatalf("hop %d takes %v, hop 0 %v", r, f, flight)
				}
			}
			add := c.spec.Math.Time(n / ranks)
			// From a send to when the receive that is issued after it has the message.
			received := flight + c.W
			if ring.Poll {
				waits := flight - c.I
				received = c.I + (waits+ring.PollEvery-1)/ring.PollEvery*ring.PollEvery
			}
			received += c.Rx
			if ring.OnRecv {
				received += c.credit(1, 0)
			}
			x := c.I + c.own(bytes) // the first chunk
			x += (ranks - 1) * (c.Tx + received + c.I + add)
			y := x + (ranks-1)*(c.Tx+received+2*c.I)
			want := y + c.own(bytes) // the last store
			res, err := b.run(sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if res.Duration() != want {
				t.Errorf("took %v, closed form %v (flight %v, add %v)", res.Duration(), want, flight, add)
			}
		})
	}
}

// TestLineClosedForm: a sum goes along a line of unequal hops, each rank adding its own.
func TestLineClosedForm(t *testing.T) {
	const ranks, n = 20, 300
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		acc := own(c, a)
		if c.Rank() > 0 {
			acc = c.Add(acc, like(c, tl.West, acc))
		}
		if c.Rank() < c.WorldSize()-1 {
			c.Send(tl.East, acc)
		} else {
			c.Store(a.Shard(c.Rank()), acc)
		}
	}, setup{world: ranks, n: n, ring: func(r *tl.Ring) { r.WakeCost = 9 * unit.Nanosecond }})
	c := termsOf(b)
	ready := c.I + c.own(2*n)
	for r := range ranks - 1 {
		ready += c.Tx + c.token(r, r+1, 2*n) + c.W + c.Rx + c.I + c.spec.Math.Time(n)
	}
	res, err := b.run(sim.Options{})
	if want := ready + c.own(2*n); err != nil || res.Duration() != want {
		t.Errorf("took %v, %v; closed form %v", res.Duration(), err, want)
	}
}

// TestTreeClosedForm: three ranks; the children's sums come one after the other, and so do
// the answers.
func TestTreeClosedForm(t *testing.T) {
	const n = 300
	const delay = 64 * 300 // elements: so that rank 2's message does not meet rank 1's
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		acc := own(c, a)
		if c.Rank() == 0 {
			acc = c.Add(acc, like(c, tl.Child0, acc))
			acc = c.Add(acc, like(c, tl.Child1, acc))
			c.Send(tl.Child0, acc)
			c.Send(tl.Child1, acc)
			return
		}
		if c.Rank() == 2 {
			acc = c.Add(acc, c.Full(tl.Dims(delay), a.DType, 0).Slice(0, n))
		}
		c.Send(tl.Parent, acc)
		c.Store(a.Shard(c.Rank()), like(c, tl.Parent, acc))
	}, setup{world: 3, n: n, topology: "tree_binary"})
	c := termsOf(b)
	add := c.spec.Math.Time(n)
	// The root has the sum of the others long before rank 2's comes.
	sum := 2*c.I + c.spec.Math.Time(delay) + add + c.Tx + c.token(2, 0, 2*n) + c.Rx + c.I + add
	// Two sends, the first when the sum is there; the second child is the last to store. The
	// second message waits for the first one's tail where they leave the PE.
	gap := max(c.I+c.Tx, b.topo.PE().LinkBW.Serial().Time(2*n))
	back := c.Tx + max(c.token(0, 1, 2*n), gap+c.token(0, 2, 2*n))
	want := sum + back + c.Rx + c.I + c.own(2*n)
	res, err := b.run(sim.Options{})
	if err != nil || res.Duration() != want {
		t.Errorf("took %v, %v; closed form %v", res.Duration(), err, want)
	}
}

// TestBufferKinds: a slot outside the PE is fetched when an engine first reads it, once.
func TestBufferKinds(t *testing.T) {
	const n = 1000
	for _, space := range []mem.Space{mem.TCM, mem.HBM, mem.SRAM} {
		for _, peer := range []int{1, 3} {
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				switch c.Rank() {
				case 0:
					c.Send(tl.East, c.Full(tl.Dims(n), a.DType, 1))
				case 1:
					x := c.Recv(tl.West, tl.Dims(n), a.DType)
					c.Add(c.Add(x, x), x)
				}
			}, setup{world: 2, space: space})
			b.launch.Groups[0].PEs[1] = int32(peer)
			c := termsOf(b)
			slots := memory.RingNode(b.m, peer, space)
			want := c.I + c.spec.Math.Time(n) + c.token(0, peer, 2*n) + c.I
			if space != mem.TCM {
				want += c.S + c.path(slots, b.m.PE(peer), 2*n)
			}
			want += 2 * c.spec.Math.Time(n)
			res, err := b.run(sim.Options{})
			if err != nil || res.Duration() != want {
				t.Errorf("%v, PE %d: took %v, %v; closed form %v", space, peer, res.Duration(), err, want)
			}
		}
	}
}

// TestSlotRoundTrip: with few slots a sender is limited to as many messages per round trip of a
// slot. The round trip is the flight, the receive that lets the slot go, and the credit's return.
func TestSlotRoundTrip(t *testing.T) {
	const messages = 40
	for _, slots := range []int{1, 2, 4} {
		for _, wake := range []unit.Time{0, 6 * unit.Nanosecond} {
			if wake > 0 && slots > 1 {
				continue // the times at which ranks sleep may differ
			}
			protocol := protocols[[]string{1: "simple", 2: "ll", 4: "ll128"}[slots]]
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				x := c.Full(tl.Dims(4), a.DType, 1)
				for range messages {
					if c.Rank() == 0 {
						c.Send(tl.East, x)
					} else {
						like(c, tl.West, x)
					}
				}
			}, setup{world: 2, slots: slots, ring: func(r *tl.Ring) { r.WakeCost, r.Protocol = wake, protocol }})
			c := termsOf(b)
			var events collector
			if _, err := b.run(sim.Options{Trace: &events}); err != nil {
				t.Fatal(err)
			}
			var sent []unit.Time
			for _, e := range events {
				if e.Kind == trace.Send {
					sent = append(sent, e.End)
				}
			}
			period := c.Tx + c.token(0, 1, 8) + c.W + c.Rx + c.I + c.credit(1, 0) + c.W
			for k := 10; k+slots < messages; k++ {
				if d := sent[k+slots] - sent[k]; d != period {
					t.Fatalf("%d slots, wake %v: message %d was sent %v after message %d, round trip %v", slots, wake,
						k+slots, d, k, period)
				}
			}
		}
	}
}
