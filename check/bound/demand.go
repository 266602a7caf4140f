package bound

import (
	"fmt"

	"kernbench/collective"
	"kernbench/mem"
)

// pattern is the part of a collective's meaning that limits depend on.
type pattern uint8

const (
	nothing     pattern = iota // one rank, or no elements
	meeting                    // every rank must know that all have come
	everyoneAll                // all ranks end with all contributions
	everyoneSum                // all ranks end with the reduction
	chunksSum                  // every rank ends with its chunk of the reduction
	rootSum                    // the root ends with the reduction
	rootAll                    // the root ends with all contributions
	fromRoot                   // all ranks end with the root's contribution
	blocksRoot                 // every rank ends with its block of the root's contribution
	pairs                      // every rank has something for some others
)

// demand is a call of a collective as limits see it. Numbers are elements.
type demand struct {
	pattern pattern
	world   int
	elems   int
	root    int
	total   int64 // fewest elements that move between ranks
	block   int64 // of every ordered pair, if pattern is pairs and all have as many
	flows   []flow
}

// flow holds what one rank has for another.
type flow struct {
	from, to int32
	elems    int64
}

// most bounds what a call may move, so that no sum leaves 63 bits.
const most = int64(1) << 60

// newDemand reads a call.
func newDemand(co *collective.Collective, c collective.Call) (*demand, error) {
	if err := co.Check(c); err != nil {
		return nil, err
	}
	d := &demand{world: c.World, elems: c.Elems, root: c.Root}
	size := int64(c.Type.Size())
	each := int64(c.Elems)
	for _, row := range c.Counts {
		each = max(each, count(row))
	}
	if limit := most / size / int64(c.World) / int64(c.World); each > limit {
		return nil, fmt.Errorf("%s of %d elements among %d ranks: limits are known for at most %d", co.Name, each, c.World, limit)
	}
	d.total = int64(co.Demand(c)) / size
	outs := 0
	for r := range c.World {
		outs = max(outs, co.Out(c, r))
	}
	switch {
	case c.World == 1:
	case outs == 0 && co.SameOutput:
		if co.In(c, 0) == 0 && co.Out(collective.Call{World: 2, Elems: 1, Type: c.Type}, 0) == 0 {
			d.pattern = meeting
		}
	case outs == 0:
	case co.Reduces && co.SameOutput:
		d.pattern = everyoneSum
	case co.Reduces && co.Rooted:
		d.pattern = rootSum
	case co.Reduces:
		d.pattern = chunksSum
	case co.SameOutput && co.Rooted:
		d.pattern = fromRoot
	case co.SameOutput:
		d.pattern = everyoneAll
	case co.Rooted && co.Out(c, (c.Root+1)%c.World) == 0:
		d.pattern = rootAll
	case co.Rooted:
		d.pattern = blocksRoot
	default:
		d.pattern = pairs
		d.trade(co, c)
	}
	return d, nil
}

func count(row []int) int64 {
	n := int64(0)
	for _, k := range row {
		n += int64(k)
	}
	return n
}

// trade counts the elements of each rank for each other.
func (d *demand) trade(co *collective.Collective, c collective.Call) {
	if co.Blocks && c.Counts == nil {
		d.block = int64(c.Elems / c.World)
		return
	}
	var parts []collective.Part
	for v := range c.World {
		parts = co.Parts(parts[:0], c, v)
		for _, p := range parts {
			if p.N > 0 && p.From.First != v {
				d.flows = append(d.flows, flow{int32(p.From.First), int32(v), int64(p.N)})
			}
		}
	}
}

// chunk returns the part of a reduction, or of the root's contribution, that is for a rank.
func (d *demand) chunk(rank int) int64 {
	return int64(mem.ChunkOf(d.elems, d.world, rank).N)
}

// crossing returns the fewest elements that must go from ranks inside to ranks outside.
func (d *demand) crossing(inside func(rank int) bool) int64 {
	n, beyond := 0, int64(0)
	for r := range d.world {
		if inside(r) {
			n++
		} else if d.pattern == chunksSum || d.pattern == blocksRoot {
			beyond += d.chunk(r)
		}
	}
	if n == 0 || n == d.world {
		return 0
	}
	elems := int64(d.elems)
	switch d.pattern {
	case everyoneAll:
		return elems * int64(n)
	case everyoneSum:
		return elems
	case chunksSum:
		return beyond
	case rootSum:
		if !inside(d.root) {
			return elems
		}
	case rootAll:
		if !inside(d.root) {
			return elems * int64(n)
		}
	case fromRoot:
		if inside(d.root) {
			return elems
		}
	case blocksRoot:
		if inside(d.root) {
			return beyond
		}
	case pairs:
		sum := d.block * int64(n) * int64(d.world-n)
		for _, f := range d.flows {
			if inside(int(f.from)) && !inside(int(f.to)) {
				sum += f.elems
			}
		}
		return sum
	}
	return 0
}

// local counts what every rank must move through its own memory and links. Numbers are elements.
type local struct {
	leaves, enters []int64 // over its links
	reads, writes  []int64 // of its memory
}

// locals finds them, for every rank.
func (d *demand) locals() local {
	n := d.world
	l := local{make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)}
	elems, others := int64(d.elems), int64(n-1)
	for r := range n {
		leaves, enters, reads, writes := int64(0), int64(0), int64(0), int64(0)
		isRoot := r == d.root
		switch d.pattern {
		case everyoneAll:
			leaves, enters = elems, elems*others
			reads, writes = leaves, enters
		case everyoneSum:
			leaves, enters, reads, writes = elems, elems, elems, elems
		case chunksSum:
			leaves, enters = elems-d.chunk(r), d.chunk(r)
			reads, writes = leaves, enters
		case rootSum:
			if isRoot {
				enters, writes = elems, elems
			} else {
				leaves, reads = elems, elems
			}
		case rootAll:
			if isRoot {
				enters, writes = elems*others, elems*others
			} else {
				leaves, reads = elems, elems
			}
		case fromRoot:
			if isRoot {
				leaves, reads = elems, elems
			} else {
				enters, writes = elems, elems
			}
		case blocksRoot:
			if isRoot {
				leaves = elems - d.chunk(r)
				reads = leaves
			} else {
				enters, writes = d.chunk(r), d.chunk(r)
			}
		case pairs:
			leaves, enters = d.block*others, d.block*others
			reads, writes = leaves, enters
		}
		l.leaves[r], l.enters[r], l.reads[r], l.writes[r] = leaves, enters, reads, writes
	}
	for _, f := range d.flows {
		l.leaves[f.from] += f.elems
		l.reads[f.from] += f.elems
		l.enters[f.to] += f.elems
		l.writes[f.to] += f.elems
	}
	return l
}

// must returns the number of elements of a rank, or computed from them, that another rank needs.
func (d *demand) must(from, to int) int64 {
	if len(d.flows) > 0 {
		n := d.block
		for _, f := range d.flows {
			if int(f.from) == from && int(f.to) == to {
				n += f.elems
			}
		}
		return n
	}
	switch {
	case !d.depends(from, to):
		return 0
	case d.pattern == chunksSum || d.pattern == blocksRoot:
		return d.chunk(to)
	case d.pattern == pairs:
		return d.block
	}
	return int64(d.elems)
}

// across returns which ranks inside of a cut have something for ranks outside, and which of those
// outside need it. Nothing of a meeting is in a memory.
func (d *demand) across(inside func(rank int) bool) (from, to func(rank int) bool) {
	if len(d.flows) > 0 && d.block == 0 {
		gives, takes := make([]bool, d.world), make([]bool, d.world)
		for _, f := range d.flows {
			if inside(int(f.from)) && !inside(int(f.to)) {
				gives[f.from], takes[f.to] = true, true
			}
		}
		return func(r int) bool { return gives[r] }, func(r int) bool { return takes[r] }
	}
	oneGives := d.pattern == fromRoot || d.pattern == blocksRoot
	oneTakes := d.pattern == rootSum || d.pattern == rootAll
	chunks := d.pattern == chunksSum || d.pattern == blocksRoot
	return func(r int) bool { return inside(r) && (!oneGives || r == d.root) },
		func(r int) bool { return !inside(r) && (!oneTakes || r == d.root) && (!chunks || d.chunk(r) > 0) }
}

// reductions returns the fewest combinations of two elements.
func (d *demand) reductions() int64 {
	switch d.pattern {
	case everyoneSum, chunksSum, rootSum:
		return int64(d.elems) * int64(d.world-1)
	}
	return 0
}

// depends reports whether a rank must learn of another before it can end.
func (d *demand) depends(on, rank int) bool {
	if on == rank {
		return false
	}
	switch d.pattern {
	case meeting, everyoneAll, everyoneSum:
		return true
	case chunksSum:
		return d.chunk(rank) > 0
	case rootSum, rootAll:
		return rank == d.root
	case fromRoot:
		return on == d.root
	case blocksRoot:
		return on == d.root && d.chunk(rank) > 0
	}
	return d.block > 0
}
