package bound

import (
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/machine"
	"kernbench/unit"
)

// Kind is the cause of a limit.
type Kind string

// The kinds, in the order of results.
const (
	Distance Kind = "distance" // two ranks and the delays between them
	Node     Kind = "node"     // what must leave or enter one rank
	Volume   Kind = "volume"   // all that must move, divided by the rate at which all ranks can send
	Cut      Kind = "cut"      // what must leave a part of the machine
	Flow     Kind = "flow"     // how many links everything must pass, divided by what they carry
	Compute  Kind = "compute"  // reductions of two elements, divided by the rate of vector units and memories
	Memory   Kind = "memory"   // what must pass the port of one rank's memory

	// Of one algorithm, as it is configured.
	Vector    Kind = "vector"   // reductions of an algorithm on rings, divided by the rate of the vector units
	FanOut    Kind = "fan-out"  // sends, or receives, one after the other
	Slots     Kind = "slots"    // slots of rings and the round trips of their credits
	Pipelined Kind = "pipeline" // a vector that goes from rank to rank in pieces
	Traffic   Kind = "traffic"  // what the algorithm moves over one link
)

// OfAlgorithm reports whether limits of that kind are those of one algorithm as it is configured,
// and not those of the machine.
func (k Kind) OfAlgorithm() bool {
	switch k {
	case Vector, FanOut, Slots, Pipelined, Traffic:
		return true
	}
	return false
}

// Bound is a lower limit of the time: of all algorithms, or of one (OfAlgorithm).
type Bound struct {
	Kind    Kind      `json:"kind"`
	Time    unit.Time `json:"time_ps"` // rounded down
	Witness Witness   `json:"witness"`
}

// Witness explains a limit. The kind decides which fields are set.
type Witness struct {
	Bytes int64     `json:"bytes,omitempty"`      // bytes that must pass
	Delay unit.Time `json:"delay_ps,omitempty"`   // of the limit: before the first byte passes and after the last
	Pairs int64     `json:"pairs,omitempty"`      // compute, vector: of elements, to be combined
	Rate  unit.Rate `json:"per_second,omitempty"` // sum of the rates that the bytes must pass; compute, vector: pairs per second

	From   string   `json:"from,omitempty"`   // distance: the nodes
	To     string   `json:"to,omitempty"`     //
	Ranks  []int    `json:"ranks,omitempty"`  // two of a distance, one of a node or memory, those inside of a cut, the route of a pipeline
	Others []int    `json:"others,omitempty"` // cut: the ranks outside
	Links  []string `json:"links,omitempty"`  // distance: the route; node, cut, flow: what must be passed
	Port   string   `json:"port,omitempty"`   // memory: its name
	Parts  string   `json:"parts,omitempty"`  // volume: the parts that data must leave; empty: the ranks and the SRAMs

	Switches bool `json:"switches,omitempty"` // volume: switches combine and copy, so the mean of what leaves and enters counts

	// Of a flow: the weight of each link (nil: 1), and the fraction by which the limit could be
	// higher with the best weights.
	Weights []float64 `json:"weights,omitempty"`
	Within  float64   `json:"within,omitempty"`

	Inbound bool `json:"inbound,omitempty"` // node, slots, fan-out: what enters counts, not what leaves

	Gap   unit.Time  `json:"gap_ps,omitempty"`            // fan-out: between two sends, or receives, of a rank
	Hop   unit.Time  `json:"hop_ps,omitempty"`            // fan-out: from a send until its data have arrived; pipeline: the longest hop
	Tree  []TreeStep `json:"tree,omitempty"`              // fan-out: how many ranks are reached by when
	Turn  unit.Time  `json:"turn_ps,omitempty"`           // pipeline: time that a rank spends on one piece
	Piece int64      `json:"piece_bytes,omitempty"`       // pipeline: the best
	Taken int64      `json:"piece_bytes_taken,omitempty"` // pipeline: as it is set, where that is known

	Ring  *Ring `json:"channel,omitempty"`      // slots: the slowest ring of the rank that limits
	Slots int   `json:"slots_enough,omitempty"` // slots: number from which the link rate, not the slots, limits that ring
}

// Options holds what limits depend on apart from the machine and the call.
type Options struct {
	Ideal       bool       // links and ports are not shared: only distance and the limits of rings remain
	VectorUnits int        // units that combine; 0: one of each rank. Communication engines have further ones
	Rings       []Ring     // rings as configured, for algorithms that use nothing else; nil: none
	Pipeline    *Pipeline  // of such an algorithm; nil if it is not a pipeline
	Transfers   []Transfer // all that the algorithm moves in the call; nil: not known
}

// Result is every limit of a call, in the order of kinds, those of zero left out.
type Result struct {
	Bounds   []Bound
	Hardware unit.Time // the highest limit of the machine, without those of the algorithm
	Limit    unit.Time // the highest of all: of the machine and the algorithm as configured

	binding [2]int // in Bounds, of Hardware and Limit; -1: there is none
}

// Binding returns the limit that sets Hardware, nil when there is none.
func (r *Result) Binding() *Bound { return r.at(r.binding[0]) }

// Configured returns the limit that sets Limit, nil when there is none.
func (r *Result) Configured() *Bound { return r.at(r.binding[1]) }

func (r *Result) at(i int) *Bound {
	if i < 0 {
		return nil
	}
	return &r.Bounds[i]
}

// Solver computes the limits of one machine with ranks on some of its PEs. It keeps the cuts that
// it finds, for calls of other sizes. One goroutine may use it at a time.
type Solver struct {
	reduces bool       // some switch combines what is loaded
	levels  []switches // of SIPs, innermost first

	g           *graph
	machine     *machine.Machine
	lanes       int64     // elements that a vector unit combines in a clock
	clock       unit.Time // period of a vector unit's clock
	costs       costs
	pes         []int32 // places of the ranks
	digits      []digit // dimensions of the machine
	parts       []cut
	some        []int // ranks whose flows and distances are computed: all if they are few
	rateUnit    int64 // a divisor of all rates
	largestRate int64 // the largest rate, in rateUnit
	net         *network
	cuts        map[cutKey][]cut
	farthestOf  map[cutKey]farthest
	uniform     []linkSet // of a call in which every rank has one element for every other
	flowsFound  []knownFlow
	links       linksOf
	back        *graph                 // g with all links reversed, once that is needed
	narrow      map[[2]int]int64       // rates of smallest cuts between two ranks
	delays      map[starts][]unit.Time // results of early
}

// cutKey holds what the choice of cuts depends on.
type cutKey struct {
	pattern pattern
	root    int
}

// linksOf are the links at each rank.
type linksOf struct{ out, in [][]int32 }

// New makes a solver: pes are the places of the ranks.
func New(m *machine.Machine, pes []int32) (*Solver, error) {
	t := m.Topology()
	for r, pe := range pes {
		if pe < 0 || int(pe) >= m.NumPEs() {
			return nil, fmt.Errorf("rank %d is on PE %d: the machine has %d", r, pe, m.NumPEs())
		}
	}
	if len(pes) == 0 {
		return nil, fmt.Errorf("no ranks: at least one must take part")
	}
	math := t.PE().Math
	s := newSolver(fromMachine(m, pes), int64(math.Lanes), max(1, unit.Nanoseconds(1/math.ClockGHz)))
	s.machine, s.pes, s.digits = m, pes, digits(withRows(m.Nested(), m.PEsPerCube(), t.SIP().CubeMesh.W))
	s.reduces, _ = m.SwitchesReduce()
	for level := range m.Levels() {
		reduces, copies := m.LevelReduces(level)
		link, combined := m.LevelShare(level)
		s.levels = append(s.levels, switches{reduces, copies, int64(link), int64(combined)})
	}
	s.costs = costs{issue: t.PE().Issue, send: t.PE().IPCQ.Send, recv: t.PE().IPCQ.Recv, setup: t.PE().DMA.Setup}
	return s, nil
}

func newSolver(g *graph, lanes int64, clock unit.Time) *Solver {
	s := &Solver{g: g, lanes: lanes, clock: clock, cuts: map[cutKey][]cut{}, farthestOf: map[cutKey]farthest{},
		narrow: map[[2]int]int64{}, delays: map[starts][]unit.Time{}}
	s.parts = g.parts()
	for i := range g.edges {
		s.rateUnit = gcd(s.rateUnit, g.edges[i].rate)
	}
	s.rateUnit = max(s.rateUnit, 1)
	s.largestRate = 1
	s.links = linksOf{make([][]int32, g.nodes), make([][]int32, g.nodes)}
	for i := range g.edges {
		e := &g.edges[i]
		s.largestRate = max(s.largestRate, e.rate/s.rateUnit)
		s.links.out[e.from] = append(s.links.out[e.from], int32(i))
		s.links.in[e.to] = append(s.links.in[e.to], int32(i))
	}
	s.choose()
	return s
}

// small reports whether ranks × links is small enough to examine every rank.
func (s *Solver) small() bool { return len(s.g.rank)*len(s.g.edges) <= 4_000_000 }

// choose selects the ranks to examine: all if they are few, else a sample over the whole machine.
func (s *Solver) choose() {
	world, most := len(s.g.rank), 2_000_000/(len(s.g.edges)+1)
	most = min(max(most/16, 4), 64)
	if world <= most {
		for r := range world {
			s.some = append(s.some, r)
		}
		return
	}
	for k := range most {
		s.some = append(s.some, k*(world-1)/(most-1))
	}
}

func (s *Solver) network() *network {
	if s.net == nil {
		s.net = newNetwork(s.g)
	}
	return s.net
}

// Limits finds the limits of a call, whose ranks are those of the solver.
func (s *Solver) Limits(co *collective.Collective, c collective.Call, o Options) (*Result, error) {
	if c.World != len(s.g.rank) {
		return nil, fmt.Errorf("%s of %d ranks on a machine with %d", co.Name, c.World, len(s.g.rank))
	}
	d, err := newDemand(co, c)
	if err != nil {
		return nil, err
	}
	size := int64(c.Type.Size())
	var all []Bound
	all = append(all, s.distance(d, size, &o))
	l := d.locals()
	if !o.Ideal {
		all = append(all, s.node(d, &l, size), s.volume(d, size), s.cut(d, size), s.flow(d, size),
			s.compute(d, &o, size), s.memory(d, &l, size))
	}
	all = append(all, s.vector(d, &o), s.fanOut(d, size, &o), slotted(d, &l, size, &o), s.pipeline(d, size, &o), s.traffic(d, &o))
	r := &Result{binding: [2]int{-1, -1}}
	r.Bounds = slices.DeleteFunc(all, func(b Bound) bool { return b.Time <= 0 })
	for i := range r.Bounds {
		r.Bounds[i].setDelay()
	}
	for i, b := range r.Bounds {
		if !b.Kind.OfAlgorithm() && r.above(b.Time, r.Hardware, r.Binding()) {
			r.Hardware, r.binding[0] = b.Time, i
		}
		if r.above(b.Time, r.Limit, r.Configured()) {
			r.Limit, r.binding[1] = b.Time, i
		}
	}
	return r, nil
}

// setDelay sets the part of a limit that does not depend on bytes.
func (b *Bound) setDelay() {
	switch b.Kind {
	case Node, Volume, Cut, Memory, Traffic:
		b.Witness.Delay = max(0, b.Time-over(b.Witness.Bytes, int64(b.Witness.Rate)))
	}
}

// above reports whether a limit takes the place of the highest so far. Of equal ones the first
// counts, but for volume, which names no links.
func (r *Result) above(t, highest unit.Time, by *Bound) bool {
	return t > highest || t == highest && by != nil && by.Kind == Volume
}

// distance: the data of one rank for another must leave one memory, pass the links and enter
// another. The first byte takes the delay of the shortest route. All others follow it through the
// smallest cut between the two and the ports of both memories. The cost of issuing instructions is
// not counted. A barrier moves nothing between memories, so it counts the delays of links only.
func (s *Solver) distance(d *demand, size int64, o *Options) Bound {
	key := cutKey{pattern: d.pattern, root: d.root}
	f, known := s.farthestOf[key]
	if !known || d.pattern == pairs || d.pattern == chunksSum && d.elems < d.world || d.pattern == blocksRoot {
		f, known = s.farthest(d)
		if known {
			s.farthestOf[key] = f
		}
	}
	if !known {
		return Bound{Kind: Distance}
	}
	g := s.g
	b := Bound{Distance, f.delay, Witness{Ranks: []int{f.from, f.to}, From: g.nodeStr(g.rank[f.from]),
		To: g.nodeStr(g.rank[f.to]), Links: s.names(f.path)}}
	if d.pattern != meeting {
		b.Time += g.access[f.from] + g.access[f.to]
	}
	if bytes := d.must(f.from, f.to) * size; d.pattern != meeting && !o.Ideal && bytes > 0 {
		rate := s.narrowest(f.from, f.to)
		for _, port := range []int64{g.port[f.from], g.port[f.to]} {
			if port > 0 {
				rate = min(rate, port)
			}
		}
		b.Witness.Bytes, b.Witness.Rate = bytes, unit.Rate(rate)
		b.Time += over(bytes, rate)
	}
	return b
}

// narrowest returns the rate of the smallest cut between two ranks.
func (s *Solver) narrowest(from, to int) int64 {
	pair := [2]int{from, to}
	rate, known := s.narrow[pair]
	if !known {
		rate = min(s.g.rates(s.links.out[s.g.rank[from]]), s.g.rates(s.links.in[s.g.rank[to]]))
		if len(s.g.edges) <= mostFlowLinks {
			rate = min(rate, s.smallest(from, to).capacity)
		}
		s.narrow[pair] = rate
	}
	return rate
}

func (s *Solver) names(edges []int32) []string {
	var list []string
	for _, e := range edges {
		list = append(list, s.g.edgeStr(e))
	}
	return list
}
