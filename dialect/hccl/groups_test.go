package hccl_test

import (
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/kerneltest/hosttest"
	"kernbench/mem"
	"kernbench/unit"
)

// pair is two groups of a launch.
type pair struct {
	r       *rig
	comms   []*hccl.Comm
	at      [2][]int // offsets of tilings
	tiling  *hccl.Tiling
	buffers []*memory
	all     []int32 // members of both
}

// pairOf makes groups of these PEs, with tilings for an operation each, and buffers of n elements
// on all of them. The groups send the first two buffers.
func (r *rig) pairOf(a, b []int32, ops [2]hccl.OpType, n, buffers int) *pair {
	r.Helper()
	p := &pair{r: r, all: slices.Clone(a)}
	for _, pe := range b {
		if !slices.Contains(p.all, pe) {
			p.all = append(p.all, pe)
		}
	}
	p.tiling = hccl.NewTiling()
	p.tiling.AddInit()
	for i, pes := range [][]int32{a, b} {
		name := []string{"first", "second"}[i]
		g, err := hccl.NewComm(r.Device, name, pes, hccl.Options{})
		if err != nil {
			r.Fatal(err)
		}
		p.comms = append(p.comms, g)
		for _, op := range ops {
			at, _ := p.tiling.AddCc(hccl.NewCcTiling(name, op, hccl.DefaultAlgConfig(op)))
			p.at[i] = append(p.at[i], at)
		}
	}
	if err := p.tiling.Err(); err != nil {
		r.Fatal(err)
	}
	for i := range buffers {
		fill := constant(untouched)
		if i < 2 {
			fill = func(rank, at int) float64 { return float64(1000*int(p.all[rank]) + 500*i + at) }
		}
		p.buffers = append(p.buffers, r.spread(p.all, n, dtype.F32, fill))
	}
	return p
}

// launch returns one of a kernel that gets the objects of the groups that it is in.
func (p *pair) launch(body func(k *hccl.Kernel, h [2]*hccl.Hccl)) hccl.Launch {
	l := hccl.Launch{Name: "pair", Cores: hccl.Cores{AIV: 1}, Comms: p.comms, Tiling: p.tiling, Kernel: func(k *hccl.Kernel) {
		var h [2]*hccl.Hccl
		for i, g := range p.comms {
			if !slices.Contains(g.PEs(), p.all[k.Rank()]) {
				continue
			}
			h[i] = k.New(hccl.Config{})
			h[i].InitV2(k.HcclContext(i), k.Tiling())
			for _, at := range p.at[i] {
				h[i].SetCcTilingV2(at)
			}
		}
		body(k, h)
	}}
	for _, m := range p.buffers {
		l.Buffers = append(l.Buffers, m.tensors)
	}
	return l
}

// of returns what a buffer holds on the members of a group, by rank in it.
func (p *pair) of(group, buffer int) [][]float64 {
	values := p.buffers[buffer].read()
	var all [][]float64
	for _, pe := range p.comms[group].PEs() {
		all = append(all, values[slices.Index(p.all, pe)])
	}
	return all
}

// check compares what a task of a group has put into a buffer.
func (p *pair) check(f *form, group, from, to int) {
	p.r.Helper()
	got := p.of(group, to)
	want := make([][]float64, len(got))
	for i := range want {
		want[i] = slices.Repeat([]float64{untouched}, len(got[i]))
	}
	f.apply(0, p.of(group, from), want)
	for rank := range got {
		if !slices.Equal(got[rank], want[rank]) {
			p.r.Errorf("group %d rank %d: %v, not %v", group, rank, got[rank], want[rank])
		}
	}
}

var gatherAndReduce = [2]hccl.OpType{hccl.OpAllGather, hccl.OpAllReduce}

// Groups that share members, in which these have other ranks, each have their own results.
func TestOverlappingGroups(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		p := r.pairOf([]int32{0, 1, 2, 3}, []int32{9, 3, 1}, gatherAndReduce, 20, 5)
		gather := &form{op: hccl.OpAllGather, count: 5, repeat: 1, typ: hccl.FP32}
		reduce := &form{op: hccl.OpAllReduce, count: 20, repeat: 1, typ: hccl.FP32}
		out := r.run(p.launch(func(k *hccl.Kernel, h [2]*hccl.Hccl) {
			for i, o := range h {
				if o == nil {
					continue
				}
				gather.prepare(o, hccl.CommitNow, k.GM(i), k.GM(2+i))
				if i == 1 {
					reduce.prepare(o, hccl.CommitNow, k.GM(1), k.GM(4))
				}
			}
			for _, o := range h {
				if o != nil {
					o.Finalize()
				}
			}
		}))
		p.check(gather, 0, 0, 2)
		p.check(gather, 1, 1, 3)
		p.check(reduce, 1, 1, 4)
		r.titles("AllGather handle 0 turn 0 of group first", "AllGather handle 0 turn 0 of group second",
			"AllReduce handle 1 turn 0 of group second")
		if len(out.Warnings) > 0 {
			t.Errorf("warnings %v", out.Warnings)
		}
	})
}

// chained returns a task of the second group that reads what one of the first writes.
func chained(sync bool) func(k *hccl.Kernel, h [2]*hccl.Hccl) {
	return func(k *hccl.Kernel, h [2]*hccl.Hccl) {
		gather := func(o *hccl.Hccl, release hccl.Release, from, to mem.Addr) hccl.Handle {
			return o.AllGather(release, from, to, 5, hccl.FP32, 0, 1)
		}
		other := gather(h[0], hccl.CommitNow, k.GM(0), k.GM(4)) // so that the handle is not 0
		id := other + 1
		if sync && h[1].InterHcclGroupSync(0, id) != hccl.Success { // before there is that task
			panic("refused")
		}
		h[1].AllReduce(hccl.CommitNow, k.GM(2), k.GM(3), 20, hccl.FP32, hccl.ReduceSum, 1)
		for range 100 {
			k.Fence() // meanwhile the second group could go on
		}
		h[0].Commit(gather(h[0], hccl.CommitLater, k.GM(0), k.GM(2)))
		h[0].Finalize()
		h[1].Finalize()
	}
}

func TestInterHcclGroupSync(t *testing.T) {
	a, b := []int32{0, 1, 2, 3}, []int32{2, 3, 0, 1}
	onEach(t, func(t *testing.T, r *rig) {
		p := r.pairOf(a, b, gatherAndReduce, 20, 5)
		r.run(p.launch(chained(true)))
		p.check(&form{op: hccl.OpAllGather, count: 5, typ: hccl.FP32}, 0, 0, 2)
		p.check(&form{op: hccl.OpAllReduce, count: 20, typ: hccl.FP32}, 1, 2, 3)
	})
	for _, sync := range []bool{true, false} {
		for _, mode := range []runMode{{bare: true}, {bare: true, seed: 3}, {bare: true, timed: true}} {
			rep := hosttest.Races(func(judge *race.Detector) {
				mode.judge = judge
				r := openRig(t, mode)
				r.run(r.pairOf(a, b, gatherAndReduce, 20, 5).launch(chained(sync)))
			})
			if sync {
				content(t, rep)
			} else if got := found(rep); !slices.Equal(got, []string{"read of a task, write of a task"}) {
				t.Errorf("without InterHcclGroupSync: %q", got)
			}
		}
	}
}

// Who is in one of the groups only waits for no other, and has other handles.
func TestInterHcclGroupSyncOfSome(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		p := r.pairOf([]int32{0, 1, 2, 3}, []int32{2, 3, 9}, gatherAndReduce, 20, 4)
		r.run(p.launch(func(k *hccl.Kernel, h [2]*hccl.Hccl) {
			if h[1] != nil {
				h[1].AllGather(hccl.CommitNow, k.GM(1), k.GM(2), 5, hccl.FP32, 0, 1)
				if h[0] != nil && h[0].InterHcclGroupSync(1, 0) != hccl.Success {
					panic("refused")
				}
			}
			if h[0] != nil {
				id := h[0].AllReduce(hccl.CommitNow, k.GM(0), k.GM(3), 20, hccl.FP32, hccl.ReduceSum, 1)
				if want := hccl.Handle(h[0].GetRankID() / 2); id != want {
					panic("not the next handle")
				}
				h[0].Finalize()
			}
			if h[1] != nil {
				h[1].Finalize()
			}
		}))
		p.check(&form{op: hccl.OpAllGather, count: 5, typ: hccl.FP32}, 1, 1, 2)
		p.check(&form{op: hccl.OpAllReduce, count: 20, typ: hccl.FP32}, 0, 0, 3)
		if len(r.Judged) != 2 {
			t.Errorf("judged %v", r.judged())
		}
	})
}

// Two groups may send the same buffer at the same time.
func TestGroupsShareABuffer(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		p := r.pairOf([]int32{0, 1, 2, 3}, []int32{3, 2, 9}, gatherAndReduce, 300, 4)
		reduce := &form{op: hccl.OpAllReduce, count: 300, repeat: 1, typ: hccl.FP32}
		r.run(p.launch(func(k *hccl.Kernel, h [2]*hccl.Hccl) {
			for i, o := range h {
				if o != nil {
					reduce.prepare(o, hccl.CommitNow, k.GM(0), k.GM(2+i))
				}
			}
			for _, o := range h {
				if o != nil {
					o.Finalize()
				}
			}
		}))
		p.check(reduce, 0, 0, 2)
		p.check(reduce, 1, 0, 3)
	})
}

// Tasks of two groups go side by side: together they take less than one after the other, and
// no less than the longer one.
func TestGroupsOverlapInTime(t *testing.T) {
	for _, members := range [][]int32{{0, 1, 2, 3}, {2, 3, 4, 5}, {4, 5, 6, 7}} {
		took := func(groups ...int) unit.Time {
			r := newRig(t, "sim")
			p := r.pairOf([]int32{0, 1, 2, 3}, members, gatherAndReduce, 4000, 4)
			return r.run(p.launch(func(k *hccl.Kernel, h [2]*hccl.Hccl) {
				for _, i := range groups {
					if h[i] != nil {
						h[i].AllReduce(hccl.CommitNow, k.GM(0), k.GM(2+i), 4000, hccl.FP32, hccl.ReduceSum, 1)
					}
				}
				for _, o := range h {
					if o != nil {
						o.Finalize()
					}
				}
			})).Launched.Result.Duration()
		}
		one, two, both := took(0), took(1), took(0, 1)
		if both < max(one, two) || both >= one+two {
			t.Errorf("%v: the groups take %v and %v, together %v", members, one, two, both)
		}
	}
}

// Contributions to collectives of groups of any sizes are known by numbers of their own.
func TestLabelsOfGroups(t *testing.T) {
	r := newRig(t, "sim")
	p := r.pairOf([]int32{0, 1, 2, 3, 4, 5, 6}, []int32{8, 9, 10}, [2]hccl.OpType{hccl.OpAllReduce, hccl.OpAllGather}, 300, 4)
	r.run(p.launch(func(k *hccl.Kernel, h [2]*hccl.Hccl) {
		for i := range h {
			if h[i] != nil {
				h[i].AllReduce(hccl.CommitNow, k.GM(2*i), k.GM(2*i+1), 10, hccl.FP32, hccl.ReduceSum, 5)
				h[i].Finalize()
			}
		}
	}))
	if len(r.Judged) != 10 {
		t.Fatalf("%d collectives were judged, not 10", len(r.Judged))
	}
	seen := map[int]string{}
	for _, c := range r.Judged {
		call := c.Groups[0].Call
		for rank := range call.World {
			label := call.Labels.At(rank)
			if other, taken := seen[label]; taken {
				t.Errorf("label %d is of rank %d of %s, and of %s", label, rank, c.Title, other)
			}
			seen[label] = c.Title
		}
	}
}
