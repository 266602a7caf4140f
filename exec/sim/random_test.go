package sim_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kernbench/fault"
	"kernbench/hw/noc"
)

// judge runs a program in every way and says what is wrong.
func judge(t interface {
	Fatalf(string, ...any)
	Helper()
}, p *program) {
	t.Helper()
	run := func(f noc.Fidelity, yield bool) *image {
		o, err := p.onSim(f, yield)
		if err != nil {
			t.Fatalf("%v\n%+v", err, p)
		}
		return o
	}
	ahead, stepped, again := run(noc.Slot, false), run(noc.Slot, true), run(noc.Slot, false)
	if ahead.err != nil {
		if _, err := placeOf(ahead.err); err != nil {
			t.Fatalf("%v\n%+v", err, p)
		}
	}
	if err := sameRun(ahead, again); err != "" {
		t.Fatalf("two runs differ: %s\n%+v", err, p)
	}
	if err := sameRun(ahead, stepped); err != "" {
		t.Fatalf("run-ahead can be seen (-with +without): %s\n%+v", err, p)
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
		if what := sameOutcome(ahead, run(f, false)); what != "" {
			t.Fatalf("slot and %v: %s\n%+v", f, what, p)
		}
	}
}

// sameRun says how two runs on the simulated machine differ.
func sameRun(a, b *image) string {
	if what := cmp.Diff(errText(a.err), errText(b.err)); what != "" {
		return what
	}
	if !slices.Equal(a.trace, b.trace) {
		return "traces: " + cmp.Diff(a.trace, b.trace)
	}
	a.res.Events, b.res.Events = 0, 0
	if a.res != b.res {
		return cmp.Diff(a.res, b.res)
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

// sameOutcome says how two runs without a common clock differ: in values, or in why they
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

// anyProgram draws bytes: most of what comes out hangs or fails.
func anyProgram(t *rapid.T) *program {
	return decode(rapid.SliceOfN(rapid.Byte(), 8, 90).Draw(t, "program"))
}

// matched draws a program whose messages all meet: in each round some ring directions
// carry a message, and everybody sends before receiving.
func matched(t *rapid.T) *program {
	p := decode(rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "head"))
	p.slots = max(p.slots, 2)
	w, err := p.launch()
	if err != nil {
		t.Fatal(err)
	}
	wiring := w.Groups[0].Wiring
	add := func(r int, s step) { p.steps[r] = append(p.steps[r], s) }
	other := func(r int) {
		for range rapid.IntRange(0, 2).Draw(t, "others") {
			kind := rapid.SampledFrom([]stepKind{doAdd, doStore, doLoad, doPeek, doPoke, doProbe, doFull, doPipe, doAwait}).Draw(t, "other")
			add(r, step{kind: kind, n: p.elems, peer: rapid.IntRange(0, p.world-1).Draw(t, "peer")})
		}
	}
	for range rapid.IntRange(1, 4).Draw(t, "rounds") {
		n := rapid.SampledFrom([]int{p.elems, p.elems, p.elems / 2, 0}).Draw(t, "n")
		used := map[[2]int]bool{} // rank and port in
		for r := range p.world {
			add(r, step{kind: doLoad, n: p.elems})
			other(r)
			add(r, step{kind: doLoad, n: p.elems})
			for _, o := range wiring[r].Out {
				if rapid.IntRange(0, 2).Draw(t, "skip") == 0 {
					continue
				}
				used[[2]int{int(o.Peer), int(o.PeerIn)}] = true
				add(r, step{kind: rapid.SampledFrom([]stepKind{doSend, doSend, doSendRef}).Draw(t, "send"), dir: o.Dir, n: n})
			}
		}
		for r := range p.world {
			for port, in := range wiring[r].In {
				if !used[[2]int{r, port}] {
					continue
				}
				kind := rapid.SampledFrom([]stepKind{doRecv, doRecv, doPost, doRecvTo}).Draw(t, "recv")
				add(r, step{kind: kind, dir: in.Dir, n: n})
				if kind == doPost {
					other(r)
					add(r, step{kind: doWait})
				}
				other(r)
			}
		}
	}
	return p
}

// TestAnyProgram: a result or an error with a place, the same however it is run.
func TestAnyProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { judge(t, anyProgram(t)) })
}

// TestMatchedPrograms also counts how many end well, so that the generator is known to
// reach what it is for.
func TestMatchedPrograms(t *testing.T) {
	well, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := matched(t)
		judge(t, p)
		all++
		if o, _ := p.onMock(); o.err == nil {
			well++
		}
	})
	if well*2 < all {
		t.Errorf("only %d of %d programs ended well", well, all)
	}
}

// TestProcessorsCannotBeSeen: one processor or two, same bytes.
func TestProcessorsCannotBeSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := matched(t)
		before := runtime.GOMAXPROCS(1)
		one, err := p.onSim(noc.Slot, false)
		runtime.GOMAXPROCS(2)
		two, err2 := p.onSim(noc.Slot, false)
		runtime.GOMAXPROCS(before)
		if err != nil || err2 != nil {
			t.Fatalf("%v, %v", err, err2)
		}
		if what := sameRun(one, two); what != "" {
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
