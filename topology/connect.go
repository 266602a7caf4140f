package topology

import (
	"fmt"
	"maps"
	"slices"

	"kernbench/tl"
)

// Connect pairs each outgoing direction with an incoming ring at its peer: maps[r] has the names
// that rank r uses for its neighbours. Rank r sends into a ring over d. At the peer the ring has
// the first of these names that no other ring has there:
//
//  1. the opposite of d, when the peer's own ring of that name leads back to r;
//  2. the opposite of d, when the peer does not send under that name;
//  3. any name under which the peer sends to r, in the order of directions: of two ranks
//     that call each other E, each receives from E;
//  4. the opposite of d.
//
// The opposite of parent is child0 or child1, whichever the rule fits first.
//
// Each rule is applied to all rings before the next. So the order of ranks matters only where two
// rings want the same name by the same rule. The lower rank then has it. With two ranks, E and W
// reach the same peer, and rule 1 keeps them apart.
func Connect(world int, neighbors []map[tl.Dir]int) ([]tl.Wiring, error) {
	if len(neighbors) != world {
		return nil, fmt.Errorf("topology: %d neighbour maps for %d ranks", len(neighbors), world)
	}
	l := newLinks(world, 4)
	for rank, m := range neighbors {
		for _, d := range slices.Sorted(maps.Keys(m)) {
			if err := checkPeer(rank, world, d, m[d], true); err != nil {
				return nil, err
			}
			l.flat = append(l.flat, Link{d, int32(m[d])})
		}
		l.end()
	}
	return l.connect()
}

// links is the neighbours of all ranks, one rank after the other, by direction.
type links struct {
	flat  []Link
	start []int32 // rank r's are flat[start[r]:start[r+1]]

	name  []tl.Dir    // of each link: what the peer calls it; AnyDir while that is open
	names [][4]uint64 // of each rank: a bit for each name under which a ring arrives
	// arriving lists the links that lead to each rank, as flat and start do.
	arriving   []int32
	arriveFrom []int32

	faces [maxDirs + 1][]tl.Dir // results of opposites, as names of levels take time to parse
	faced [maxDirs + 1]bool
}

func newLinks(world, each int) *links {
	return &links{flat: make([]Link, 0, world*each), start: make([]int32, 1, world+1)}
}

// maxDirs is the largest number of directions: all of a tl.Dir except AnyDir.
const maxDirs = 255

// end closes the links of one rank.
func (l *links) end() { l.start = append(l.start, int32(len(l.flat))) }

func (l *links) world() int { return len(l.start) - 1 }

func (l *links) of(rank int32) []Link { return l.flat[l.start[rank]:l.start[rank+1]] }

func (l *links) to(rank int32) []int32 {
	return l.arriving[l.arriveFrom[rank]:l.arriveFrom[rank+1]]
}

// peerOf returns the rank to which a rank sends under name d.
func (l *links) peerOf(rank int32, d tl.Dir) (peer int32, ok bool) {
	for _, k := range l.of(rank) {
		if k.Dir == d {
			return k.Peer, true
		}
	}
	return 0, false
}

// claimed reports whether a ring arrives at rank under name d.
func (l *links) claimed(rank int32, d tl.Dir) bool {
	return l.names[rank][d/64]>>(d%64)&1 > 0
}

func (l *links) connect() ([]tl.Wiring, error) {
	l.indexArrivals()
	for r := range int32(l.world()) {
		if n := len(l.to(r)); n > maxDirs {
			return nil, fmt.Errorf("%d ranks send to rank %d, which can tell %d directions apart", n, r, maxDirs)
		}
	}
	l.name, l.names = make([]tl.Dir, len(l.flat)), make([][4]uint64, l.world())
	for _, rule := range [...]func(from int32, k Link) tl.Dir{l.leadsBack, l.notSentUnder, l.sentUnder, l.opposite} {
		for from := range int32(l.world()) {
			for i := l.start[from]; i < l.start[from+1]; i++ {
				if l.name[i] != tl.AnyDir {
					continue
				}
				k := l.flat[i]
				if d := rule(from, k); d != tl.AnyDir {
					l.name[i] = d
					l.names[k.Peer][d/64] |= 1 << (d % 64)
				}
			}
		}
	}
	for from := range int32(l.world()) {
		for i := l.start[from]; i < l.start[from+1]; i++ {
			if l.name[i] == tl.AnyDir {
				return nil, l.noNameLeft(from, l.flat[i])
			}
		}
	}
	return l.wirings(), nil
}

// indexArrivals sorts the links by the rank they lead to, by counting.
func (l *links) indexArrivals() {
	l.arriveFrom = make([]int32, l.world()+1)
	for _, k := range l.flat {
		l.arriveFrom[k.Peer+1]++
	}
	for r := range l.world() {
		l.arriveFrom[r+1] += l.arriveFrom[r]
	}
	next := slices.Clone(l.arriveFrom)
	l.arriving = make([]int32, len(l.flat))
	for i, k := range l.flat {
		l.arriving[next[k.Peer]] = int32(i)
		next[k.Peer]++
	}
}

// opposites lists the names that the ring of direction d can have at its far end, in order. A child
// cannot know which one it is to its parent.
func (l *links) opposites(d tl.Dir) []tl.Dir {
	if l.faced[d] {
		return l.faces[d]
	}
	l.faced[d] = true
	if d == tl.Parent {
		l.faces[d] = []tl.Dir{tl.Child0, tl.Child1}
	} else if o, ok := d.Opposite(); ok {
		l.faces[d] = []tl.Dir{o}
	}
	return l.faces[d]
}

func (l *links) leadsBack(from int32, k Link) tl.Dir {
	for _, o := range l.opposites(k.Dir) {
		if back, ok := l.peerOf(k.Peer, o); ok && back == from && !l.claimed(k.Peer, o) {
			return o
		}
	}
	return tl.AnyDir
}

func (l *links) notSentUnder(_ int32, k Link) tl.Dir {
	for _, o := range l.opposites(k.Dir) {
		if _, ok := l.peerOf(k.Peer, o); !ok && !l.claimed(k.Peer, o) {
			return o
		}
	}
	return tl.AnyDir
}

func (l *links) sentUnder(from int32, k Link) tl.Dir {
	for _, back := range l.of(k.Peer) {
		if back.Peer == from && !l.claimed(k.Peer, back.Dir) {
			return back.Dir
		}
	}
	return tl.AnyDir
}

func (l *links) opposite(_ int32, k Link) tl.Dir {
	for _, o := range l.opposites(k.Dir) {
		if !l.claimed(k.Peer, o) {
			return o
		}
	}
	return tl.AnyDir
}

// noNameLeft returns the error for a ring for which its peer has no name left.
func (l *links) noNameLeft(from int32, k Link) error {
	err := fmt.Errorf("rank %d sends %v to rank %d, which has no direction left to receive it from", from, k.Dir, k.Peer)
	for _, o := range l.opposites(k.Dir) {
		for _, i := range l.to(k.Peer) {
			if l.name[i] == o {
				other, _ := slices.BinarySearch(l.start, i+1)
				return fmt.Errorf("%w: its %v already receives from rank %d (sent %v)", err, o, other-1, l.flat[i].Dir)
			}
		}
	}
	return fmt.Errorf("%w: give rank %d a direction that leads to rank %d", err, k.Peer, from)
}
