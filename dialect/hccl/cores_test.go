package hccl_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kernbench/check/race"
	"kernbench/dialect/hccl"
	"kernbench/fault"
	"kernbench/kerneltest/hosttest"
	"kernbench/tl"
	"kernbench/unit"
)

// many are the devices of these tests, and the elements that they reduce.
const manyWorld, manyElems = 3, 48

// reduced runs a kernel on two buffers, the second of which it returns.
func (r *rig) reduced(cores hccl.Cores, kernel func(k *hccl.Kernel, at int)) (y *memory, err error) {
	r.Helper()
	f := &form{op: hccl.OpAllReduce, typ: hccl.FP32}
	g := r.on(first(manyWorld), hccl.Options{})
	x := r.spread(g.PEs(), manyElems, f.carrier(), f.input)
	y = r.spread(g.PEs(), manyElems, f.carrier(), constant(untouched))
	tiling, at := r.tiling(usual(hccl.OpAllReduce))
	l := hccl.Launch{
		Name: "cores", Cores: cores, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x.tensors, y.tensors),
		Kernel: func(k *hccl.Kernel) { kernel(k, at[0]) },
	}
	_, err = l.Run(context.Background())
	return y, err
}

// sums checks that a buffer holds a multiple of the sum of the initial contents of another one.
func (m *memory) sums(times float64) {
	m.r.Helper()
	f := &form{op: hccl.OpAllReduce, count: manyElems}
	in, want := make([][]float64, manyWorld), make([][]float64, manyWorld)
	for rank := range in {
		want[rank] = make([]float64, manyElems)
		for i := range manyElems {
			in[rank] = append(in[rank], times*f.input(rank, i))
		}
	}
	f.apply(0, in, want)
	m.holds("the sum", want)
}

// opened returns an object on the group with its tiling.
func opened(k *hccl.Kernel, c hccl.Config, at int) *hccl.Hccl {
	h := k.New(c)
	h.InitV2(k.HcclContext(0), k.Tiling())
	h.SetCcTilingV2(at)
	return h
}

func allReduce(k *hccl.Kernel, h *hccl.Hccl, release hccl.Release) hccl.Handle {
	return h.AllReduce(release, k.GM(0), k.GM(1), manyElems, hccl.FP32, hccl.ReduceSum, 1)
}

// All cores make the same calls, and the core that the object names posts. The others wait for it
// if it comes late, and for no other core.
func TestWhoPosts(t *testing.T) {
	const late = 5 * unit.Microsecond
	cores := hccl.Cores{AIC: 2, AIV: 3}
	for _, tt := range []struct {
		config hccl.Config
		typ    hccl.CoreType
		block  int
	}{
		{hccl.Config{Server: hccl.OnAIC}, hccl.AIC, 0},
		{hccl.Config{Server: hccl.OnAIC, Block: 1}, hccl.AIC, 1},
		{hccl.Config{Server: hccl.OnAIV}, hccl.AIV, 0},
		{hccl.Config{Server: hccl.OnAIV, Block: 2}, hccl.AIV, 2},
	} {
		for slow := range cores.AIC + cores.AIV {
			typ, block := hccl.AIC, slow
			if slow >= cores.AIC {
				typ, block = hccl.AIV, slow-cores.AIC
			}
			r := newRig(t, "sim")
			waited := map[string]unit.Time{} // of the cores that are not slow
			y, err := r.reduced(cores, func(k *hccl.Kernel, at int) {
				h := opened(k, tt.config, at)
				dally := k.CoreType() == typ && k.BlockIdx() == block
				for dally && tl.DriverOf(k.Context).Place("").Time < late {
					k.Fence()
				}
				if h.Wait(allReduce(k, h, hccl.CommitNow)) != hccl.Success {
					t.Errorf("block %d (%v) did not wait", k.BlockIdx(), k.CoreType())
				}
				if !dally {
					waited[fmt.Sprint(k.Rank(), k.CoreType(), k.BlockIdx())] = tl.DriverOf(k.Context).Place("").Time
				}
				k.SyncAll(hccl.AllCores)
				h.Finalize()
			})
			if err != nil {
				t.Fatal(err)
			}
			y.sums(1)
			if len(waited) != manyWorld*(cores.AIC+cores.AIV-1) {
				t.Errorf("%d cores have waited", len(waited))
			}
			posts := typ == tt.typ && block == tt.block
			for core, at := range waited {
				if (at >= late) != posts {
					t.Errorf("%+v, block %d (%v) comes at %v: %s has waited until %v", tt.config, block, typ, late, core, at)
				}
			}
		}
	}
}

// Vector cores compute parts of what is sent and use parts of what has come, one of them posts.
func TestPartsOfCores(t *testing.T) {
	parts := func(k *hccl.Kernel, at int) {
		if k.CoreType() == hccl.AIC {
			k.SyncAll(hccl.AllCores)
			return
		}
		mine := func(i int) tl.Ref { return k.Buffer(i).Chunk(k.BlockNum(), k.BlockIdx()) }
		h := opened(k, hccl.Config{Block: 1}, at)
		id := allReduce(k, h, hccl.CommitLater)
		x := k.Load(mine(0))
		k.Store(mine(0), k.Add(x, x))
		k.SyncAll(hccl.AIVOnly)
		h.Commit(id)
		h.Wait(id)
		y := k.Load(mine(1))
		k.Store(mine(1), k.Add(y, y))
		k.SyncAll(hccl.AllCores)
		h.Finalize()
	}
	for _, cores := range []hccl.Cores{{AIV: 2}, {AIC: 1, AIV: 3}, {AIC: 2, AIV: 2}} {
		for _, mode := range []runMode{{}, {seed: 1}, {seed: 2}, {timed: true}} {
			content(t, hosttest.Races(func(judge *race.Detector) {
				mode.judge = judge
				r := openRig(t, mode)
				y, err := r.reduced(cores, parts)
				if err != nil {
					t.Fatal(err)
				}
				y.sums(4)
			}))
		}
	}
}

// A core that waits after another one's Finalize waits forever; when it comes in time that was
// luck, and is reported all the same. With SyncAll between them neither can happen.
func TestFinalizeBeforeWait(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(40) {
		for _, meet := range []bool{false, true} {
			for _, timed := range []bool{false, true} {
				r := openRig(t, runMode{seed: seed, timed: timed})
				y, err := r.reduced(hccl.Cores{AIV: 2}, func(k *hccl.Kernel, at int) {
					h := opened(k, hccl.Config{}, at)
					id := allReduce(k, h, hccl.CommitNow)
					for range int(seed%2) * k.BlockIdx() * 300 { // which delays it
						h.Query(id)
					}
					h.Wait(id)
					if meet {
						k.SyncAll(hccl.AIVOnly)
					}
					h.Finalize()
				})
				dead, hangs := errors.AsType[*fault.Deadlock](err)
				switch {
				case meet && err == nil:
					y.sums(1)
				case meet:
					t.Fatalf("seed %d: %v", seed, err)
				case !isMisuse(err, hccl.FinalizeBeforeWait):
					t.Fatalf("seed %d, timed %v: %v", seed, timed, err)
				case hangs:
					ends[fmt.Sprint("hangs ", timed)]++
					if len(dead.Queues) != manyWorld || dead.Queues[0].State == "" || len(dead.Queues[0].Tasks) != 1 {
						t.Errorf("seed %d: queues %+v", seed, dead.Queues)
					}
				default:
					ends[fmt.Sprint("lucky ", timed)]++
					y.sums(1)
				}
			}
		}
		if seed > 1 && len(ends) == 4 {
			return
		}
	}
	t.Errorf("of 40 schedules these were seen: %v", ends)
}

// isMisuse reports whether an error names a broken rule.
func isMisuse(err error, r hccl.Rule) bool {
	m, ok := errors.AsType[*hccl.Misuse](err)
	return ok && m.Has(r)
}
