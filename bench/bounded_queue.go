package bench

import (
	"context"
	"errors"
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// boundedQueue returns a producer and a consumer over a queue of a few slots. Every rank puts its
// items into the queue of the next rank when a slot is free. It takes the items that the previous
// rank has put into its own queue.
func boundedQueue(ctx context.Context, h *Host) error {
	if h.NElem > 0 {
		return errors.New("items have --item-elems elements: there is no number per rank to choose")
	}
	items, slots, size := h.Number("items"), h.Number("slots"), h.Number("item-elems")
	pes := h.Devices()
	team, err := h.Device.NewTeam("queues", pes)
	if err != nil {
		return err
	}
	queue, err := h.Device.NewWindow("queue", team, 0,
		mem.Buffer{Name: "full", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, slots)}},
		mem.Buffer{Name: "empty", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, slots)}},
		mem.Buffer{Name: "items", Parts: []mem.Part{mem.DataPart("", h.DType, slots*size)}})
	if err != nil {
		return err
	}
	inputs := Inputs{Seed: h.Seed, World: len(pes), Type: h.DType, Op: tl.Max}
	in, err := h.Vector("items to send", pes, items*size, func(rank int) []float64 { return inputs.Vector(rank, items*size) })
	if err != nil {
		return err
	}
	out, err := h.Vector("items received", pes, items*size, nil)
	if err != nil {
		return err
	}
	run, err := h.Device.LaunchTeam(ctx, "bounded_queue", queueKernel, team, queue, in.tensors, out.tensors, items, slots, size)
	if err != nil {
		return err
	}
	if d := run.Result.Duration(); d > 0 {
		bytes := int64(items*size) * int64(h.DType.Size())
		h.Report("%d items of %d × %v to the next rank through %d slots: %v, %.4g GB/s per rank", items, size,
			h.DType, slots, d, float64(bytes)/d.Ns())
	}
	for r := range pes {
		before := (r + len(pes) - 1) % len(pes)
		want := func() []float64 { return inputs.Vector(before, items*size) }
		if err := out.Expect(fmt.Sprintf("items at rank %d", r), r, want); err != nil {
			return err
		}
	}
	return errors.Join(h.Device.FreeWindow(queue), h.Device.FreeTeam(team), in.Free(), out.Free())
}

// queueKernel alternates between producing for the next rank and consuming from the previous one.
// It is ahead by as many items as there are slots. Its numbers are items, slots and elements per
// item.
//
// A slot has two words that count together. The consumer's word is 2q+1 when the slot holds its
// q-th item. The producer's word is 2q when q items were taken out of it. Each only grows, so that
// one run proves the queue for every timing.
func queueKernel(c *tl.Context, a tl.Args) {
	items, slots, size := a.Int(0), a.Int(1), a.Int(2)
	w, me, n := a.Window(0), c.Rank(), c.WorldSize()
	next, before := (me+1)%n, (me+n-1)%n
	queue, full, empty := c.Data(w, "items"), c.Signals(w, "full"), c.Signals(w, "empty")
	lists := len(a.Tensors) / 2
	in, out := part(c, a.Tensors[:lists], me, items*size), part(c, a.Tensors[lists:], me, items*size)

	produce := func(i int) {
		slot, q := i%slots, int64(i/slots)
		c.WaitUntil(empty.At(slot), tl.GE, 2*q)
		c.PutSignal(queue.Slice(slot*size, size), next, in.Slice(i*size, size), full.At(slot), tl.SignalAdd, min(q, 1)+1)
	}
	consume := func(i int) {
		slot, q := i%slots, int64(i/slots)
		c.WaitUntil(full.At(slot), tl.GE, 2*q+1)
		c.Copy(out.Slice(i*size, size), c.Local(queue.Slice(slot*size, size)))
		c.PipeBarrier() // the item has been read before its slot is marked empty
		c.Notify(empty.At(slot), before, tl.SignalAdd, 2)
	}
	for i := range items + slots {
		if i >= slots && i-slots < items {
			consume(i - slots)
		}
		if i < items {
			produce(i)
		}
	}
}

// BoundedQueue is a producer and a consumer.
var BoundedQueue = Register(Program{
	Name:     "bounded_queue",
	Summary:  "producer and consumer: items go to the next rank through a queue of a few slots in symmetric memory",
	Parallel: true,
	Ranks:    4,
	DType:    dtype.F32,
	Options: []Option{
		{Name: "items", Kind: Number, Default: "64", Min: 1, Max: 1 << 20, Help: "items that each rank sends"},
		{Name: "slots", Kind: Number, Default: "8", Min: 1, Max: 1 << 16, Help: "slots of a queue"},
		{Name: "item-elems", Kind: Number, Default: "128", Min: 1, Max: 1 << 24, Help: "elements of an item"},
	},
	Run: boundedQueue,
})
