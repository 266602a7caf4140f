package verify

import (
	"fmt"

	"kernbench/collective"
)

// provenance compares the contributors of each element with the expected ones. If all ranks should
// hold the same, one expectation serves for all.
func (c *check) provenance() {
	c.depth = -1
	switch {
	case c.NotApplicable != "":
		c.verdict.Provenance = Question{NotApplicable, c.NotApplicable}
		return
	case c.Prov == nil:
		c.verdict.Provenance = Question{NotChecked, c.NotChecked}
		return
	}
	var want collective.Prov
	depth := 0
	for rank := range c.Call.World {
		if rank == 0 || !c.Collective.SameOutput {
			want = c.expect.Prov(want[:0], rank)
		}
		got := c.Prov(rank)
		depth = max(depth, int(got.MaxDepth()))
		if collective.Equal(want, got) {
			continue
		}
		for at, d := range collective.Differences(want, got) {
			c.provBad[rank].add(at, int(d.Got.N))
			if d.Got.Kind == collective.Unwritten {
				c.verdict.Unwritten += int(d.Got.N)
			}
		}
	}
	ranks, elements := failing(c.provBad)
	if ranks > 0 {
		c.verdict.Provenance = Question{Fail, fmt.Sprintf("%d of %d ranks hold elements with other contributions than %s requires, %d elements in all",
			ranks, c.Call.World, c.Collective.Name, elements)}
		return
	}
	if depth < collective.DepthMany {
		c.depth = depth
	}
	text := "each element holds exactly the contributions that it should, each once"
	if !c.Collective.Reduces {
		text = "each element is the one that it should be"
	}
	c.verdict.Provenance = Question{OK, text}
}
