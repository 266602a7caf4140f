package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// ring is a ring from one rank to another, with what each calls it.
type ring struct {
	from, to int32
	out, in  tl.Dir
	line     int
}

func (r *ring) String() string { return fmt.Sprintf("%v->%d.%v", r.out, r.to, r.in) }

// ringsOf lists the rings of a wiring: those of rank 0 first, each rank's in the order of its Out.
func ringsOf(w []tl.Wiring) (world int, all []ring) {
	for r := range w {
		for _, o := range w[r].Out {
			in := tl.AnyDir
			if int(o.Peer) < len(w) && int(o.PeerIn) < len(w[o.Peer].In) {
				in = w[o.Peer].In[o.PeerIn].Dir
			}
			all = append(all, ring{from: int32(r), to: o.Peer, out: o.Dir, in: in})
		}
	}
	return len(w), all
}

// mostRings is the largest number of rings of a rank in one direction, out or in.
const mostRings = 255

// wire builds both ends of rings, as topology.Wire does: In is in the order of directions. It
// returns the error and the invalid ring.
func wire(world int, rings []ring) (w []tl.Wiring, bad *ring, err error) {
	w = make([]tl.Wiring, world)
	byIn := make([][]int, world) // rings into each rank
	for i := range rings {
		r := &rings[i]
		if int(r.to) >= world {
			return nil, r, fmt.Errorf("ring %v leads to rank %d, want a rank from 0 to %d", r, r.to, world-1)
		}
		o := &w[r.from]
		if o.OutIndex(r.out) >= 0 {
			return nil, r, fmt.Errorf("rank %d sends in direction %v twice, want each direction once", r.from, r.out)
		}
		for _, k := range byIn[r.to] {
			if rings[k].in == r.in {
				return nil, r, fmt.Errorf("rank %d receives from direction %v twice, from ranks %d and %d, want each direction once",
					r.to, r.in, rings[k].from, r.from)
			}
		}
		if len(o.Out) == mostRings || len(byIn[r.to]) == mostRings {
			return nil, r, fmt.Errorf("ring %v is one too many, want at most %d out of a rank and into it", r, mostRings)
		}
		o.Out = append(o.Out, tl.OutPort{Peer: r.to, Dir: r.out})
		byIn[r.to] = append(byIn[r.to], i)
	}
	for to, in := range byIn {
		slices.SortStableFunc(in, func(a, b int) int { return cmp.Compare(rings[a].in, rings[b].in) })
		for k, i := range in {
			r := &rings[i]
			out := w[r.from].OutIndex(r.out)
			w[r.from].Out[out].PeerIn = uint8(k)
			w[to].In = append(w[to].In, tl.InPort{Peer: r.from, Dir: r.in, PeerOut: uint8(out)})
		}
	}
	return w, nil, nil
}

func equalWiring(a, b *tl.Wiring) bool { return slices.Equal(a.Out, b.Out) && slices.Equal(a.In, b.In) }

// layout divides a window into parts with full names: parts of one buffer stand side by side.
func layout(bytes int64, parts []mem.Part) (*mem.Layout, error) {
	var buffers []mem.Buffer
	for _, p := range parts {
		buffer, name, _ := strings.Cut(cmp.Or(p.FullName(), p.Name), ".")
		p.Name = name
		if n := len(buffers); n > 0 && buffers[n-1].Name == buffer {
			buffers[n-1].Parts = append(buffers[n-1].Parts, p)
			continue
		}
		buffers = append(buffers, mem.Buffer{Name: buffer, Parts: []mem.Part{p}})
	}
	return mem.NewLayout(bytes, buffers)
}

// partType returns the type of a part's elements: f16, int64.
func partType(p *mem.Part) string {
	if p.Word != mem.NoWord {
		return p.Word.String()
	}
	return p.Type.String()
}

// newPart makes a part of the name of its type.
func newPart(name, typ string, n int) (mem.Part, error) {
	for _, w := range []mem.WordType{mem.Int32, mem.Int64, mem.Uint64} {
		if w.String() == typ {
			return mem.SignalPart(name, w, n), nil
		}
	}
	t, err := dtype.Parse(typ)
	if err != nil {
		return mem.Part{}, fmt.Errorf("found type %q, want an element type (%s) or int32, int64, uint64 for control words", typ, types())
	}
	return mem.DataPart(name, t, n), nil
}

func types() string {
	var all []string
	for _, t := range dtype.Types() {
		all = append(all, t.String())
	}
	return strings.Join(all, ", ")
}
