package hccl_test

import (
	"fmt"
	"slices"

	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/mem"
)

// form is a task as it is prepared on all ranks, with its effect by the documents.
type form struct {
	op                    hccl.OpType
	count, stride, repeat int
	typ                   hccl.DataType
	reduce                hccl.ReduceOp

	// Of AlltoAllV, by rank.
	sendCounts, sendAt, recvCounts, recvAt [][]uint64
}

// prepare makes the call.
func (f *form) prepare(h *hccl.Hccl, release hccl.Release, send, recv mem.Addr) hccl.Handle {
	count, stride, repeat := uint64(f.count), uint64(f.stride), uint8(f.repeat)
	switch f.op {
	case hccl.OpAllReduce:
		return h.AllReduce(release, send, recv, count, f.typ, f.reduce, repeat)
	case hccl.OpAllGather:
		return h.AllGather(release, send, recv, count, f.typ, stride, repeat)
	case hccl.OpReduceScatter:
		return h.ReduceScatter(release, send, recv, count, f.typ, f.reduce, stride, repeat)
	case hccl.OpAlltoAll:
		return h.AlltoAll(release, send, recv, count, f.typ, stride, repeat)
	}
	me := h.GetRankID()
	return h.AlltoAllV(release, send, f.sendCounts[me], f.sendAt[me], f.typ, recv, f.recvCounts[me], f.recvAt[me], f.typ, repeat)
}

// pitch returns the distance of two blocks.
func (f *form) pitch() int {
	if f.stride > 0 {
		return f.stride
	}
	return f.count
}

// apply performs a turn on what the buffers of all ranks hold, which may be the same ones.
func (f *form) apply(turn int, send, recv [][]float64) {
	in := make([][]float64, len(send))
	for r := range send {
		in[r] = slices.Clone(send[r])
	}
	first, pitch := turn*f.count, f.pitch()
	for me := range recv {
		switch f.op {
		case hccl.OpAllReduce:
			for i := first; i < first+f.count; i++ {
				recv[me][i] = f.combined(in, i)
			}
		case hccl.OpReduceScatter:
			for i := range f.count {
				recv[me][first+i] = f.combined(in, me*pitch+first+i)
			}
		case hccl.OpAllGather:
			for j := range in {
				copy(recv[me][j*pitch+first:], in[j][first:first+f.count])
			}
		case hccl.OpAlltoAll:
			for j := range in {
				copy(recv[me][j*pitch+first:], in[j][me*pitch+first:me*pitch+first+f.count])
			}
		case hccl.OpAlltoAllV:
			for j := range in {
				n := int(f.recvCounts[me][j])
				from := int(f.sendAt[j][me]) + turn*int(f.sendCounts[j][me])
				copy(recv[me][int(f.recvAt[me][j])+turn*n:], in[j][from:from+n])
			}
		}
	}
}

// combined returns what element i of all contributions comes to.
func (f *form) combined(in [][]float64, i int) float64 {
	v := in[0][i]
	for r := 1; r < len(in); r++ {
		switch x := in[r][i]; f.reduce {
		case hccl.ReduceMax:
			v = max(v, x)
		case hccl.ReduceMin:
			v = min(v, x)
		default:
			v += x
		}
	}
	return v
}

// extent returns how many elements the buffers of a task need.
func (f *form) extent(world int) (send, recv int) {
	turns := f.count * f.repeat
	blocks := (world-1)*f.pitch() + turns
	switch f.op {
	case hccl.OpAllReduce:
		return turns, turns
	case hccl.OpAllGather:
		return turns, blocks
	case hccl.OpReduceScatter:
		return blocks, turns
	case hccl.OpAlltoAll:
		return blocks, blocks
	}
	reach := func(counts, at [][]uint64) int {
		n := uint64(1)
		for r := range counts {
			for j := range counts[r] {
				n = max(n, at[r][j]+counts[r][j]*uint64(f.repeat))
			}
		}
		return int(n)
	}
	return reach(f.sendCounts, f.sendAt), reach(f.recvCounts, f.recvAt)
}

// untouched is the initial value of result buffers. No input and no sum has this value.
const untouched = 111

// input returns what a rank sends: small enough that sums of a few are exact in every type.
func (f *form) input(rank, i int) float64 {
	if f.op.Reduces() {
		return float64((i*7+rank*31)%21 - 10)
	}
	return float64((i*7 + rank*31) % 101)
}

// carrier returns the type of the elements in memory.
func (f *form) carrier() dtype.Type {
	t, _ := f.typ.Carrier()
	return t
}

// memory is a buffer with a part for each of some PEs, by rank.
type memory struct {
	r       *rig
	pes     []int32
	tensors []*device.Tensor
	shards  []shard
}

// shard is the part of a PE.
type shard struct {
	of *device.Tensor
	at device.Shard
}

// spread makes such a buffer of n elements on each PE. fill returns their values.
func (r *rig) spread(pes []int32, n int, t dtype.Type, fill func(rank, i int) float64) *memory {
	r.Helper()
	m := &memory{r: r, pes: pes, shards: make([]shard, len(pes))}
	perSIP := r.Device.Machine().NumPEs() / r.Device.Machine().SIPs()
	for sip := range r.Device.Machine().SIPs() {
		var here []int32
		for _, p := range slices.Sorted(slices.Values(pes)) {
			if int(p)/perSIP == sip {
				here = append(here, p)
			}
		}
		if here == nil {
			continue
		}
		if err := r.Device.SetDevice(sip); err != nil {
			r.Fatal(err)
		}
		x, err := r.Device.EmptyOn(here, n, t)
		if err != nil {
			r.Fatal(err)
		}
		var values []float64
		for _, s := range x.Shards() {
			rank := slices.Index(pes, int32(s.Rank))
			m.shards[rank] = shard{x, s}
			for i := range n {
				values = append(values, fill(rank, i))
			}
		}
		if err := x.CopyIn(values); err != nil {
			r.Fatal(err)
		}
		m.tensors = append(m.tensors, x)
	}
	return m
}

// read returns what each rank's part holds.
func (m *memory) read() [][]float64 {
	m.r.Helper()
	all := make([][]float64, len(m.shards))
	for rank, s := range m.shards {
		data, err := s.of.ReadShard(s.at)
		if err != nil {
			m.r.Fatal(err)
		}
		t := s.of.DType()
		for i := range len(data) / t.Size() {
			all[rank] = append(all[rank], dtype.At(t, data, i))
		}
	}
	return all
}

// holds checks what each rank's part holds.
func (m *memory) holds(what string, want [][]float64) {
	m.r.Helper()
	for rank, got := range m.read() {
		for i, v := range got {
			if v != want[rank][i] {
				m.r.Fatalf("%s: rank %d element %d is %v, not %v", what, rank, i, v, want[rank][i])
			}
		}
	}
}

// constant fills a buffer.
func constant(v float64) func(rank, i int) float64 { return func(int, int) float64 { return v } }

// on makes a group of PEs. The first one has rank 0.
func (r *rig) on(pes []int32, o hccl.Options) *hccl.Comm {
	r.Helper()
	g, err := hccl.NewComm(r.Device, "world", pes, o)
	if err != nil {
		r.Fatal(err)
	}
	return g
}

// launch is one of a kernel whose cores have an object of the group that knows all tilings.
func (r *rig) launch(g *hccl.Comm, cores hccl.Cores, body func(k *hccl.Kernel, h *hccl.Hccl), buffers []*memory,
	ccs ...*hccl.CcTiling) hccl.Launch {
	r.Helper()
	tiling, at := r.tiling(ccs...)
	l := hccl.Launch{Name: "kernel", Cores: cores, Comms: []*hccl.Comm{g}, Tiling: tiling, Kernel: func(k *hccl.Kernel) {
		h := k.New(hccl.Config{Server: hccl.OnAIV})
		h.InitV2(k.HcclContext(0), k.Tiling())
		for _, offset := range at {
			h.SetCcTilingV2(offset)
		}
		body(k, h)
	}}
	for _, m := range buffers {
		l.Buffers = append(l.Buffers, m.tensors)
	}
	return l
}

// usual returns the tiling of an operation with its usual algorithm.
func usual(op hccl.OpType) *hccl.CcTiling {
	return hccl.NewCcTiling("world", op, hccl.DefaultAlgConfig(op))
}

// first returns the first PEs.
func first(n int) []int32 {
	pes := make([]int32, n)
	for i := range pes {
		pes[i] = int32(i)
	}
	return pes
}

func (f *form) String() string {
	return fmt.Sprintf("%v count %d stride %d repeat %d %v %v", f.op, f.count, f.stride, f.repeat, f.typ, f.reduce)
}
