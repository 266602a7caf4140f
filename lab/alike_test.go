package lab_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab"
	"kernbench/tl"
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

// A wrong result is told of in the same words, whether all ranks carry it out at a time or each does.
func TestWrongResultsOfAlikeRanks(t *testing.T) {
	for name, kernel := range map[string]tl.Kernel{
		"lossy": lossy, "misplaced": misplaced, "elsewhere": elsewhere,
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
			var said [2]string
			for i, alike := range []bool{true, false} {
				a := algorithm.Algorithm{
					Name: "lab_wrong", Collective: "all_reduce", Topology: "ring_1d", Kernel: kernel,
					Local: true, Sends: []tl.Dir{tl.East}, Alike: func(*tl.Group) bool { return alike },
				}
				a.Name += map[bool]string{true: "_alike_", false: "_apart_"}[alike] + name
				r, err := lab.Run(ctx, lab.Spec{Algorithm: algorithm.Register(a).Name, Ranks: 16, NElem: 64, VerifyData: true})
				if r == nil || r.OK() {
					t.Fatalf("%+v, %v", r, err)
				}
				r.Spec, r.Algorithm, r.Events, r.WallTime, r.EventsPerSecond, r.NsPerMessage = lab.Spec{}, "", 0, 0, 0, 0
				text, _ := json.MarshalIndent(r, "", " ")
				said[i] = strings.ReplaceAll(fmt.Sprintln(string(text), err), a.Name, "it")
			}
			if d := cmp.Diff(said[1], said[0]); d != "" {
				t.Errorf("-apart +alike:\n%s", d)
			}
		})
	}
}
