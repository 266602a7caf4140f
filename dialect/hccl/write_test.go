package hccl_test

import (
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/kerneltest/hosttest"
	"kernbench/mem"
	"kernbench/tl"
)

// A BatchWrite puts pieces into the windows of other ranks. They are there when a collective
// that is prepared after it has ended. Who only waits for the writes and then tells the
// receivers by a word of its own has sent them, and knows no more.
func TestBatchWrite(t *testing.T) {
	const world, n, gap = 4, 300, 10
	onEach(t, func(t *testing.T, r *rig) { r.batchWrite(world, n, gap, false) })
	for _, mode := range []runMode{{}, {seed: 4}, {timed: true}} {
		content(t, hosttest.Races(func(judge *race.Detector) {
			mode.judge = judge
			openRig(t, mode).batchWrite(world, n, gap, false)
		}))
	}
	for _, timed := range []bool{false, true} {
		rep := hosttest.Races(func(judge *race.Detector) {
			openRig(t, runMode{timed: timed, judge: judge}).batchWrite(world, n, gap, true)
		})
		if len(rep.Hazards) == 0 {
			t.Errorf("timed %v: a word after Wait orders what was sent only, and no hazard was found", timed)
		}
	}
}

// batchWrite lets each rank r send n elements to every rank d, to r*(n+gap) elements of its window.
// It sends the first element once more, to buffer "out".
func (r *rig) batchWrite(world, n, gap int, byWord bool) {
	r.Helper()
	pes := first(world)
	team, err := r.Device.NewTeam("window", pes)
	if err != nil {
		r.Fatal(err)
	}
	w, err := r.Device.NewWindow("box", team, 0,
		mem.Buffer{Name: "in", Parts: []mem.Part{mem.StagingPart("", dtype.F16, world*(n+gap))}},
		mem.Buffer{Name: "out", Parts: []mem.Part{mem.StagingPart("", dtype.F16, world)}},
		mem.Buffer{Name: "came", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 1)}})
	if err != nil {
		r.Fatal(err)
	}
	g := r.on(pes, hccl.Options{Window: w})
	value := func(rank, i int) float64 { return float64((400*rank + i) % 1999) }
	x := r.spread(pes, world*n, dtype.F16, value)
	got, firsts := r.spread(pes, world*n, dtype.F16, constant(untouched)), r.spread(pes, world, dtype.F16, constant(untouched))
	one := r.spread(pes, 1, dtype.F16, constant(1))
	r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
		me, size := h.GetRankID(), mem.Addr(2)
		var items []hccl.BatchItem
		for d := range h.GetRankDim() {
			src := k.GM(0) + mem.Addr(d*n)*size
			items = append(items,
				hccl.BatchItem{Dst: h.GetWindowsInAddr(d) + mem.Addr(me*(n+gap))*size, Src: src, Count: uint64(n), DataType: hccl.FP16},
				hccl.BatchItem{Dst: h.GetWindowsOutAddr(d) + mem.Addr(me)*size, Src: src, Count: 1, DataType: hccl.FP16})
		}
		if id := h.BatchWrite(items); h.Wait(id) != hccl.Success {
			r.Errorf("rank %d: the list was not sent", me)
		}
		if byWord {
			came := k.Signals(w, "came")
			for d := range h.GetRankDim() {
				k.Notify(came, d, tl.SignalAdd, 1)
			}
			k.WaitUntil(came, tl.GE, int64(world))
		} else {
			h.Wait(h.AllReduce(hccl.CommitNow, k.GM(3), k.GM(3), 1, hccl.FP16, hccl.ReduceMax, 1))
		}
		for s := range world {
			from := tl.Ref{Addr: h.GetWindowsInAddr(me) + mem.Addr(s*(n+gap))*size, Shape: tl.Dims(n), DType: dtype.F16}
			k.Copy(k.Buffer(1).Chunk(world, s), from)
		}
		k.Copy(k.Buffer(2), tl.Ref{Addr: h.GetWindowsOutAddr(me), Shape: tl.Dims(world), DType: dtype.F16})
		h.Finalize()
	}, []*memory{x, got, firsts, one}, usual(hccl.OpBatchWrite), usual(hccl.OpAllReduce)))
	want, wantFirst := make([][]float64, world), make([][]float64, world)
	for d := range world {
		for s := range world {
			for i := range n {
				want[d] = append(want[d], value(s, d*n+i))
			}
			wantFirst[d] = append(wantFirst[d], value(s, d*n))
		}
	}
	got.holds("blocks", want)
	firsts.holds("first elements", wantFirst)
	if all := len(r.Judged); all != 0 && (byWord || all != 1) {
		r.Errorf("judged were %v: lists of writes are no collective", r.judged())
	}
}

// A list longer than what passes through the engine at a time, of any type.
func TestLongWrites(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		const n = 40_000
		for _, typ := range []hccl.DataType{hccl.FP8E4M3, hccl.FP64} {
			carrier, _ := typ.Carrier()
			g, err := hccl.NewComm(r.Device, "world", first(1), hccl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			x := r.spread(first(1), n, carrier, func(_, i int) float64 { return float64(i % 251) })
			y := r.spread(first(1), n, carrier, constant(0))
			r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
				h.BatchWrite([]hccl.BatchItem{{Dst: k.GM(1), Src: k.GM(0), Count: n, DataType: typ}})
				h.Finalize()
			}, []*memory{x, y}, usual(hccl.OpBatchWrite)))
			y.holds(typ.String(), [][]float64{slices.Concat(x.read()...)})
			if err := g.Free(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Only ranks with data to send write, so the next handle of the other ranks is another one.
func TestBatchWriteOfOneRank(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		pes := first(3)
		x, y := r.spread(pes, 20, dtype.F32, func(rank, i int) float64 { return float64(100*rank + i) }),
			r.spread(pes, 20, dtype.F32, constant(untouched))
		r.run(r.launch(r.on(pes, hccl.Options{}), hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
			if h.GetRankID() == 1 {
				h.Wait(h.BatchWrite([]hccl.BatchItem{{Dst: k.GM(1) + 40, Src: k.GM(0), Count: 10, DataType: hccl.FP32}}))
			}
			h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), 10, hccl.FP32, hccl.ReduceMax, 1)
			h.Finalize()
		}, []*memory{x, y}, usual(hccl.OpBatchWrite), usual(hccl.OpAllReduce)))
		for rank, got := range y.read() {
			want := slices.Repeat([]float64{untouched}, 20)
			for i := range 10 {
				want[i] = float64(200 + i)
				if rank == 1 {
					want[10+i] = float64(100 + i)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("rank %d has %v, not %v", rank, got, want)
			}
		}
	})
}
