package verify

import (
	"bytes"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// world is a collective done by hand: what an executor would have carried, so that tests
// can reduce in any order and damage the result.
type world struct {
	co   *collective.Collective
	call collective.Call
	h    *collective.Hasher
	in   [][]byte
	out  []vector
}

// vector is bytes and their provenance.
type vector struct {
	data []byte
	prov collective.Prov
}

func newWorld(co *collective.Collective, call collective.Call, explain bool, value func(rank, i int) float64) *world {
	w := &world{co: co, call: call, h: collective.NewHasher(42, explain)}
	for r := range call.World {
		n := co.In(call, r)
		b := make([]byte, n*call.Type.Size())
		for i := range n {
			dtype.Set(call.Type, b, i, value(r, i))
		}
		w.in = append(w.in, b)
	}
	w.out = make([]vector, call.World)
	return w
}

// own is rank's input with its labels.
func (w *world) own(rank int) vector {
	return vector{bytes.Clone(w.in[rank]), w.co.Own(w.h, nil, w.call, rank)}
}

func (w *world) add(a, b vector) vector {
	d := make([]byte, len(a.data))
	dtype.Binary(w.call.Op.Binary(), w.call.Type, d, a.data, b.data)
	return vector{d, w.h.Merge(nil, a.prov, b.prov, 7)}
}

// scale is op with scalar s, which avg permits once.
func (w *world) scale(a vector, op dtype.BinaryOp, s float64) vector {
	d := make([]byte, len(a.data))
	dtype.BinaryScalar(op, w.call.Type, d, a.data, s)
	if !collective.Scales(w.call, op, s) {
		return vector{d, collective.Obscure(nil, a.prov, 8)}
	}
	return vector{d, collective.Scale(nil, a.prov, w.call.World, 8)}
}

// chain reduces the inputs of the given ranks one after the other.
func (w *world) chain(ranks ...int) vector {
	acc := w.own(ranks[0])
	for _, r := range ranks[1:] {
		acc = w.add(acc, w.own(r))
	}
	return acc
}

// tree reduces the inputs of the given ranks in pairs, and the pairs in pairs.
func (w *world) tree(ranks ...int) vector {
	if len(ranks) == 1 {
		return w.own(ranks[0])
	}
	half := len(ranks) / 2
	return w.add(w.tree(ranks[:half]...), w.tree(ranks[half:]...))
}

// finish does what avg leaves to the end.
func (w *world) finish(v vector) vector {
	if w.call.Op == tl.Avg {
		return w.scale(v, dtype.Div, float64(w.call.World))
	}
	return v
}

// ring is an all-reduce in which each rank starts from its own input.
func (w *world) ring() {
	n := w.call.World
	for r := range n {
		order := make([]int, n)
		for k := range order {
			order[k] = (r - k + n) % n
		}
		w.out[r] = w.finish(w.chain(order...))
	}
}

// set makes v the output of the given ranks, or of all.
func (w *world) set(v vector, ranks ...int) {
	for r := range w.out {
		if len(ranks) == 0 || slices.Contains(ranks, r) {
			w.out[r] = v
		}
	}
}

func (w *world) input() Input {
	return Input{
		Collective: w.co,
		Call:       w.call,
		Hasher:     w.h,
		In:         func(r int) []byte { return w.in[r] },
		Out:        func(r int) []byte { return w.out[r].data },
		Prov:       func(r int) collective.Prov { return w.out[r].prov },
		Operation:  func(id int32) string { return fmt.Sprintf("op#%d", id) },
		Place:      func(r int) string { return fmt.Sprintf("sip0.cube0.pe%d", r) },
	}
}
