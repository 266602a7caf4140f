package topology

import (
	"fmt"
	"maps"
	"slices"

	"kernbench/tl"
)

// Override lets an algorithm change the neighbours of a rank. It gets the map that the
// topology makes, which it may change and return, or another map. A nil result keeps
// the topology's.
type Override func(rank, world int, m map[tl.Dir]int) map[tl.Dir]int

// manyLinks is the largest number of links per rank that is allocated at first.
const manyLinks = 16

// Wire makes the rings of t for world ranks, with the override where it is not nil.
func (t *Topology) Wire(world int, g Grid, override Override) ([]tl.Wiring, error) {
	g, err := t.Fit(world, g)
	if err != nil {
		return nil, err
	}
	var own []Link // apart from the others' links: a row from elsewhere may do more than append
	own = t.Links(own, 0, world, g)
	links := newLinks(world, min(len(own), manyLinks)) // other ranks have about as many as the first; in a tree or star, fewer
	for rank := range world {
		own = t.Links(own[:0], rank, world, g)
		links.flat = append(links.flat, own...)
		if err := links.check(t, rank, world); err != nil {
			return nil, err
		}
		if override != nil {
			if err := links.override(t, rank, world, override); err != nil {
				return nil, err
			}
		}
		links.end()
	}
	w, err := links.connect()
	if err != nil {
		return nil, fmt.Errorf("%s of %d ranks: %w", t.Name, world, err)
	}
	return w, nil
}

// check puts the links of rank, the last of l.flat, in order and judges them: rows may
// come from outside this package.
func (l *links) check(t *Topology, rank, world int) error {
	own := l.flat[l.start[rank]:]
	if !slices.IsSortedFunc(own, byDir) {
		slices.SortFunc(own, byDir)
	}
	for i, k := range own {
		if err := checkPeer(rank, world, k.Dir, int(k.Peer), t.Wraps); err != nil {
			return fmt.Errorf("topology %s: %w", t.Name, err)
		}
		if i > 0 && own[i-1].Dir == k.Dir {
			return fmt.Errorf("topology %s: rank %d has direction %v twice", t.Name, rank, k.Dir)
		}
	}
	return nil
}

func byDir(a, b Link) int { return int(a.Dir) - int(b.Dir) }

// override replaces the links of rank, the last of l.flat.
func (l *links) override(t *Topology, rank, world int, f Override) error {
	start := l.start[rank]
	base := make(map[tl.Dir]int, 4)
	for _, k := range l.flat[start:] {
		base[k.Dir] = int(k.Peer)
	}
	m := f(rank, world, maps.Clone(base))
	if m == nil {
		return nil
	}
	l.flat = l.flat[:start]
	for _, d := range slices.Sorted(maps.Keys(m)) {
		if err := checkPeer(rank, world, d, m[d], t.Wraps); err != nil {
			return fmt.Errorf("neighbors override of %s: %w", t.Name, err)
		}
		l.flat = append(l.flat, Link{d, int32(m[d])})
	}
	return nil
}

// checkPeer checks the override of one direction of one rank.
func checkPeer(rank, world int, d tl.Dir, peer int, self bool) error {
	switch {
	case d == tl.AnyDir:
		return fmt.Errorf("rank %d: a neighbour needs a direction, and %q is none", rank, d)
	case peer < 0 || peer >= world:
		return fmt.Errorf("rank %d, direction %v: there is no rank %d among %d", rank, d, peer, world)
	case peer == rank && !self:
		return fmt.Errorf("rank %d, direction %v: leads to itself, which only a topology that wraps around can mean", rank, d)
	}
	return nil
}

// Maps lists the neighbours of every rank as the topology has them.
func (t *Topology) Maps(world int, g Grid) ([]map[tl.Dir]int, error) {
	g, err := t.Fit(world, g)
	if err != nil {
		return nil, err
	}
	ms := make([]map[tl.Dir]int, world)
	var buf []Link
	for rank := range ms {
		buf = t.Links(buf[:0], rank, world, g)
		ms[rank] = make(map[tl.Dir]int, len(buf))
		for _, k := range buf {
			ms[rank][k.Dir] = int(k.Peer)
		}
	}
	return ms, nil
}
