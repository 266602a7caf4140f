package program_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
)

// call is one call of a random kernel.
type call struct {
	kind callKind
	n    int // elements
	i, k int // which tensors, or other choices
	dir  tl.Dir
}

type callKind int

const (
	doLoad callKind = iota
	doLoadOver
	doLoadRows
	doStore
	doStoreOver
	doStoreRows
	doSend
	doSendRef
	doRecv
	doWait
	doAdd
	doScale
	doFMA
	doAbs
	doFull
	doSum
	doFree
	callKinds
)

// anyCalls draws the calls of a kernel.
func anyCalls(d *rand.Rand) []call {
	all := make([]call, d.IntN(25))
	for i := range all {
		all[i] = anyCall(d)
	}
	return all
}

func anyCall(d *rand.Rand) call {
	return call{callKind(d.IntN(int(callKinds))), d.IntN(9), d.IntN(4), d.IntN(4), []tl.Dir{tl.East, tl.West}[d.IntN(2)]}
}

// changed is some calls with one change, or none.
func changed(d *rand.Rand, calls []call) []call {
	calls = slices.Clone(calls)
	at := d.IntN(len(calls) + 1)
	switch d.IntN(4) {
	case 0:
		calls = slices.Insert(calls, at, anyCall(d))
	case 1:
		calls = calls[:at]
	case 2:
		if at < len(calls) {
			calls = slices.Delete(calls, at, at+1)
		}
	case 3:
		if at < len(calls) {
			calls[at].n, calls[at].i = d.IntN(9), d.IntN(4)
		}
	}
	return calls
}

// performer carries out the calls of one rank.
type performer struct {
	c    *tl.Context
	a    tl.Args
	own  *rand.Rand // for addresses and offsets, which are each rank's own
	all  []tl.Tensor
	lent map[tl.Dir]tl.Tensor
}

// tensor returns one of those that are alive, or a new one of 8 elements.
func (p *performer) tensor(i int) tl.Tensor {
	if len(p.all) == 0 {
		p.all = append(p.all, p.c.Load(mine(p.c, p.a).Slice(0, 8)))
	}
	return p.all[len(p.all)-1-i%len(p.all)]
}

// part is n elements of a tensor, from anywhere on, or as many as there are.
func (p *performer) part(i, n int) tl.Tensor {
	t := p.tensor(i)
	n = min(n, t.Len())
	return t.Slice(p.own.IntN(t.Len()-n+1), n)
}

func (p *performer) forget(t tl.Tensor) {
	p.all = slices.DeleteFunc(p.all, func(o tl.Tensor) bool { return o == t })
}

func (p *performer) place(n int) tl.Ref { return mine(p.c, p.a).Slice(p.own.IntN(64-n+1), n) }

// over returns a place of virtual memory, which may span extents.
func (p *performer) over(n int) tl.Ref {
	return tl.Ref{Addr: virtual(p.c.Rank()) + mem.Addr(2*p.own.IntN(96-n+1)), Shape: tl.Dims(n), DType: dtype.F16}
}

func (p *performer) rows(k int) (d tl.Desc, row, col int) {
	return p.c.Desc(mine(p.c, p.a), 8, 8, 2, 1+k), p.own.IntN(6), p.own.IntN(8 - k)
}

func (p *performer) receive(s call) {
	if t, ok := p.lent[s.dir]; ok {
		p.forget(t)
	}
	var t tl.Tensor
	if s.kind == doRecv {
		t = p.c.Recv(s.dir, tl.Dims(s.n*s.k+1), p.a.DType)
	} else {
		t = p.c.Wait(p.c.RecvAsync(s.dir, tl.Dims(s.n+1), p.a.DType))
	}
	p.lent[s.dir] = t
	p.all = append(p.all, t)
}

func (p *performer) do(s call) {
	c := p.c
	var made tl.Tensor
	switch s.kind {
	case doLoad:
		made = c.Load(p.place(s.n + 1))
	case doLoadOver:
		made = c.Load(p.over(s.n + 1))
	case doLoadRows:
		d, row, col := p.rows(s.k)
		made = c.LoadTile(d, row, col)
	case doStore:
		c.Store(p.place(min(s.n, p.tensor(s.i).Len())), p.part(s.i, s.n))
		return
	case doStoreOver:
		c.Store(p.over(min(s.n, p.tensor(s.i).Len())), p.part(s.i, s.n))
		return
	case doStoreRows:
		d, row, col := p.rows(s.k)
		c.StoreTile(d, row, col, c.Full(tl.Dims(2, 1+s.k), p.a.DType, float64(s.i)))
		return
	case doSend:
		c.Send(s.dir, p.part(s.i, s.n))
		return
	case doSendRef:
		c.SendRef(s.dir, p.place(s.n))
		return
	case doRecv, doWait:
		p.receive(s)
		return
	case doAdd:
		n := min(s.n, p.tensor(s.i).Len(), p.tensor(s.k).Len())
		if made = c.Combine(tl.ReduceOp(s.n%4), p.part(s.i, n), p.part(s.k, n)); n == 0 {
			return
		}
	case doScale:
		made = c.Scale(dtype.Mul, p.part(s.i, s.n+1), float64(s.k))
	case doFMA:
		n := min(p.tensor(s.i).Len(), p.tensor(s.k).Len())
		made = c.FMA(p.tensor(s.i).Slice(0, n), p.part(s.i, n), p.tensor(s.k).Slice(0, n))
	case doAbs:
		made = c.Abs(p.part(s.i, s.n+1))
	case doFull:
		made = c.Full(tl.Dims(s.n+1), p.a.DType, float64(s.k))
	case doSum:
		made = c.Sum(c.Full(tl.Dims(2, s.n+1), p.a.DType, 1), s.k%2)
	case doFree:
		t := p.tensor(s.i)
		c.Free(t)
		p.forget(t)
		return
	}
	p.all = append(p.all, made)
}

// TestRandomKernels: for random ranks, each record equals the instructions that the rank issues
// alone. There are no more records than different kernels, if none accesses memory whose pieces
// depend on the address.
func TestRandomKernels(t *testing.T) {
	shared := 0
	for seed := range uint64(400) {
		d := rand.New(rand.NewPCG(seed, 1))
		kinds := [][]call{anyCalls(d)}
		for range d.IntN(4) {
			kinds = append(kinds, changed(d, kinds[d.IntN(len(kinds))]))
		}
		kernels := make([][]call, 2+d.IntN(9))
		different, pieces := map[string]bool{}, false
		for r := range kernels {
			kernels[r] = kinds[d.IntN(len(kinds))]
			different[fmt.Sprint(kernels[r])] = true
			pieces = pieces || slices.ContainsFunc(kernels[r], func(s call) bool { return s.kind == doLoadOver || s.kind == doStoreOver })
		}
		l := ring(len(kernels), func(c *tl.Context, a tl.Args) {
			p := &performer{c: c, a: a, own: rand.New(rand.NewPCG(seed, uint64(2+c.Rank()))), lent: map[tl.Dir]tl.Tensor{}}
			for _, s := range kernels[c.Rank()] {
				p.do(s)
			}
		})
		p := record(t, l, program.Options{Own: own, Places: true})
		if d := differs(t, l, p); d != "" {
			t.Fatalf("seed %d, %s\nkernels %+v", seed, d, kernels)
		}
		if !pieces && len(p.Records) > len(different) {
			t.Fatalf("seed %d: %d records of %d kernels: %+v", seed, len(p.Records), len(different), kernels)
		}
		if len(p.Records) < len(kernels) {
			shared++
		}
	}
	if shared < 300 {
		t.Errorf("ranks of %d launches shared records: too few to judge it by", shared)
	}
}
