package bound

import "math"

// paths finds shortest paths from one place to all, by Dijkstra's method, repeatedly.
type paths struct {
	t    *trading
	far  []float64 // distance, by place
	via  []int32   // arc by which it is reached; -1: none
	load []float64 // what goes there or through it
	done []int32   // places in the order of their distance
	heap []ahead

	carried []float64 // by arc, in all rounds
}

// ahead is a place that can be reached so far away.
type ahead struct {
	far float64
	at  int32
}

// from finds the paths from a place.
func (p *paths) from(place int32, lengths []float64) {
	for i := range p.far {
		p.far[i], p.via[i] = math.Inf(1), -1
	}
	p.far[place], p.done, p.heap = 0, p.done[:0], append(p.heap[:0], ahead{0, place})
	for len(p.heap) > 0 {
		next := p.pop()
		if next.far > p.far[next.at] {
			continue
		}
		p.done = append(p.done, next.at)
		for _, a := range p.t.out[next.at] {
			to := p.t.arcs[a].to
			if far := next.far + lengths[a]; far < p.far[to] {
				p.far[to], p.via[to] = far, a
				p.push(ahead{far, to})
			}
		}
	}
}

// send routes all data of the place over the paths found, adds them to the load of the arcs, and
// lengthens these. It returns the sum of data times distance.
func (p *paths) send(place int32, lengths []float64, growth float64) (passes float64) {
	clear(p.load)
	for _, g := range p.t.goods[place] {
		p.load[g.to] += g.elems
		passes += g.elems * p.far[g.to]
	}
	for i := len(p.done) - 1; i > 0; i-- {
		at := p.done[i]
		a := p.via[at]
		p.carried[a] += p.load[at]
		p.load[p.t.arcs[a].from] += p.load[at]
		lengths[a] *= math.Exp(growth * p.load[at] / p.t.arcs[a].rate)
	}
	return passes
}

func (p *paths) push(a ahead) {
	p.heap = append(p.heap, a)
	i := len(p.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if p.heap[up].far <= a.far {
			break
		}
		p.heap[i], i = p.heap[up], up
	}
	p.heap[i] = a
}

func (p *paths) pop() ahead {
	top, last := p.heap[0], p.heap[len(p.heap)-1]
	p.heap = p.heap[:len(p.heap)-1]
	n := len(p.heap)
	if n == 0 {
		return top
	}
	i := 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && p.heap[k+1].far < p.heap[k].far {
			k++
		}
		if p.heap[k].far >= last.far {
			break
		}
		p.heap[i], i = p.heap[k], k
	}
	p.heap[i] = last
	return top
}
