package sim_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/tl"
	"kernbench/unit"
)

// TestWindowAfterADiscardedRecording: a window is used in two launches, each of which is recorded
// up to its first one-sided operation, in vain, and then runs. Nothing of the recordings is left in
// its words, in the meetings of its team, or in the times.
func TestWindowAfterADiscardedRecording(t *testing.T) {
	const world = 4
	run := func(o sim.Options) (took []unit.Time, sig []int64, executions int32) {
		var runs atomic.Int32
		b := newWindows(t, func(c *tl.Context, a tl.Args) {
			runs.Add(1)
			w := a.Window(0)
			c.Sync(w.Team)
			c.Notify(c.Signals(w, "sig").At(0), (c.Rank()+1)%c.WorldSize(), tl.SignalAdd, 1)
			c.Full(tl.Dims(64), dtype.F16, float64(c.Rank()))
			c.Barrier(w.Team)
		}, setup{world: world}, data(8), words(1))
		e := sim.New(b.m, o)
		defer e.Close()
		for range 2 {
			res, err := e.Launch(t.Context(), b.launch)
			if err != nil {
				t.Fatal(err)
			}
			took = append(took, res.Duration())
		}
		for r := range world {
			for _, v := range b.win.Words(r) {
				sig = append(sig, int64(v))
			}
		}
		return took, sig, runs.Load()
	}
	took, sig, executions := run(sim.Options{})
	wantTook, wantSig, once := run(sim.Options{EventDriven: true})
	if once != 2*world || executions <= once {
		t.Fatalf("%d executions with recordings, %d without", executions, once)
	}
	if !slices.Equal(took, wantTook) || !slices.Equal(sig, wantSig) {
		t.Errorf("with recordings %v, words %v; without %v, %v", took, sig, wantTook, wantSig)
	}
}
