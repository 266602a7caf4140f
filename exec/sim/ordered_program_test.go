package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
)

// Steps of programs without races. A step is a message into the box that this rank has at a peer,
// announced by a word, or the receipt of one.
const (
	doTellPut stepKind = numSidedKinds + iota // put, fence, notify
	doTellQuiet
	doTellTensor
	doTellSignal
	doTellStore // store to the peer, fence, notify
	doTellLocal // store into the own box, pipe barrier, notify: the peer gets it
	doTake
	doTakeRemote
)

// ordered makes a program in which every access of one rank to the memory of another is ordered
// before it is read. It has rounds of messages, between which all synchronize.
func ordered(d *rand.Rand) *program {
	head := make([]byte, 8)
	for i := range head {
		head[i] = byte(d.Uint32())
	}
	head[7] = head[7]&0x30 | 0x40
	p := decode(head)
	p.directed = true // the outcome does not depend on time
	add := func(r int, s step) { p.steps[r] = append(p.steps[r], s) }
	sent := make([][]int, p.world) // by receiver and sender
	for r := range sent {
		sent[r] = make([]int, p.world)
	}
	for range 1 + d.IntN(4) {
		takes := make([][]step, p.world)
		for r := range p.world {
			local := false // its own box holds a message of this round, of either kind
			for peer := range p.world {
				if d.IntN(2) == 0 {
					continue
				}
				s := step{kind: doTellPut + stepKind(d.IntN(6)), peer: peer, n: 1 + d.IntN(p.elems)}
				take := step{kind: doTake, peer: r, n: s.n}
				if near := s.kind == doTellLocal; near || peer == r {
					if local || near && peer == r {
						continue
					}
					local = true
					if near {
						take.kind = doTakeRemote
					}
				}
				sent[peer][r]++
				take.seq = sent[peer][r]
				add(r, s)
				takes[peer] = append(takes[peer], take)
				if d.IntN(3) == 0 {
					add(r, step{kind: []stepKind{doAdd, doLoad, doFull}[d.IntN(3)], n: p.elems, peer: 3})
				}
			}
		}
		for r := range p.world {
			d.Shuffle(len(takes[r]), func(i, k int) { takes[r][i], takes[r][k] = takes[r][k], takes[r][i] })
			p.steps[r] = append(p.steps[r], takes[r]...)
			add(r, step{kind: []stepKind{doSync, doBarrier}[d.IntN(2)]})
		}
	}
	return p
}

// TestOrderedPrograms: programs without races leave the same on both executors, however
// closely links are followed, whatever order the machine promises, and under any schedule.
func TestOrderedPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := ordered(dice(t))
		p.order = mem.PutSignal
		want, err := p.onMock()
		if err != nil || want.err != nil {
			t.Fatalf("mock: %v, %v\n%+v", err, want.err, p)
		}
		for k := range 12 {
			p.order = mem.Ordering(k % 4)
			f := []noc.Fidelity{noc.Slot, noc.Ideal, noc.Flit}[k%3]
			seed := uint64(k / 4)
			got, err := p.onSim(f, k%5 == 0, seed)
			if err != nil {
				t.Fatal(err)
			}
			if got.err != nil {
				t.Fatalf("%v, %v, seed %d: %v\n%+v", p.order, f, seed, got.err, p)
			}
			if err := sameValues(want, got); err != nil {
				t.Fatalf("%v, %v, seed %d: mock and sim: %v\n%+v", p.order, f, seed, err, p)
			}
		}
	})
}

// TestOrderedUnderManySchedules is the same of a few programs, under many schedules.
func TestOrderedUnderManySchedules(t *testing.T) {
	seeds := 40
	switch {
	case exhaustive.On():
		seeds = 100
	case testing.Short(): // the race detector is slow, and each seed has the same goroutines
		seeds = 10
	}
	for i := range 3 {
		p := ordered(rand.New(rand.NewPCG(uint64(i), 5)))
		p.order = mem.PutSignal
		want, err := p.onMock()
		if err != nil || want.err != nil {
			t.Fatal(err, want.err)
		}
		differs := map[string]bool{}
		for seed := range uint64(seeds) {
			got, err := p.onSim(noc.Slot, false, seed+1)
			if err != nil || got.err != nil {
				t.Fatal(err, got.err)
			}
			if err := sameValues(want, got); err != nil {
				t.Fatalf("seed %d: %v", seed+1, err)
			}
			differs[fmt.Sprint(got.res.Duration())] = true
		}
		if len(differs) < seeds/2 {
			t.Errorf("%d seeds made %d schedules", seeds, len(differs))
		}
	}
}
