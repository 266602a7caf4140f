package cause

import (
	"math"

	"kernbench/unit"
)

// Point is a moment of a launch, by its number in a Log. 0 is none.
type Point uint32

// theWait marks the wait of a point that has one of its own: see point.waited.
const theWait Point = 1 << 31

// Site is an operation of a kernel, by its number in a Log. 0 is none.
type Site uint32

// Operation is the operation of a Site.
type Operation struct {
	Rank int32  // in its group
	PE   int32  // in the machine
	Call string // send, recv, ...
	Line string // of the kernel's source; "" if it is unknown
}

// Step is the part of a kernel that a message of a ring begins, up to the next one. It is the
// number of the message in its ring, counted from 1. 0 is none.
type Step uint32

// MostSteps is the highest step. Later messages count as part of it.
const MostSteps Step = 1<<24 - 1

// StepOf returns the step of a message that has a number in its ring, from 0 on.
func StepOf(number uint32) Step { return Step(min(uint64(number)+1, uint64(MostSteps))) }

// Owner is the owner of a point: an operation, at a step.
type Owner struct {
	Site Site
	Step Step
}

// RingEnds are the ranks that a ring joins.
type RingEnds struct {
	From, To     int32 // ranks
	FromPE, ToPE int32
	Dir          string // as the sender calls it
	Slots        int
	Messages     int64 // that arrived, each in a slot
	Bytes        int64 // of their data
}

// Run is a launch, or a run of streams.
type Run struct {
	Start, End unit.Time
	Last       Point   // the end of the run
	Ends       []Point // the ends of its ranks, or streams
	Ranks      []int32 // the ranks of Ends
}

// point is a moment. The time of a wait is its beginning: it ends when what is waited for comes.
// There may be millions of points, so a point has no gaps.
type point struct {
	when [2]uint32 // its time: the lower half first
	prev Point
	site Site
	at   Resource
	what uint32 // the reason, whether it is a wait, whether its own wait is for a buffer, the step

	// waited is how many picoseconds the operation waited before the span that the point ends.
	// The wait ended at the time of prev. Most messages of a busy link have such a point in place
	// of two.
	waited uint32
}

const (
	reasonMask = 1<<4 - 1
	aWait      = 1 << 4
	forSpace   = 1 << 5
	stepShift  = 8

	_ = uint(reasonMask + 1 - reasons) // each reason has a number of 4 bits
)

func (v *point) time() unit.Time { return unit.Time(uint64(v.when[1])<<32 | uint64(v.when[0])) }
func (v *point) wait() bool      { return v.what&aWait != 0 }
func (v *point) why() Reason     { return Reason(v.what & reasonMask) }
func (v *point) step() Step      { return Step(v.what >> stepShift) }

func halves(t unit.Time) [2]uint32 { return [2]uint32{uint32(t), uint32(uint64(t) >> 32)} }

func what(why Reason, s Step) uint32 { return uint32(why) | uint32(s)<<stepShift }

// waitsFor returns what a wait is for, or the own wait of another point.
func (v *point) waitsFor() (at Resource, why Reason) {
	switch {
	case v.wait():
		return v.at, v.why()
	case v.what&forSpace != 0:
		return At(Buffer, v.at.Number()), Queueing
	}
	return v.at, Queueing
}

const blockBits = 14

// Log holds the causes of all launches of a run. A nil Log records nothing.
type Log struct {
	blocks [][]point
	used   uint32 // number of points, which are numbered from 1
	forgetting
	pathTable
	sites []Operation
	rings []RingEnds
	runs  []Run
}

// New makes an empty Log, which keeps all points. Forget makes it smaller.
func New() *Log {
	return &Log{used: 1, sites: make([]Operation, 1), pathTable: pathTable{paths: make([]path, 1)}}
}

// Points returns how many points have been written.
func (l *Log) Points() int { return l.written }

func (l *Log) point(p Point) *point {
	p &^= theWait
	return &l.blocks[p>>blockBits][p&(1<<blockBits-1)]
}

func (l *Log) put(v point) Point {
	l.written++
	if p := l.free; p != 0 {
		l.free = l.point(p).prev
		*l.point(p) = v
		return p
	}
	i := l.used
	l.used++
	if int(i>>blockBits) == len(l.blocks) {
		l.blocks = append(l.blocks, make([]point, 1<<blockBits))
	}
	*l.point(Point(i)) = v
	return Point(i)
}

// Start begins a chain at a time.
func (l *Log) Start(t unit.Time, s Site) Point { return l.put(point{when: halves(t), site: s}) }

// Add returns a point that comes after another one: the time between them went to a reason, at a
// resource. The owner is that of the point before. If no time has passed it returns that point.
func (l *Log) Add(t unit.Time, prev Point, why Reason, at Resource) Point {
	return l.AddAt(t, prev, l.Owner(prev), why, at)
}

// AddAt is Add for an owner of its own.
func (l *Log) AddAt(t unit.Time, prev Point, of Owner, why Reason, at Resource) Point {
	if t == l.Time(prev) {
		return prev
	}
	return l.put(point{when: halves(t), prev: prev, site: of.Site, at: at, what: what(why, of.Step)})
}

// Wait returns a point at which an operation continues after it waited for a resource since a time.
// The point until ended the wait: it decides the time, and the chain leads to it.
func (l *Log) Wait(since unit.Time, until Point, of Owner, why Reason, at Resource) Point {
	return l.put(point{when: halves(since), prev: until, site: of.Site, at: at, what: what(why, of.Step) | aWait})
}

// Serve returns two points of a message that has waited since a time. It waited until another
// message had left a link, or for space in the buffer at the end of the link. The first point is
// that of Wait. At the second one the message has been serialised.
func (l *Log) Serve(since unit.Time, until Point, end unit.Time, of Owner, link int, space bool) (start, served Point) {
	at, waits := At(Link, link), At(Link, link)
	flags := uint32(0)
	if space {
		waits, flags = At(Buffer, link), forSpace
	}
	from := l.Time(until)
	if waited := from - since; end == from || waited <= 0 || waited > math.MaxUint32 {
		start = l.Wait(since, until, of, Queueing, waits)
		return start, l.AddAt(end, start, of, Serialisation, at)
	}
	served = l.put(point{when: halves(end), prev: until, site: of.Site, at: at, what: what(Serialisation, of.Step) | flags,
		waited: uint32(from - since)})
	l.written++ // it stands for two
	return served | theWait, served
}

// Begin returns a point at the time of another one, at which its operation begins a step.
func (l *Log) Begin(s Step, prev Point) Point {
	if l.point(prev).step() == s {
		return prev
	}
	return l.put(point{when: halves(l.Time(prev)), prev: prev, site: l.point(prev).site, what: what(Unknown, s)})
}

// Time returns the time of a point.
func (l *Log) Time(p Point) unit.Time {
	v := l.point(p)
	for p&theWait != 0 || v.wait() {
		p = v.prev
		v = l.point(p)
	}
	return v.time()
}

// Site returns the operation that a point belongs to.
func (l *Log) Site(p Point) Site { return l.point(p).site }

// Owner returns the operation and the step that a point belongs to.
func (l *Log) Owner(p Point) Owner {
	v := l.point(p)
	return Owner{v.site, v.step()}
}

// AddSite adds an operation and returns its number.
func (l *Log) AddSite(o Operation) Site {
	l.sites = append(l.sites, o)
	return Site(len(l.sites) - 1)
}

// Operations returns how many operations the log has. They are numbered from 1.
func (l *Log) Operations() int { return len(l.sites) - 1 }

// Operation returns the operation with a number.
func (l *Log) Operation(s Site) Operation { return l.sites[s] }

// AddRing adds a ring and returns it as a resource.
func (l *Log) AddRing(e RingEnds) Resource {
	l.rings = append(l.rings, e)
	return At(Ring, len(l.rings)-1)
}

// Ring returns the ends of a ring.
func (l *Log) Ring(r Resource) RingEnds { return l.rings[r.Number()] }

// Arrived counts a message of a ring.
func (l *Log) Arrived(r Resource, bytes int64) {
	e := &l.rings[r.Number()]
	e.Messages++
	e.Bytes += bytes
}

// AddRun adds a launch that has ended.
func (l *Log) AddRun(r Run) { l.runs = append(l.runs, r) }

// Runs returns the launches, in their order.
func (l *Log) Runs() []Run { return l.runs }
