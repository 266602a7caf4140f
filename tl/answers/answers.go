// Package answers tries what kernels do when atomics return other values. It stands between the
// kernels of a run and the core of their executor.
//
// It may import tl and the standard library. Start at Answers.
package answers

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"

	"kernbench/tl"
)

// Answers lets the kernels of a run get other values from atomics than there were, to see whether
// they act on them. What kernels issue is kept as a hash for each kernel. Kernels that issue the
// same whatever they get do not act on it. A compare-and-swap counts when it succeeds: one that
// fails must be repeated at once.
//
// It may not be repeated where it returns data that its kernel has put. The judge of races decides
// whether another kernel could have changed them.
type Answers struct {
	// Shift and Span change what a fetch-add returns: the value plus Shift, modulo Span; Span 0:
	// nothing.
	Shift, Span int64
	// Fail lets each compare-and-swap fail before it is carried out, once, unless it expects what
	// this kernel's last one has put into the word.
	Fail bool

	mu      sync.Mutex
	kernels []*answering
}

// Issued holds what the kernels of a run have issued.
type Issued struct {
	Kernels  []uint64 // a hash for each kernel, in ascending order; the same in this process only
	GaveUp   bool     // a compare-and-swap that failed was not repeated
	MaxRead  int64    // the largest value that a fetch-add read
	MaxOps   uint32   // the most instructions of a kernel
	Negative bool     // a fetch-add read a negative value
}

// Issued returns what the kernels have issued, when all have ended.
func (a *Answers) Issued() Issued {
	a.mu.Lock()
	defer a.mu.Unlock()
	var s Issued
	for _, k := range a.kernels {
		s.Kernels = append(s.Kernels, k.hash.Sum64())
		s.GaveUp = s.GaveUp || k.gaveUp || k.failed != nil
		s.MaxRead, s.MaxOps = max(s.MaxRead, k.most), max(s.MaxOps, k.ops)
		s.Negative = s.Negative || k.negative
	}
	slices.Sort(s.Kernels)
	return s
}

// Core puts itself between a kernel and the core of its executor. See tl.Edits.
func (a *Answers) Core(core tl.Core, c *tl.Context) tl.Core {
	k := &answering{Core: core, c: c, answers: a, put: map[wordKey]int64{}}
	k.hash.SetSeed(seed)
	fmt.Fprintf(&k.hash, "rank %d, PE %d, program %d, block %d;", c.Rank(), tl.DriverOf(c).PE(), c.ProgramID(0), tl.DriverOf(c).Block())
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kernels = append(a.kernels, k)
	return k
}

// seed is the seed of all hashes, so that hashes of different runs can be compared.
var seed = maphash.MakeSeed()

// answering stands between a kernel and the core of its executor.
type answering struct {
	tl.Core
	c        *tl.Context
	answers  *Answers
	hash     maphash.Hash
	failed   *swap             // swap that must be repeated
	put      map[wordKey]int64 // what the last compare-and-swap has put into each word
	gaveUp   bool
	most     int64
	negative bool
	ops      uint32
}

// swap is a compare-and-swap of a kernel.
type swap struct {
	wordKey
	line          string
	expect, value int64
}

// wordKey is a word of a window, which begins at an offset.
type wordKey struct {
	window     int64
	peer, word int32
}

// Do implements tl.Core.
func (k *answering) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		k.Core.Do(in)
		return
	}
	k.ops++
	line := tl.DriverOf(k.c).Line()
	if in.Op == tl.OpCompareSwap {
		k.swap(in, line)
		return
	}
	if k.failed != nil {
		k.failed, k.gaveUp = nil, true
	}
	k.issue(in, line) // before: Core fills in what it finds
	k.Core.Do(in)
	if in.Op == tl.OpFetchAdd {
		x := in.Side
		k.most, k.negative = max(k.most, x.Got), k.negative || x.Got < 0
		if k.answers.Span > 0 {
			x.Got = (x.Got + k.answers.Shift) % k.answers.Span
		}
	}
}

func (k *answering) swap(in *tl.Instr, line string) {
	x := in.Side
	s := swap{wordKey{x.Win.Base, x.Peer, x.Word}, line, x.Expect, x.Value}
	put, own := k.put[s.wordKey]
	again := k.failed != nil && *k.failed == s
	if k.failed != nil && !again {
		k.gaveUp = true
	}
	if k.answers.Fail && !again && !(own && put == x.Expect) {
		k.failed = &s
		if x.Got = x.Value; x.Got == x.Expect {
			x.Got++
		}
		return
	}
	k.failed = nil
	if k.Core.Do(in); x.Got != x.Expect {
		k.failed = &s
		return
	}
	k.put[s.wordKey] = x.Value
	k.issue(in, line)
}

// issue hashes an instruction: all that the kernel states of it.
func (k *answering) issue(in *tl.Instr, line string) {
	own := *in
	own.GotPort, own.GotShape, own.GotType, own.GotN = 0, tl.Shape{}, 0, 0
	own.Pipe, own.Side, own.Task, own.Turn = nil, nil, nil, nil
	k.hash.WriteString(line)
	maphash.WriteComparable(&k.hash, [2]uint64{math.Float64bits(in.Scalar), math.Float64bits(in.Scalar2)})
	own.Scalar, own.Scalar2 = 0, 0 // NaN is not equal to itself
	maphash.WriteComparable(&k.hash, own)
	if p := in.Pipe; p != nil {
		fmt.Fprintf(&k.hash, "%v;", *p)
	}
	if t := in.Task; t != nil {
		fmt.Fprintf(&k.hash, "%s %d %d %d;", t.Name, t.Queue, t.Rank, t.World)
	}
	if t := in.Turn; t != nil {
		fmt.Fprintf(&k.hash, "turn %v;", *t)
	}
	if x := in.Side; x != nil && x.Win != nil {
		side := *x
		side.Win, side.Got, side.Hit = nil, 0, false
		fmt.Fprintf(&k.hash, "%s %d %v;", x.Win.Name, x.Win.Base, side)
	}
}
