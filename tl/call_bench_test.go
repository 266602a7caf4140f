package tl

import (
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
)

// BenchmarkCall measures the cost of a kernel's calls alone, on a Core that does nothing.
func BenchmarkCall(b *testing.B) {
	at := Ref{mem.At(mem.HBM, 3, 4096), Dims(64), dtype.F16}
	for _, bench := range []struct {
		name string
		call func(c *Context, x, y Tensor)
	}{
		{"load and free", func(c *Context, _, _ Tensor) { c.Free(c.Load(at)) }},
		{"store", func(c *Context, x, _ Tensor) { c.Store(at, x) }},
		{"send", func(c *Context, x, _ Tensor) { c.Send(East, x) }},
		{"recv", func(c *Context, _, _ Tensor) { c.Recv(West, at.Shape, at.DType) }},
		{"add and free", func(c *Context, x, y Tensor) { c.Free(c.Add(x, y)) }},
		{"chunk", func(c *Context, _, _ Tensor) { at.Chunk(7, 3) }},
		{"fence", func(c *Context, _, _ Tensor) { c.Fence() }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c := NewContext(Setup{
				Core: nothing{}, Rank: 3, World: 9, PE: 3, Scratch: 1 << 20, Addrs: &mem.Map{},
				Wiring: &Wiring{Out: []OutPort{{Dir: East}}, In: []InPort{{Dir: West}}},
				Ring:   &Ring{Slots: 4, SlotBytes: 4096, Strict: true},
			})
			if _, err := c.run(func(c *Context, _ Args) {
				x, y := c.Load(at), c.Load(at)
				for b.Loop() {
					bench.call(c, x, y)
				}
			}, Args{}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// nothing is a Core on which everything is done at once.
type nothing struct{}

func (nothing) Do(in *Instr) {
	if in.Op == OpRecv {
		in.GotPort, in.GotShape, in.GotType, in.GotN = max(0, in.Port), in.Shape, in.Type, in.N
	}
}
