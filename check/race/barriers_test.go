package race_test

import (
	"testing"

	"kernbench/record/history"
	"kernbench/tl"
)

// mesh is a barrier where every rank notifies every other one in a word of its own.
func mesh(h *account, add, v int64) {
	for r := range h.ranks {
		h.drain(r)
		for q := range h.ranks {
			if q != r {
				h.notify(r, wordOf(q, r), add)
			}
		}
	}
	for r := range h.ranks {
		for q := range h.ranks {
			if q != r {
				h.wait(r, q, tl.GE, v)
			}
		}
	}
}

// staged is rounds of: store own scratch, meet, read all ranks', (meet again).
func staged(ranks, rounds int, before, after func(h *account, round int)) func(h *account) {
	return func(h *account) {
		for i := 1; i <= rounds; i++ {
			for r := range ranks {
				h.store(r, at(r, 0, 64))
			}
			before(h, i)
			for r := range ranks {
				for q := range ranks {
					h.read(r, at(q, 0, 64))
				}
			}
			if after != nil {
				after(h, i)
			}
		}
	}
}

// casBarrier sets a flag at every peer and takes those down that the peers have set here.
func casBarrier(h *account, order []int) {
	for _, r := range order {
		for q := range h.ranks {
			if !h.cas(r, wordOf(q, r), 0, 1) {
				h.tb.Fatal("the flag was still up")
			}
		}
	}
	for _, r := range order {
		for q := range h.ranks {
			for !h.cas(r, wordOf(r, q), 1, 0) {
				h.tb.Fatal("the flag was down")
			}
		}
	}
}

// scatterReduce is a call of: copy to all ranks, meet, reduce own memory.
func scatterReduce(h *account, call int) {
	const n = 64
	p := h.ranks
	order := make([]int, p)
	for r := range p {
		order[r] = (r + call) % p
		for i := range p {
			q := (r + i + 1) % p
			h.add(r, "copy", history.Record{
				Kind: history.Copy, Op: h.log.NextOp(), Source: at(r, 1<<16+int64(q)*n, n).rng(), Range: at(q, int64(r)*n, n).rng(),
			})
		}
	}
	casBarrier(h, order)
	for r := range p {
		h.read(r, at(r, 0, n*int64(p)))
		h.store(r, at(r, 1<<18, n))
		h.drain(r)
	}
}

// epochs is rounds of staging with two barriers whose k-th use adds k and waits for k.
func epochs(uses int) func(h *account) {
	return func(h *account) {
		for i := 1; i <= uses; i++ {
			for r := range h.ranks {
				if i%2 == 1 {
					h.store(r, at(r, 0, 64))
				}
			}
			mesh(h, int64(i), int64(i))
			for r := range h.ranks {
				if i%2 == 1 {
					h.read(r, at((r+1)%h.ranks, 0, 64))
				}
			}
		}
	}
}

func calls(n int) func(h *account) {
	return func(h *account) {
		for i := range n {
			scatterReduce(h, i)
			order := make([]int, h.ranks)
			for r := range h.ranks {
				order[r] = (r + i*3 + 1) % h.ranks
			}
			casBarrier(h, order)
		}
	}
}

func TestBarriers(t *testing.T) {
	judgeAll(t, []protocol{
		{"barrier +1, >= 1: once", 3, staged(3, 1, func(h *account, i int) { mesh(h, 1, 1) }, nil), nil},
		{"barrier +1, >= 1: the second use", 3, staged(3, 1, func(h *account, i int) { mesh(h, 1, 1) }, func(h *account, i int) {
			mesh(h, 1, 1)
			for r := range h.ranks {
				h.store(r, at(r, 0, 64))
			}
		}), []string{"race load store"}},
		{"barrier +1, >= generation", 3, staged(3, 4,
			func(h *account, i int) { mesh(h, 1, int64(2*i-1)) },
			func(h *account, i int) { mesh(h, 1, int64(2*i)) }), nil},
		{"scratch used again after one barrier per round", 3, staged(3, 2,
			func(h *account, i int) { mesh(h, 1, int64(i)) }, nil), []string{"race load store"}},
		{"one barrier per round, two buffers", 3, func(h *account) {
			for i := 1; i <= 6; i++ {
				lo := int64(i%2) * 64
				for r := range 3 {
					h.store(r, at(r, lo, 64))
				}
				mesh(h, 1, int64(i))
				for r := range 3 {
					for q := range 3 {
						h.read(r, at(q, lo, 64))
					}
				}
			}
		}, nil},
		{"+= epoch, >= epoch: twice", 3, epochs(2), nil},
		{"+= epoch, >= epoch: the third time", 3, epochs(3), []string{"race store load"}},
		{"scatter, CAS barrier, reduce: one call", 3, func(h *account) { scatterReduce(h, 0) }, nil},
		{"two calls", 3, func(h *account) { scatterReduce(h, 0); scatterReduce(h, 1) }, []string{"race load copy"}},
		{"two calls with a barrier between", 3, func(h *account) {
			scatterReduce(h, 0)
			h.barrier()
			scatterReduce(h, 1)
		}, nil},
		{"many calls with the CAS barrier between, 2 ranks", 2, calls(8), nil},
		{"many calls with the CAS barrier between, 4 ranks", 4, calls(8), nil},
	})
}
