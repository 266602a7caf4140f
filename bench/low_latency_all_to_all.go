package bench

import (
	"context"
	"errors"
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// OverCapacity is a block that does not fit in its destination.
type OverCapacity struct {
	Call, From, To, Count, Capacity int
}

func (e *OverCapacity) Error() string {
	return fmt.Sprintf("call %d: rank %d has %d elements for rank %d, whose place for them holds %d (--capacity)",
		e.Call, e.From, e.Count, e.To, e.Capacity)
}

// lowLatencyAllToAll exchanges blocks of different sizes, as an expert-parallel layer sends tokens.
// Some ranks get nothing from others, some get as much as fits. There is one message per peer and
// no barrier; calls take turns with two buffers.
func lowLatencyAllToAll(ctx context.Context, h *Host) error {
	if h.NElem > 0 {
		return errors.New("blocks have up to --capacity elements: there is no number per rank to choose")
	}
	pes := h.Devices()
	x := exchange{
		world: len(pes), calls: h.Number("calls"), buffers: h.Number("buffers"), capacity: h.Number("capacity"), most: h.Number("most"),
	}
	if x.most == 0 {
		x.most = x.capacity
	}
	counts, err := x.counts(h.Word("counts"), h.Seed)
	if err != nil {
		return err
	}
	blocks := x.world * x.capacity // of a rank and a call
	team, err := h.Device.NewTeam("experts", pes)
	if err != nil {
		return err
	}
	boxes, err := h.Device.NewWindow("mailboxes", team, 0,
		mem.Buffer{Name: "arrived", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, x.buffers*x.world)}},
		mem.Buffer{Name: "blocks", Parts: []mem.Part{mem.DataPart("", h.DType, x.buffers*blocks)}})
	if err != nil {
		return err
	}
	inputs := Inputs{Seed: h.Seed, World: x.world, Type: h.DType, Op: tl.Max}
	in, err := h.Vector("blocks to send", pes, x.calls*blocks, func(rank int) []float64 { return inputs.Vector(rank, x.calls*blocks) })
	if err != nil {
		return err
	}
	out, err := h.Vector("blocks received", pes, x.calls*blocks, func(int) []float64 { return make([]float64, x.calls*blocks) })
	if err != nil {
		return err
	}
	args := []any{boxes, in.tensors, out.tensors, x.calls, x.buffers, x.capacity}
	elems := 0
	for _, n := range counts {
		args = append(args, n)
		elems += n
	}
	run, err := h.Device.LaunchTeam(ctx, "low_latency_all_to_all", exchangeKernel, team, args...)
	if err != nil {
		return err
	}
	if d := run.Result.Duration(); d > 0 {
		h.Report("%d calls, %d of %d × %v filled: %v, %v per call", x.calls, elems, x.calls*x.world*blocks, h.DType,
			d, d/unit.Time(x.calls))
	}
	for r := range pes {
		want := func() []float64 {
			v := make([]float64, x.calls*blocks)
			for call := range x.calls {
				for from := range x.world {
					n := counts[x.at(call, from, r)]
					for i := range n {
						v[call*blocks+from*x.capacity+i] = inputs.At(from, call*blocks+r*x.capacity+i)
					}
				}
			}
			return v
		}
		if err := out.Expect(fmt.Sprintf("blocks at rank %d", r), r, want); err != nil {
			return err
		}
	}
	return errors.Join(h.Device.FreeWindow(boxes), h.Device.FreeTeam(team), in.Free(), out.Free())
}

// exchange has the parameters that all calls share.
type exchange struct {
	world, calls, buffers, capacity, most int
}

// at returns the index of the count of a call for a pair of ranks.
func (x *exchange) at(call, from, to int) int { return (call*x.world+from)*x.world + to }

// counts returns the sizes of all blocks. Of random blocks a quarter is empty, and a quarter is as
// large as possible.
func (x *exchange) counts(how string, seed uint64) ([]int, error) {
	const most = 1 << 22
	if x.calls*x.world*x.world > most {
		return nil, fmt.Errorf("%d calls of %d ranks: more than %d blocks", x.calls, x.world, most)
	}
	n := make([]int, x.calls*x.world*x.world)
	for i := range n {
		random := mix(mix(seed+0x6c6c6132) + uint64(i))
		switch {
		case how == "full" || how == "random" && random%4 == 1:
			n[i] = x.most
		case how == "random" && random%4 > 1:
			n[i] = int(random >> 2 % uint64(x.most+1))
		}
		if n[i] > x.capacity {
			pair := i % (x.world * x.world)
			return nil, &OverCapacity{Call: i / (x.world * x.world), From: pair / x.world, To: pair % x.world,
				Count: n[i], Capacity: x.capacity}
		}
	}
	return n, nil
}

// exchangeKernel has the numbers calls, buffers, capacity, and the counts of all calls by sender
// and receiver. It reads its own row of the latter only. The signal holds the call and the count of
// a block in one word, so a block is one message.
//
// Two buffers are enough without a barrier. A rank that puts for call k+2 has the data that its
// peer sent in call k+1. The peer sent them after it had read the data of call k.
func exchangeKernel(c *tl.Context, a tl.Args) {
	x := exchange{world: c.WorldSize(), calls: a.Int(0), buffers: a.Int(1), capacity: a.Int(2)}
	counts, w, me := a.Ints[3:], a.Window(0), c.Rank()
	blocks, arrived := c.Data(w, "blocks"), c.Signals(w, "arrived")
	lists, all := len(a.Tensors)/2, x.calls*x.world*x.capacity
	in, out := part(c, a.Tensors[:lists], me, all), part(c, a.Tensors[lists:], me, all)
	place := func(r tl.Ref, call, rank, n int) tl.Ref { return r.Slice((call*x.world+rank)*x.capacity, n) }

	for call := range x.calls {
		buffer := call % x.buffers * x.world
		first := int64(call+1) * int64(x.capacity+1) // so counts of different calls differ
		for i := range x.world {
			to := (me + 1 + i) % x.world
			n := counts[x.at(call, me, to)]
			c.PutSignalNBI(blocks.Slice((buffer+me)*x.capacity, n), to, place(in, call, to, n), arrived.At(buffer+me),
				tl.SignalSet, first+int64(n))
		}
		for i := range x.world {
			from := (me + x.world - 1 - i) % x.world
			c.WaitUntil(arrived.At(buffer+from), tl.GE, first)
			n := int(c.LoadScalar(arrived.At(buffer+from)) % int64(x.capacity+1))
			c.Copy(place(out, call, from, n), c.Local(blocks.Slice((buffer+from)*x.capacity, n)))
		}
		c.PipeBarrier() // received data have been read before any rank is notified of the next call
	}
}

// LowLatencyAllToAll is an all-to-all of few bytes and counts that vary.
var LowLatencyAllToAll = Register(Program{
	Name:     "low_latency_all_to_all",
	Summary:  "all-to-all of blocks whose sizes vary: one put with signal per peer, two buffers that calls use in turn, no barrier",
	Parallel: true,
	Ranks:    4,
	DType:    dtype.F32,
	Options: []Option{
		{Name: "capacity", Kind: Number, Default: "64", Min: 1, Max: 1 << 24, Help: "elements that there is space for, from each rank"},
		{Name: "counts", Default: "random", Words: []string{"random", "zero", "full"},
			Help: "sizes of the blocks; random ones follow --seed"},
		{Name: "most", Kind: Number, Default: "0", Max: 1 << 24, Help: "elements of the largest block; 0: the capacity"},
		{Name: "calls", Kind: Number, Default: "4", Min: 1, Max: 1 << 20, Help: "exchanges, one right after the other"},
		{Name: "buffers", Kind: Number, Default: "2", Min: 1, Max: 2,
			Help: "buffers that calls use in turn; 1 shows why a second one is needed"},
	},
	Run: lowLatencyAllToAll,
})
