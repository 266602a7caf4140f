package sim_test

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
	"kernbench/unit"
)

// A program is a list of steps for each rank, made of bytes: whatever the bytes are, it is a
// program. The random tests run it on both executors and in every mode that must not be seen.
type program struct {
	world, slots int
	slotBytes    int64
	elems        int // of a shard; a shard is in each of the regions below
	topology     string
	skip         bool // a ring without the opposite direction, two ranks on
	space        mem.Space
	poll, onRecv bool
	wake         unit.Time
	protocol     string
	queue        int // depth of the DMA queues
	steps        [][]step
	directed     bool
	sided        bool // some steps are one-sided
	local        bool // none reaches beyond the PE but by its rings
	order        mem.Ordering
}

type step struct {
	kind stepKind
	dir  tl.Dir
	n    int
	peer int
	seq  int // number of a message between two ranks
}

type stepKind uint8

const (
	doSend stepKind = iota // a prefix of the current tensor
	doSendRef
	doRecv
	doPost // announce a receive
	doWait // for the oldest announced one
	doRecvTo
	doAny
	doAdd // the current tensor to the sum so far
	doStore
	doLoad
	doPeek  // load from another rank's read-only region
	doPoke  // store into this rank's own place in another rank's memory
	doProbe // load it again
	doFull
	doFree
	doPipe  // start a composite on the own shard
	doAwait // it
	doKeep  // the tensor received before, which may be gone
	numStepKinds
)

var programDirs = map[string][]tl.Dir{
	"ring_1d":     {tl.East, tl.West},
	"mesh_2d":     {tl.East, tl.West, tl.North, tl.South},
	"tree_binary": {tl.Parent, tl.Child0, tl.Child1},
}

// shape of memory: each rank's HBM has its shard, a region that is never written, and one that
// composites write. It also has a place for each other rank to write to.
const (
	readOnlyAt = 1 << 20
	pipedAt    = 2 << 20
	pokedAt    = 3 << 20
	pokedEach  = 1 << 12
)

func decode(data []byte) *program {
	at := func(i int) int {
		if i < len(data) {
			return int(data[i])
		}
		return 0
	}
	p := &program{
		world: 2 + at(0)%5, slots: 1 + at(1)%4, slotBytes: []int64{8, 16, 64, 256}[at(2)%4], elems: 1 + at(3)%40,
		space: []mem.Space{mem.TCM, mem.HBM, mem.SRAM}[at(4)%3], poll: at(5)&1 != 0, onRecv: at(5)&6 == 6,
		wake: unit.Time(at(5)>>3) * 700, queue: []int{1, 2, 3, 64}[at(6)%4], directed: true,
		sided: at(7)&0x40 != 0, order: mem.Ordering(at(7) >> 4 & 3), protocol: []string{"", "ll", "simple"}[at(3)/40%3],
	}
	switch at(7) % 4 {
	case 1:
		p.topology, p.world = "mesh_2d", 4
	case 2:
		p.topology = "tree_binary"
	default:
		p.topology, p.skip = "ring_1d", at(7)%4 == 3
	}
	if p.local = at(7)&0x08 != 0 && !p.sided; p.local {
		p.space, p.onRecv = mem.TCM, false
	}
	p.steps = make([][]step, p.world)
	var rank int
	for i := 8; i+1 < len(data); i += 2 {
		k, b := data[i], int(data[i+1])
		if k >= 0xf0 { // the next rank's turn
			rank = (rank + 1) % p.world
			continue
		}
		dirs := programDirs[p.topology]
		if p.skip {
			dirs = []tl.Dir{tl.East, tl.West}
		}
		kinds := numStepKinds
		if p.sided {
			kinds = numSidedKinds
		}
		s := step{kind: stepKind(k) % kinds, dir: dirs[b%len(dirs)], peer: b % p.world}
		s.kind = p.permitted(s.kind)
		s.n = []int{p.elems, p.elems, p.elems, p.elems / 2, 1, 0}[b/4%6]
		if b == 0xff {
			s.dir = tl.Dim(3) // not installed
		}
		p.directed = p.directed && s.kind != doAny && s.kind < numStepKinds
		p.steps[rank] = append(p.steps[rank], s)
	}
	return p
}

// permitted returns a kind of step, or what stands for it in a program that keeps to itself.
func (p *program) permitted(k stepKind) stepKind {
	switch k {
	case doPeek, doPoke, doProbe, doPipe, doAwait:
		if p.local {
			return doAdd
		}
	case doRecvTo, doAny:
		if p.local {
			return doRecv
		}
	}
	return k
}

// interpret is the kernel of a program. It is no method, so that faults name its lines.
func interpret(p *program, c *tl.Context, a tl.Args) {
	me := c.Rank()
	own := a.Shard(me)
	region := func(r int, at int64) tl.Ref {
		return c.Ref(mem.At(mem.HBM, r, at), tl.Dims(a.NElem), a.DType)
	}
	cur := c.Load(own)
	sum, kept := cur, cur
	var posted []tl.Future
	var pipes []tl.Handle
	var mine []tl.Tensor // made since, to free
	for _, s := range p.steps[me] {
		switch s.kind {
		case doSend:
			c.Send(s.dir, cur.Slice(cur.Len()-min(s.n, cur.Len()), min(s.n, cur.Len())))
		case doSendRef:
			c.SendRef(s.dir, own.Slice(0, s.n))
		case doRecv:
			cur = c.Recv(s.dir, tl.Dims(s.n), a.DType)
		case doPost:
			posted = append(posted, c.RecvAsync(s.dir, tl.Dims(s.n), a.DType))
		case doWait:
			if len(posted) > 0 {
				cur, posted = c.Wait(posted[0]), posted[1:]
			}
		case doRecvTo:
			c.RecvTo(s.dir, own.Slice(own.Len()-s.n, s.n))
		case doAny:
			cur = c.Recv(tl.AnyDir, tl.Dims(s.n), a.DType)
		case doAdd:
			n := min(sum.Len(), cur.Len())
			sum = c.Add(sum.Slice(0, n), cur.Slice(cur.Len()-n, n))
			cur = sum
			mine = append(mine, cur)
		case doStore:
			n := min(cur.Len(), own.Len())
			c.Store(own.Slice(0, n), cur.Slice(0, n))
		case doLoad:
			cur = c.Load(own.Slice(0, max(s.n, 1)))
			mine = append(mine, cur)
		case doPeek:
			cur = c.Load(region(s.peer, readOnlyAt))
		case doPoke, doProbe:
			place := region(s.peer, pokedAt+int64(me)*pokedEach)
			if s.kind == doProbe {
				cur = c.Load(place)
				continue
			}
			n := min(cur.Len(), a.NElem)
			c.Store(place.Slice(0, n), cur.Slice(0, n))
		case doFull:
			cur = c.Full(tl.Dims(s.n), a.DType, float64(s.peer))
		case doFree:
			if k := len(mine) - 1; k >= 0 {
				c.Free(mine[k])
				mine = mine[:k]
				cur, sum = c.Load(own), c.Full(tl.Dims(a.NElem), a.DType, 1)
			}
		case doPipe:
			pipes = append(pipes, c.Composite(tl.Composite{
				A: own, Out: region(me, pipedAt), Epilogue: []tl.Epilogue{{Op: tl.EpilogueScale, Factor: 2}},
			}))
		case doAwait:
			for _, h := range pipes {
				c.Await(h)
			}
			pipes = nil
			cur = c.Load(region(me, pipedAt))
		case doKeep:
			cur, kept = kept, cur
		default:
			cur = sidedStep(p, c, a, s, cur)
		}
	}
	c.Store(own.Slice(0, sum.Len()), sum)
}

// launch makes what an executor runs.
func (p *program) launch() (*launch.Launch, error) {
	top, err := topology.Lookup(p.topology)
	if err != nil {
		return nil, err
	}
	var over topology.Override
	if p.skip {
		over = func(rank, world int, m map[tl.Dir]int) map[tl.Dir]int {
			return map[tl.Dir]int{tl.East: (rank + 2) % world}
		}
	}
	w, err := top.Wire(p.world, topology.Grid{}, over)
	if err != nil {
		return nil, err
	}
	g := launch.Group{PEs: make([]int32, p.world), PEsPerCube: p.world, Wiring: w}
	g.Args = tl.Args{DType: dtype.I32, NElem: p.elems, Shards: make([]mem.Addr, p.world), Windows: []*mem.Window{nil}}
	for i := range g.PEs {
		g.PEs[i] = int32(i)
		g.Args.Shards[i] = mem.At(mem.HBM, i, 0)
	}
	if g.Args.Windows[0], err = p.window(g.PEs); err != nil {
		return nil, err
	}
	r := tl.Ring{
		Slots: p.slots, SlotBytes: p.slotBytes, Space: p.space, CreditBytes: 16, Strict: true, OnRecv: p.onRecv,
		Poll: p.poll, PollEvery: 7 * unit.Nanosecond, WakeCost: p.wake, Protocol: protocols[p.protocol],
	}
	return &launch.Launch{Name: "random", Kernel: func(c *tl.Context, a tl.Args) { interpret(p, c, a) },
		Groups: []launch.Group{g}, Ring: r, Addrs: &mem.Map{}, Scratch: 1 << 20}, nil
}
