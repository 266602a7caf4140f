package timing

import (
	"container/heap"
	"math"
	"slices"
	"sort"

	"kernbench/unit"
)

// A run makes an act for each slice, and a large call has many rounds of slices. Only the acts of
// the critical path are of interest, and that is known at the end. So a run keeps the acts of its
// first window, and a copy of its state at the beginning of each later one. The path is followed
// backwards, and a window that it comes to is carried out once more, with its acts kept.
//
// Invariant: a run is a function of its state, so an act has the same number each time. Memory then
// depends on the steps and on the window, and not on the bytes of the call.

// window is the least number of acts in a window.
var window int32 = 1 << 20

// act is a slice that was carried out.
type act struct {
	block, step int32
	before      int32 // act that it waited for last
	why         cause
	start, end  unit.Time
	busy        unit.Time // of the block itself; what is left of end - start links held it up
}

// acts holds the acts of a window that have ended, and a summary of all.
type acts struct {
	made      int32 // numbers that were given
	low, high int32 // numbers of those that are kept
	kept      []act // from low on
	ended     int32 // of those that are kept

	last int32     // the act that ends last, the first of several
	end  unit.Time // its end
}

// all carries out events to the end, and returns the states at the beginning of each window but the
// first, whose acts it keeps.
func (r *run) all() (windows []*run) {
	r.acts = acts{high: math.MaxInt32, last: none, made: r.acts.made}
	for len(r.events) > 0 {
		if r.acts.made-r.beginOf(windows) >= window {
			w := r.copy()
			w.acts = acts{made: r.acts.made, low: r.acts.made, last: none}
			windows = append(windows, w)
			r.acts.high = min(r.acts.high, r.acts.made)
		}
		r.event()
	}
	return windows
}

func (r *run) beginOf(windows []*run) int32 {
	if len(windows) == 0 {
		return 0
	}
	return windows[len(windows)-1].acts.low
}

// event carries out the next event.
func (r *run) event() {
	e := heap.Pop(&r.events).(event)
	r.slice(e.block, e.at)
}

// ended keeps the act that a block has ended, if it is of the window. Rank is whose end is
// explained.
func (r *run) ended(b *block) {
	a := &b.act
	if r.explains(b) && (a.end > r.acts.end || a.end == r.acts.end && a.end > 0 && b.last < r.acts.last) {
		r.acts.last, r.acts.end = b.last, a.end
	}
	i := int(b.last - r.acts.low)
	if i < 0 || b.last >= r.acts.high {
		return
	}
	if i >= len(r.acts.kept) {
		r.acts.kept = append(r.acts.kept, make([]act, i+1-len(r.acts.kept))...)
	}
	r.acts.kept[i] = *a
	r.acts.ended++
}

// path gives the acts of a run that has ended, from later ones to earlier ones.
type path struct {
	first   *run
	windows []*run
}

// act returns the act of a number.
func (p *path) act(n int32) act {
	k := sort.Search(len(p.windows), func(i int) bool { return p.windows[i].acts.low > n })
	if k == 0 {
		return p.first.acts.kept[n]
	}
	w := p.windows[k-1]
	if w.acts.high == 0 {
		if w.acts.high = p.first.acts.made; k < len(p.windows) {
			w.acts.high = p.windows[k].acts.low
			p.windows[k] = &run{acts: acts{low: w.acts.high}} // the path has left it
		}
		for w.acts.ended < w.acts.high-w.acts.low {
			w.event()
		}
	}
	return w.acts.kept[n-w.acts.low]
}

// copy copies the state of a run. Queues are shared: they grow at their ends and shrink at their
// beginnings. A run that starts from the copy appends the same values in the same places.
func (r *run) copy() *run {
	c := *r
	links := *r.links
	links.free, links.busy = slices.Clone(links.free), slices.Clone(links.busy)
	c.links = &links
	c.events = slices.Clone(r.events)
	c.chans, c.counts = slices.Clone(r.chans), slices.Clone(r.counts)
	c.blocks = slices.Clone(r.blocks)
	for i := range c.blocks {
		c.blocks[i].flags = slices.Clone(c.blocks[i].flags)
	}
	c.packets = slices.Clone(r.packets)
	for i := range c.packets {
		c.packets[i] = slices.Clone(c.packets[i])
		for k := range c.packets[i] {
			c.packets[i][k].cells = slices.Clone(c.packets[i][k].cells)
		}
	}
	return &c
}
