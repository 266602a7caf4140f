package cause

import "math"

// This file prunes a log. Most points decide no later time. The log keeps the points that an
// executor names and the chains that lead to them: 1 to 15 % of all points. These keep their
// numbers. The numbers of the others are used again.
//
// Most points that are dropped are young. A point that was kept once is mostly kept again. So
// Prune follows chains back to points that it has kept before, and keeps all of those. When an
// eighth more points are kept than when it last followed whole chains, it follows whole chains
// again.
//
// Invariant: a number is used again only if its point is on no chain to a kept point or to the end
// of a run.

// pruning is the state of a log that is pruned.
type pruning struct {
	written int   // points
	every   int   // least number of points between two calls of Prune; 0: never
	due     int   // number of points at which Prune is due
	free    Point // list of points for reuse, linked by prev
	old     kept  // what Prune kept in its last call
	whole   int   // number of points that it kept when it last followed whole chains
}

// kept are the points and paths that Prune keeps.
type kept struct {
	points, paths marks
	number        int // of the points
}

// unusedPath is the link of a path that is to be used again.
const unusedPath = math.MaxUint32

// NewPruned makes an empty Log whose pruning is due again after each `every` points.
func NewPruned(every int) *Log {
	l := New()
	l.every, l.due = every, every
	return l
}

// Due reports whether Prune should be called.
func (l *Log) Due() bool { return l.every > 0 && l.written >= l.due }

// Capacity returns the number of points that the log has had space for at once.
func (l *Log) Capacity() int { return int(l.used) - 1 }

// Keep marks the points and paths that Prune keeps.
type Keep struct {
	log *Log
	kept
}

type marks []uint64

// extended returns marks with space for more numbers.
func (b marks) extended(numbers int) marks {
	return append(b, make(marks, numbers/64+1-len(b))...)
}

// set sets a bit and reports whether it was clear.
func (b marks) set(i uint32) bool {
	old := b[i/64]
	b[i/64] = old | 1<<(i%64)
	return b[i/64] != old
}

func (b marks) has(i uint32) bool { return b[i/64]&(1<<(i%64)) != 0 }

// Prune drops points and paths. It keeps those that a function keeps, those that end runs, and
// those on the chains to either. It may keep more: see the head of this file.
func (l *Log) Prune(all func(k *Keep)) {
	k := &Keep{log: l, kept: l.old}
	fresh := k.number >= l.whole+l.whole/8
	if fresh {
		clear(k.points)
		clear(k.paths)
		k.number = 0
	}
	k.points, k.paths = k.points.extended(int(l.used)), k.paths.extended(len(l.paths))
	for i := range l.runs {
		k.Point(l.runs[i].Last)
		for _, p := range l.runs[i].Ends {
			k.Point(p)
		}
	}
	all(k)
	if l.old = k.kept; fresh {
		l.whole = k.number
	}
	l.free, l.freePath = 0, 0
	for i := l.used - 1; i > 0; i-- {
		if !k.points.has(i) {
			*l.point(Point(i)) = point{prev: l.free}
			l.free = Point(i)
		}
	}
	for i := uint32(len(l.paths)) - 1; i > 0; i-- {
		if k.paths.has(i) {
			continue
		}
		l.paths[i] = path{l.freePath, unusedPath}
		l.freePath = i
	}
	l.reindex(len(l.index))
	l.due = l.written + l.every
}

// Point keeps a point, and the chain that leads to it.
func (k *Keep) Point(p Point) {
	for p != 0 && k.points.set(uint32(p&^theWait)) {
		k.number++
		v := k.log.point(p)
		if v.at.Kind() == Path {
			k.Path(uint32(v.at.Number()))
		}
		p = v.prev
	}
}

// Path keeps a path.
func (k *Keep) Path(p uint32) {
	for p != 0 && k.paths.set(p) {
		p = k.log.paths[p].before
	}
}
