package sim_test

import (
	"fmt"
	"testing"

	"kernbench/exec/sim"
	"kernbench/tl"
)

// TestWaysNobodyTakes: rings into which no kernel sends are in nobody's way, whether the launch says so or its
// record does.
func TestWaysNobodyTakes(t *testing.T) {
	k := func(c *tl.Context, a tl.Args) {
		v := c.Load(a.Shard(c.Rank()))
		for range 40 {
			c.Send(tl.East, v)
			v = c.Recv(tl.West, v.Shape(), v.DType())
		}
	}
	said := map[string]bool{}
	for _, sends := range [][]tl.Dir{nil, {tl.East}} {
		b := newBench(t, k, setup{world: 256, n: 8})
		b.launch.Local, b.launch.Alike, b.launch.Sends = true, true, sends
		res, err := b.run(sim.Options{SecondCore: true})
		if err != nil {
			t.Fatal(err)
		}
		said[fmt.Sprint(res.End, res.Messages, res.Events)] = true
		if res.Events == 0 {
			t.Error("no links are shared")
		}
	}
	if len(said) > 1 {
		t.Errorf("time, messages and events are %v", said)
	}
}
