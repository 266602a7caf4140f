package cause

import (
	"math"

	"kernbench/unit"
)

// Point is a moment of a launch, by its number in a Log. 0 is none.
type Point uint32

// theWait is the bit that selects the wait within a point that holds both a wait and a span: see
// point.waited.
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

// Step is a part of a kernel: from one message of a ring to the next. Its number is that of the
// first message in its ring, counted from 1. 0 is none.
type Step uint32

// MostSteps is the highest step. Later messages count as part of it.
const MostSteps Step = 1<<24 - 1

// StepOf returns the step of the message with a number in its ring, counted from 0.
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
	Messages     int64 // messages that arrived, each in a slot
	Bytes        int64 // of their data
}

// Run is a launch, or a run of streams.
type Run struct {
	Start, End unit.Time
	Last       Point   // the end of the run
	Ends       []Point // the ends of its ranks, or streams
	Ranks      []int32 // the ranks of Ends
}

// point is a moment. For a wait, field when holds its start. The wait ends at the time of prev.
// There may be millions of points, so the fields leave no padding.
type point struct {
	when [2]uint32 // its time: the lower half first
	prev Point
	site Site
	at   Resource
	what uint32 // reason in the low 4 bits, flags aWait and forSpace, step from bit stepShift on

	// waited is the number of picoseconds that the operation waited before the span that ends at
	// this point. The wait ended at the time of prev. So one point holds a wait and a span. This
	// saves a point for most messages of a busy link.
	waited uint32
}

const (
	reasonMask = 1<<4 - 1
	aWait      = 1 << 4 // the point is a wait
	forSpace   = 1 << 5 // the wait of waited is for a buffer
	stepShift  = 8

	_ = uint(reasonMask + 1 - reasons) // each reason has a number of 4 bits
)

func (v *point) time() unit.Time { return unit.Time(uint64(v.when[1])<<32 | uint64(v.when[0])) }
func (v *point) wait() bool      { return v.what&aWait != 0 }
func (v *point) why() Reason     { return Reason(v.what & reasonMask) }
func (v *point) step() Step      { return Step(v.what >> stepShift) }

func halves(t unit.Time) [2]uint32 { return [2]uint32{uint32(t), uint32(uint64(t) >> 32)} }

func what(why Reason, s Step) uint32 { return uint32(why) | uint32(s)<<stepShift }

// waitsFor returns the resource of a wait, and the reason. For a point with waited it returns those
// of that wait.
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
	pruning
	pathTable
	sites []Operation
	rings []RingEnds
	runs  []Run
}

// New makes an empty Log. It keeps all points until Prune drops those that no chain needs.
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

// Start returns the first point of a chain of causes, at a time.
func (l *Log) Start(t unit.Time, s Site) Point { return l.put(point{when: halves(t), site: s}) }

// Add returns a point at time t that follows prev. The reason and the resource account for the time
// between them. The new point has the owner of prev. If no time has passed, Add returns prev.
func (l *Log) Add(t unit.Time, prev Point, why Reason, at Resource) Point {
	return l.AddAt(t, prev, l.Owner(prev), why, at)
}

// AddAt is Add with another owner than that of prev.
func (l *Log) AddAt(t unit.Time, prev Point, of Owner, why Reason, at Resource) Point {
	if t == l.Time(prev) {
		return prev
	}
	return l.put(point{when: halves(t), prev: prev, site: of.Site, at: at, what: what(why, of.Step)})
}

// Wait returns a point at which an operation continues after it waited for a resource since a time.
// Parameter until is the point that ended the wait. The new point has its time and follows it.
func (l *Log) Wait(since unit.Time, until Point, of Owner, why Reason, at Resource) Point {
	return l.put(point{when: halves(since), prev: until, site: of.Site, at: at, what: what(why, of.Step) | aWait})
}

// Serve returns two points of a message that has waited for a link since a time. If space is true,
// it waited for space in the buffer at the end of the link. Otherwise it waited until another
// message had left the link. At start the wait ends. At served the message has been serialised.
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
	l.written++ // this point counts as two: the wait and the serialisation
	return served | theWait, served
}

// Begin returns a point at the time of prev at which the operation of prev begins a step.
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
