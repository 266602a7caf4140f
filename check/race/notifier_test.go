package race_test

import (
	"testing"

	"kernbench/kerneltest"
	"kernbench/tl"
)

// What an atomic that notifies proves to whoever waits for it, whatever it returned.
func TestAtomicsThatNotify(t *testing.T) {
	ones := func(c *locked) { c.PutTensorSignal(c.data, 0, c.Load(c.out), c.words.At(0), tl.SignalAdd, 1) }
	for _, x := range []struct {
		name  string
		clean bool
		send  func(c *locked) // of rank 1
		other func(c *locked) // of rank 2
		wait  int64
	}{
		{"put_signal, fetch_add, wait for one", false, func(c *locked) { ones(c); c.add(0, 1) }, nil, 1},
		{"put_signal, fetch_add, wait for both", true, func(c *locked) { ones(c); c.add(0, 1) }, nil, 2},
		{"put_signal, fence, fetch_add, wait for one", true, func(c *locked) { ones(c); c.Fence(); c.add(0, 1) }, nil, 1},
		{"put_signal, quiet, fetch_add, wait for one", true, func(c *locked) { ones(c); c.Quiet(); c.add(0, 1) }, nil, 1},
		{"put_signal, notify, wait for one", false, func(c *locked) { ones(c); c.notify(0, 1) }, nil, 1},
		{"put, fetch_add", false, func(c *locked) { c.PutTensor(c.data, 0, c.Load(c.out)); c.add(0, 1) }, nil, 1},
		{"put, fence, fetch_add", true, func(c *locked) { c.PutTensor(c.data, 0, c.Load(c.out)); c.Fence(); c.add(0, 1) }, nil, 1},
		{"put_signal, fetch_add of another, wait for one", false, ones, func(c *locked) { c.add(0, 1) }, 1},
		{"put_signal, fetch_add of another, wait for both", true, ones, func(c *locked) { c.add(0, 1) }, 2},
		{"put_signal, fetch_add of another that has waited", true, ones, func(c *locked) {
			for c.cas(0, 1, 2) != 1 {
			}
		}, 2},
		{"put_signal, compare_swap once", false, ones, func(c *locked) { c.cas(0, 0, 1) }, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			k, cfg := lockProgram(func(c *locked) {
				switch {
				case c.Rank() == 0:
					c.WaitUntil(c.words.At(0), tl.GE, x.wait)
					c.keep()
				case c.Rank() == 1:
					x.send(c)
				case x.other != nil:
					x.other(c)
				}
			})
			reported := 0
			for seed := range uint64(16) {
				_, rep, err := kerneltest.Races(k, cfg(3, seed))
				if err != nil {
					t.Fatal(err)
				}
				if rep.Total > 0 {
					reported++
				} else if !x.clean && x.name != "put_signal, compare_swap once" {
					t.Errorf("schedule %d: not reported", seed)
				}
				if rep.Unsettled || x.clean && rep.Total > 0 {
					t.Fatalf("schedule %d: the program is right\n%v", seed, rep)
				}
			}
			if !x.clean && reported == 0 {
				t.Error("not reported in any schedule")
			}
		})
	}
}
