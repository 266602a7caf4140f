package machine

import "kernbench/conf"

// full joins every site to every other, and each to the exit, by links of its own.
type full struct {
	size
	list     []edge
	up, down []int32
}

func newFull(s size) network {
	f := &full{size: s}
	for from := range int32(s.n) {
		for to := range int32(s.n) {
			switch {
			case from < to:
				f.list = append(f.list, edge{from: from, to: to, out: east, in: west})
			case from > to:
				f.list = append(f.list, edge{from: from, to: to, out: west, in: east})
			}
		}
	}
	if s.exit {
		f.up, f.down = exitEdges(&f.list, s.n, s.n)
	}
	return f
}

func (f *full) edges() []edge      { return f.list }
func (f *full) hubs() int          { return 0 }
func (f *full) hubName(int) string { return "" }
func (f *full) channels() uint8    { return 1 }

func (f *full) next(_, at, to int) step {
	var e int32
	switch {
	case at == f.n:
		e = f.down[to]
	case to == f.n:
		e = f.up[at]
	case to > at:
		e = int32(at*(f.n-1) + to - 1) // a site's edges are in the order of their ends, itself left out
	default:
		e = int32(at*(f.n-1) + to)
	}
	return step{edge: e, site: f.list[e].to}
}

var _ = register(kind{
	Network: conf.Network{Name: "full", Short: "full"},
	look:    Look{Layout: EachOther, Title: "%s, fully connected"},
	cubes:   Look{Layout: EachOther, Title: "%s, fully connected"},
	limit:   1024,
	uniform: true,
	build:   newFull,
	join:    func(p plan) network { return newFull(size{n: p.sites()}) },
})
