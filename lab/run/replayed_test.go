package run_test

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// misplaced stores what rank 9 got an element too early.
func misplaced(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	c.Send(tl.East, c.Load(mine.Slice(1, mine.Len()-1)))
	if c.Rank() == 9 {
		mine = mine.Slice(0, mine.Len()-1)
	} else {
		mine = mine.Slice(1, mine.Len()-1)
	}
	c.Store(mine, c.Recv(tl.West, mine.Shape, a.DType))
}

// elsewhere loads from where rank 11 has nothing.
func elsewhere(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	if c.Rank() == 11 {
		mine.Addr += 1 << 20
	}
	c.Store(mine, c.Load(mine))
}

// TestWrongResultsEitherWay: a wrong result is described in the same words, whether the launch is
// replayed or simulated event by event. A run that prints the pointers of rings is not replayed.
func TestWrongResultsEitherWay(t *testing.T) {
	for name, kernel := range map[string]tl.Kernel{
		"lossy": faulty.Lossy, "misplaced": misplaced, "elsewhere": elsewhere,
		"twice": func(c *tl.Context, a tl.Args) {
			mine := a.Shard(c.Rank())
			v := c.Load(mine)
			c.Store(mine, c.Combine(a.Op, v, v))
		},
		"divided": func(c *tl.Context, a tl.Args) {
			mine := a.Shard(c.Rank())
			c.Store(mine, c.Scale(dtype.Div, c.Load(mine), 3))
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := algorithm.Register(algorithm.Algorithm{
				Name: "lab_wrong_" + name, Collective: "all_reduce", Topology: "ring_1d", Kernel: kernel,
			})
			var reports [2]string
			for i, pointers := range []io.Writer{nil, io.Discard} {
				r, err := run.Run(ctx, run.Spec{Algorithm: a.Name, Ranks: 16, NElem: 64, VerifyData: true, Pointers: pointers})
				if r == nil || r.OK() {
					t.Fatalf("%+v, %v", r, err)
				}
				r.Spec, r.Simulation, r.Events, r.WallTime, r.EventsPerSecond, r.NsPerMessage = run.Spec{}, nil, 0, 0, 0, 0
				text, _ := json.MarshalIndent(r, "", " ")
				reports[i] = fmt.Sprintln(string(text), err)
			}
			if d := cmp.Diff(reports[1], reports[0]); d != "" {
				t.Errorf("reports differ (-event-driven +replayed):\n%s", d)
			}
		})
	}
}
