package bench

import (
	"context"
	"fmt"

	"kernbench/dialect/hccl"
)

// unevenCounts returns how many elements rank r sends to rank d. For four ranks they are those of
// the vendor's example times unit, for other numbers of ranks similar ones.
func unevenCounts(world, unit int) [][]int {
	example := [][]int{{3, 3, 3, 3}, {2, 2, 3, 2}, {1, 4, 4, 4}, {3, 3, 3, 3}}
	counts := make([][]int, world)
	for r := range counts {
		counts[r] = make([]int, world)
		for d := range counts[r] {
			counts[r][d] = unit * (1 + (3*r+5*d+r*d)%5)
			if world == len(example) {
				counts[r][d] = unit * example[r][d]
			}
		}
	}
	return counts
}

// prefix returns the displacements of blocks that follow one another, and the sum of the counts.
func prefix(counts []uint64) (displs []uint64, sum int) {
	for _, n := range counts {
		displs = append(displs, uint64(sum))
		sum += int(n)
	}
	return displs, sum
}

// hcclAlltoAllV exchanges blocks of uneven counts, in --repeat turns.
func hcclAlltoAllV(ctx context.Context, h *Host) error {
	steps := h.Number("step-size")
	t, err := h.tasks("hccl_alltoallv", hccl.OpAlltoAllV, hccl.Cores{AIV: h.Number("aiv")},
		func(cc *hccl.CcTiling) { cc.SetStepSize(uint8(steps)) })
	if err != nil {
		return err
	}
	world, repeat := len(t.pes), h.Number("repeat")
	counts := unevenCounts(world, h.NElem)
	sends, recvs := make([][]uint64, world), make([][]uint64, world)
	most := 0
	for r := range counts {
		for j := range counts {
			sends[r] = append(sends[r], uint64(counts[r][j]))
			recvs[r] = append(recvs[r], uint64(counts[j][r]))
		}
		_, s := prefix(sends[r])
		_, d := prefix(recvs[r])
		most = max(most, s*repeat, d*repeat)
	}
	// Each turn sends the next part of each block, so a block holds the parts of all turns.
	spread := func(counts []uint64) []uint64 {
		displs, _ := prefix(counts)
		for i := range displs {
			displs[i] *= uint64(repeat)
		}
		return displs
	}
	in, err := h.inputs(world, most)
	if err != nil {
		return err
	}
	sent := make([][]float64, world) // made once: every rank's result needs parts of all
	x, err := h.Vector("x", t.pes, most, func(rank int) []float64 {
		sent[rank] = in.Vector(rank, most)
		return sent[rank]
	})
	if err != nil {
		return err
	}
	y, err := h.Vector("y", t.pes, most, func(int) []float64 { return make([]float64, most) })
	if err != nil {
		return err
	}
	run, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		me := o.GetRankID()
		id := o.AlltoAllV(hccl.CommitNow, k.GM(0), sends[me], spread(sends[me]), t.typ, k.GM(1), recvs[me],
			spread(recvs[me]), t.typ, uint8(repeat))
		if steps > 0 {
			slices := make([]int, steps)
			for o.Iterate(hccl.Sources, id, slices) > 0 {
				k.PipeBarrier() // here a kernel would work on the data of the ranks in slices
			}
		}
		for range repeat {
			o.Wait(id)
		}
	}, x, y)
	if err != nil {
		return err
	}
	h.Measure(run)
	h.Report("all-to-all of uneven blocks of %v on %d ranks, %d turns, %s: %s", h.DType, world, repeat, h.alg(hccl.OpAlltoAllV), took(run))
	for d := range world {
		if err := y.Expect(fmt.Sprintf("blocks of rank %d", d), d, func() []float64 {
			v := make([]float64, most)
			for r, to := range spread(recvs[d]) {
				from := spread(sends[r])[d]
				copy(v[to:], sent[r][from:from+uint64(counts[r][d]*repeat)])
			}
			return v
		}); err != nil {
			return err
		}
	}
	return t.free(x, y)
}

// HcclAlltoAllV is the bench of hcclAlltoAllV.
var HcclAlltoAllV = Register(Program{
	Name:     "hccl_alltoallv",
	Summary:  "task API: all-to-all with uneven counts, in several turns, each whole or in steps by Iterate",
	Parallel: true,
	Chosen:   true,
	Ranks:    4,
	NElem:    64,
	Options: []Option{
		algOption(hccl.OpAlltoAllV), aivOption,
		{Name: "repeat", Kind: Number, Default: "2", Min: 1, Max: 255, Help: "turns of the task"},
		{Name: "step-size", Kind: Number, Default: "0", Min: 0, Max: 255,
			Help: "steps that one commit releases, with level1:pairwise (0: all steps of a turn)"},
	},
	Run: hcclAlltoAllV,
})
