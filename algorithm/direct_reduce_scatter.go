package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// directReduceScatter is a kernel in which every rank loads its chunk of all vectors and combines
// them. If results replace inputs, peers may still have to load the input. So the result stays in
// the window until all ranks have loaded.
func directReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	from := places{n, func(r int) tl.Ref { return a.InBlock(r, n, me) }}
	out := a.Out(me, from.at(me).Len())
	if a.Outs != nil {
		direct(c, a, tileToSelf, taskList(task{from, singlePlace(out)}))
		return
	}
	data, _ := scratch(c, a, out.Len())
	staged := c.Local(data)
	direct(c, a, tileToSelf, taskList(task{from, singlePlace(staged)}))
	move(c, out, staged)
}

// DirectReduceScatter reads from peers instead of writing to them.
var DirectReduceScatter = Register(Algorithm{
	Name:       "direct_reduce_scatter",
	Summary:    "each rank loads its chunk of all vectors and combines it",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     directReduceScatter,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, tl.CDiv(nElem, max(1, world)), t, 2, meshRow(world))
	},
	Steps:  "2 barriers, N loads in parallel",
	Cost:   "2 ceil(log2 N) alpha + (N-1)/N beta M: (N-1)/N M bytes per rank",
	Source: "the reduce-scatter half of two-shot all-reduce, by reads: github.com/microsoft/mscclpp",
})
