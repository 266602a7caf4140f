package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/mem"
)

// judge runs a program in every mode and returns what is wrong.
func judge(t interface {
	Fatalf(string, ...any)
	Helper()
}, p *program) {
	t.Helper()
	run := func(f noc.Fidelity, yield bool, seed uint64) *image {
		o, err := p.onSim(f, yield, seed)
		if err != nil {
			t.Fatalf("%v\n%+v", err, p)
		}
		return o
	}
	ahead, stepped, again := run(noc.Slot, false, 0), run(noc.Slot, true, 0), run(noc.Slot, false, 0)
	if ahead.err != nil {
		if _, err := placeOf(ahead.err); err != nil {
			t.Fatalf("%v\n%+v", err, p)
		}
	}
	if err := diffRuns(ahead, again); err != "" {
		t.Fatalf("two runs differ: %s\n%+v", err, p)
	}
	if err := diffRuns(ahead, stepped); err != "" {
		t.Fatalf("run-ahead can be seen (-with +without): %s\n%+v", err, p)
	}
	if what := differInModes(p); what != "" {
		t.Fatalf("%s\n%+v", what, p)
	}
	if p.sided {
		if err := diffRuns(run(noc.Ideal, false, 7), run(noc.Ideal, true, 7)); err != "" {
			t.Fatalf("run-ahead can be seen under random delays (-with +without): %s\n%+v", err, p)
		}
	}
	if p.onRecv || !p.directed {
		return // what others have sent by now depends on time
	}
	reference, err := p.onMock()
	if err != nil {
		t.Fatalf("%v\n%+v", err, p)
	}
	if what := sameOutcome(reference, ahead); what != "" {
		t.Fatalf("mock and sim: %s\n%+v", what, p)
	}
	for _, f := range []noc.Fidelity{noc.Ideal, noc.Flit} {
		if what := sameOutcome(ahead, run(f, false, 0)); what != "" {
			t.Fatalf("slot and %v: %s\n%+v", f, what, p)
		}
	}
}

// differInModes returns how a program that is replayed, if it can be, differs from the same one
// event-driven, or "".
func differInModes(p *program) string {
	for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
		replayed, err := p.onSimWith(sim.Options{Fidelity: f})
		if err != nil {
			return err.Error()
		}
		events, err := p.onSimWith(sim.Options{Fidelity: f, EventDriven: true})
		if err != nil {
			return err.Error()
		}
		if what := diffRuns(events, replayed); what != "" {
			return fmt.Sprintf("fidelity %v, event-driven and replayed: %s", f, what)
		}
		if !p.local {
			break
		}
	}
	return ""
}

// diffRuns returns how two runs on the simulated machine differ.
func diffRuns(a, b *image) string {
	if what := cmp.Diff(errText(a.err), errText(b.err)); what != "" {
		return what
	}
	if !slices.Equal(a.trace, b.trace) {
		return "traces: " + cmp.Diff(a.trace, b.trace)
	}
	a.res.Events, b.res.Events, a.res.Mode, b.res.Mode = 0, 0, "", ""
	if what := cmp.Diff(a.res, b.res); what != "" {
		return what
	}
	if a.err != nil {
		return ""
	}
	if err := sameValues(a, b); err != nil {
		return err.Error()
	}
	return ""
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// sameOutcome returns how two runs without a common clock differ: in values, or in why they
// failed. Of several kernels that fail, which is first depends on the clock.
func sameOutcome(a, b *image) string {
	var da, db *fault.Deadlock
	switch {
	case a.err == nil && b.err == nil:
		if err := sameValues(a, b); err != nil {
			return err.Error()
		}
	case a.err == nil || b.err == nil:
		return cmp.Diff(errText(a.err), errText(b.err))
	case errors.As(a.err, &da) && errors.As(b.err, &db):
		return cmp.Diff(blockedRanks(da), blockedRanks(db))
	case da != nil || errors.As(b.err, &db), unreceived(a.err) != unreceived(b.err):
		return cmp.Diff(errText(a.err), errText(b.err))
	}
	return ""
}

func unreceived(err error) bool {
	var u *fault.Unreceived
	return errors.As(err, &u)
}

func blockedRanks(d *fault.Deadlock) []string {
	var s []string
	for _, b := range d.Blocked {
		b.Time, b.Timed, b.PE, b.Occupancy = 0, false, "", 0
		s = append(s, b.String())
	}
	return s
}

// dice makes a source of even chances: what rapid draws by itself is mostly small.
func dice(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) }

// anyProgram makes a program of random bytes: most hang or fail.
func anyProgram(d *rand.Rand, sided bool) *program {
	data := make([]byte, 8+2*d.IntN(60))
	for i := range data {
		data[i] = byte(d.Uint32())
		if i >= 8 && i%2 == 0 && d.IntN(6) == 0 {
			data[i] = 0xf0
		}
	}
	if data[7] &^= 0x40; sided {
		data[7] |= 0x40
	}
	return decode(data)
}

// matched makes a program whose messages all meet: in each round some rings carry a
// message, and all ranks send before receiving.
func matched(d *rand.Rand) *program {
	head := make([]byte, 8)
	for i := range head {
		head[i] = byte(d.Uint32())
	}
	head[7] &^= 0x40
	p := decode(head)
	p.slots = max(p.slots, 2)
	l, err := p.launch()
	if err != nil {
		panic(err)
	}
	wiring := l.Groups[0].Wiring
	add := func(r int, s step) {
		s.kind = p.permitted(s.kind)
		p.steps[r] = append(p.steps[r], s)
	}
	size := func() int { return []int{p.elems, p.elems, p.elems / 2, 1, 0}[d.IntN(5)] }
	others := []stepKind{doAdd, doAdd, doStore, doLoad, doPeek, doPoke, doPoke, doProbe, doFull, doPipe, doAwait}
	other := func(r int) {
		for range d.IntN(4) {
			add(r, step{kind: others[d.IntN(len(others))], n: size(), peer: d.IntN(p.world)})
		}
	}
	for range 1 + d.IntN(4) {
		n := size()
		arrives := make([][]int, p.world) // ports, by rank
		for r := range p.world {
			other(r)
			add(r, step{kind: doLoad, n: p.elems})
			for _, o := range wiring[r].Out {
				if d.IntN(3) == 0 {
					continue
				}
				arrives[o.Peer] = append(arrives[o.Peer], int(o.PeerIn))
				add(r, step{kind: []stepKind{doSend, doSend, doSendRef}[d.IntN(3)], dir: o.Dir, n: n})
			}
			other(r)
		}
		for r := range p.world {
			undirected := d.IntN(4) == 0 && !p.local
			for _, port := range arrives[r] {
				s := step{kind: []stepKind{doRecv, doRecv, doPost, doRecvTo}[d.IntN(4)], dir: wiring[r].In[port].Dir, n: n}
				if undirected {
					s.kind, p.directed = doAny, false
				}
				add(r, s)
				if s.kind == doPost {
					other(r)
					add(r, step{kind: doWait})
				}
				other(r)
			}
		}
	}
	return p
}

// touching makes a program of rounds in which ranks access each other's memory at random. Between
// rounds all synchronize, or all wait for a word from a neighbour.
func touching(d *rand.Rand) *program {
	head := make([]byte, 8)
	for i := range head {
		head[i] = byte(d.Uint32())
	}
	head[7] = head[7]&0x30 | 0x40
	p := decode(head)
	p.directed = false
	add := func(r int, s step) { p.steps[r] = append(p.steps[r], s) }
	kinds := []stepKind{doAdd, doStore, doLoad, doPeek, doPoke, doFull, doPipe, doAwait}
	for k := numStepKinds; k < numSidedKinds; k++ {
		switch k {
		case doWaitWord, doWaitAll, doSpin, doSync, doBarrier:
		default:
			kinds = append(kinds, k, k)
		}
	}
	for round := range 1 + d.IntN(4) {
		meet := []stepKind{doSync, doBarrier, doWaitWord, doSpin}[d.IntN(4)]
		for r := range p.world {
			for range d.IntN(12) {
				k := kinds[d.IntN(len(kinds))]
				if k == doSwap && round > 0 || k == doSetNear && (round > 0 || meet != doBarrier) {
					continue // it could take back what is waited for
				}
				add(r, step{kind: k, n: []int{p.elems, p.elems / 2, 1, 0}[d.IntN(4)], peer: d.IntN(p.world)})
			}
			if meet >= doWaitWord && meet <= doSpin {
				add(r, step{kind: doAdd1, peer: (r + 1) % p.world})
				add(r, step{kind: meet, n: 1, peer: (r + p.world - 1) % p.world})
			} else {
				add(r, step{kind: meet})
			}
		}
	}
	return p
}

// TestAnyProgram: a result or an error with a place, the same however it is run.
func TestAnyProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { judge(t, anyProgram(dice(t), false)) })
}

// TestAnySidedProgram: the same of programs that touch each other's memory as they like.
func TestAnySidedProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { judge(t, anyProgram(dice(t), true)) })
}

// TestSidedPrograms: programs that touch each other's memory as they like, with waits that
// are met, so that they end well.
func TestSidedPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := touching(dice(t))
		judge(t, p)
		if o, _ := p.onSim(noc.Slot, false, 0); o.err != nil {
			t.Fatalf("%v\n%+v", o.err, p)
		}
	})
}

// TestMatchedPrograms also counts how many end well, and how many of those that use only their own
// memory are replayed. So the generator is known to reach its goal.
func TestMatchedPrograms(t *testing.T) {
	well, all, replayed, local := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := matched(dice(t))
		judge(t, p)
		all++
		if o, _ := p.onMock(); o.err != nil {
			return
		}
		well++
		if p.local {
			local++
			if notReplayed(t, p) == "" {
				replayed++
			}
		}
	})
	const enough = 30 // a share of fewer programs means little: -short runs six
	if all >= enough && well*2 < all {
		t.Errorf("only %d of %d programs ended well", well, all)
	}
	if local >= enough && replayed*2 < local {
		t.Errorf("only %d of %d local programs that ended well were replayed", replayed, local)
	}
}

// notReplayed returns why a program is not replayed, or "".
func notReplayed(t *rapid.T, p *program) string {
	t.Helper()
	l, err := p.launch()
	if err != nil {
		t.Fatal(err)
	}
	m := machineFor(p.queue, mem.PutSignal, "")
	reason, err := sim.New(m, sim.Options{}).NotReplayed(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	return reason
}

// TestProcessorsCannotBeSeen: one processor or two, same bytes.
func TestProcessorsCannotBeSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := matched(dice(t))
		before := runtime.GOMAXPROCS(1)
		one, err := p.onSim(noc.Slot, false, 0)
		runtime.GOMAXPROCS(2)
		two, err2 := p.onSim(noc.Slot, false, 0)
		runtime.GOMAXPROCS(before)
		if err != nil || err2 != nil {
			t.Fatalf("%v, %v", err, err2)
		}
		if what := diffRuns(one, two); what != "" {
			t.Fatalf("%s\n%+v", what, p)
		}
	})
}

// FuzzProgram is TestAnyProgram on whatever bytes the fuzzer finds.
func FuzzProgram(f *testing.F) {
	f.Add([]byte("\x02\x01\x02\x08\x00\x01\x03\x00" + "\x00\x00\x02\x01\xf0\x00\x00\x00\x02\x01"))
	f.Add([]byte{0, 0, 0, 39, 1, 6, 0, 0, 0, 0, 2, 1, 7, 0, 8, 0, 0xf0, 0, 0, 0, 2, 1})
	f.Add([]byte{1, 3, 3, 20, 2, 0, 1, 2, 15, 0, 16, 0, 12, 3, 11, 3, 10, 2, 0xf1, 0, 13, 0, 14, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 200 {
			judge(t, decode(data))
		}
	})
}
