package plan

import "slices"

// None stands for no channel, no block, no view, no rank.
const None = -1

// Plan holds what all ranks do for one call of a collective.
type Plan struct {
	Name       string
	Collective string // canonical: all_reduce, all_gather, ...; "custom" without a known meaning
	InPlace    bool
	Protocol   Protocol
	Ranks      []Rank
	Channels   []Channel
	Counters   []Counter

	// Cell is the bytes of a cell in each round: a round carries out every block once, on a slice
	// of memory of its own. Blocks go through the rounds one after the other.
	Cell []int64

	// Want is the expected result of the ranks; nil if it is unknown.
	Want *Relation

	// Data is a plan that does the same with the same data, for formats in which messages have no
	// description of their data. The outputs are judged by it. Nil: this plan has the data, or
	// nothing is known.
	Data *Plan

	// Collectives are those that steps perform as a whole. The format names the collective without
	// an algorithm.
	Collectives []Collective

	// Launches is the number of calls that the steps make, back to back; 0 is 1.
	Launches int
}

// World returns the number of ranks.
func (p *Plan) World() int { return len(p.Ranks) }

// Rank is one rank: its memory, and the blocks that share it.
type Rank struct {
	Memories []int  // cells of each memory
	Views    []View // names for parts of the memories; several views may show the same cells
	Input    int    // view that holds the contribution at first; None if there is none
	Output   int    // view that holds the result at last; None if there is none
	Blocks   []Block

	// Sizes is the bytes of each cell of each memory; nil if all cells are as Plan.Cell has it.
	Sizes [][]int64
}

// View is a part of a memory under the name that the file uses: i, o, s.
type View struct {
	Name   string
	Memory int
	First  int // cell of the memory that is cell 0 of the view
	Cells  int
}

// Block is a sequence of steps, carried out one after the other.
type Block struct {
	ID    int    // as in the file
	Label string // more about the block for reports, such as "chan 0"

	// Engine marks a copy engine, which moves bytes as fast as its links do.
	Engine bool
	Steps  []Step
}

// Step is one operation of a block. It waits for its dependencies, reads its sources, and adds up
// what it read and the message that it took. It writes the sum to each destination, and then sends
// it, publishes and signals. All of this is one event.
type Step struct {
	Op    string // in the words of the file: "rrcs"
	Index int    // the step's number in the file
	Part  int    // a step of the file may be several here: from 0 on
	Line  int    // in the file; 0 if unknown
	Name  string // of formats whose steps are no numbered ones of a block: what to call the step

	// Switch reports whether a switch adds up the sources and multicasts to the destinations.
	Switch bool

	// Duration is the picoseconds that the file gives the step; 0 if it does not.
	Duration int64
	// Collective is the collective of Plan.Collectives that the step performs, plus 1; 0: none.
	Collective int
	// Free marks that the step takes its Duration and no more: what it signals is seen at once.
	Free bool

	Take, Send int // channels, or None: what it takes a message from, and puts one into
	Src, Dst   []Span

	// After lists steps of other blocks of this rank that must have been published before.
	After []Dep
	// Publish marks that the block's progress reaches Index when the step ends: waiting steps of
	// this Index and of lower ones may go on.
	Publish bool

	Wait   []Count // taken from counters before the step
	Signal []Count // added to counters after it

	// Relaxed marks that Wait and Signal order no accesses of memory.
	Relaxed bool

	// Launch is the call that the step is a part of, from 0 on.
	Launch int
	// Begin marks that a call after the first begins on the rank. Output holds the result of the
	// previous call, and Input gets new contributions. The rank's other steps of both calls are
	// ordered by counters.
	Begin bool
}

// Collective is a collective that some ranks perform together.
type Collective struct {
	Name  string // canonical: all_reduce, barrier, ...
	Ranks []int  // ascending
	Bytes int64  // of the larger of a rank's input and output
}

// Dep is a dependency on a block of the same rank: the place of the block in Rank.Blocks, and
// the Index of a step. It is met when the block has published this step or a later one.
type Dep struct{ Block, Index int }

// Count is a number of units of a counter.
type Count struct{ Counter, N int }

// Span is a range of cells of a view. Rank is whose; None means the rank that has the step.
type Span struct {
	Rank  int
	View  int
	First int
	N     int

	// Packet marks cells that are stored with a flag. A source waits until each was written as a
	// packet in the same launch; a destination sets the flag.
	Packet bool
}

// Channel is a FIFO of messages from one rank to another.
type Channel struct {
	ID       int // as in the file
	From, To int // ranks
	Depth    int // messages that fit; 0: no limit
}

// Counter is a counting semaphore. Units are added by Signal and taken by Wait.
type Counter struct {
	Rank  int
	Name  string
	Start int
	Spare bool // units may be left at the end
}

// Protocol is the form in which messages are sent.
type Protocol uint8

// Protocols of NCCL.
const (
	Simple Protocol = iota
	LL
	LL128
)

func (p Protocol) String() string { return [...]string{"Simple", "LL", "LL128"}[p] }

// Contribution names a cell of a rank's input, in one of several launches.
type Contribution struct{ Rank, Cell, Launch int }

// Compare orders contributions by launch, rank, and cell.
func (c Contribution) Compare(d Contribution) int {
	if c.Launch != d.Launch {
		return c.Launch - d.Launch
	}
	if c.Rank != d.Rank {
		return c.Rank - d.Rank
	}
	return c.Cell - d.Cell
}

// Relation holds the contributions of each output cell at the end.
type Relation struct {
	// Root is the rank that the collective is rooted in; None if the file does not name it. Then
	// the judge finds the root that fits best.
	Root   int
	Rooted bool

	// Want appends the contributions of a rank's output cell, each as often as it must be in it.
	// It returns false if the cell may hold anything.
	Want func(dst []Contribution, root, rank, cell int) ([]Contribution, bool)
}

// Larger returns the cells of the larger of input and output of rank 0.
func (p *Plan) Larger() (n int) {
	k := &p.Ranks[0]
	for _, view := range []int{k.Input, k.Output} {
		if view != None {
			n = max(n, k.Views[view].Cells)
		}
	}
	return n
}

// Steps counts the steps of all blocks.
func (p *Plan) Steps() (n int) {
	for r := range p.Ranks {
		for b := range p.Ranks[r].Blocks {
			n += len(p.Ranks[r].Blocks[b].Steps)
		}
	}
	return n
}

// Messages counts the messages of one round.
func (p *Plan) Messages() (n int) {
	for r := range p.Ranks {
		for b := range p.Ranks[r].Blocks {
			for s := range p.Ranks[r].Blocks[b].Steps {
				if p.Ranks[r].Blocks[b].Steps[s].Send != None {
					n++
				}
			}
		}
	}
	return n
}

// WithDepth returns the plan with another depth of every channel. It shares all else.
func (p *Plan) WithDepth(depth int) *Plan {
	q := *p
	q.Channels = slices.Clone(p.Channels)
	for i := range q.Channels {
		q.Channels[i].Depth = depth
	}
	return &q
}

// OverNetwork returns the plan with channels that hold twice as many messages where they go over a
// network: there each end has a FIFO (microsoft/msccl:src/transport/net.cc). It reports whether any
// does.
func (p *Plan) OverNetwork(network func(from, to int) bool) (*Plan, bool) {
	q, any := *p, false
	q.Channels = slices.Clone(p.Channels)
	for i := range q.Channels {
		if c := &q.Channels[i]; network(c.From, c.To) {
			c.Depth *= 2
			any = true
		}
	}
	return &q, any
}
