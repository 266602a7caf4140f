package tl

import (
	"reflect"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
)

// stream is a Core that keeps every instruction that it is given.
type stream struct{ all []Instr }

func (s *stream) Do(in *Instr) {
	if in.Op == OpRecv {
		in.GotPort, in.GotShape, in.GotType, in.GotN = max(0, in.Port), in.Shape, in.Type, in.N
	}
	s.all = append(s.all, *in)
}

// On a context that was another rank's, a kernel behaves as on a new one, and the context allocates
// no memory again.
func TestReset(t *testing.T) {
	window := func(pe int32) *mem.Window {
		layout, err := mem.NewLayout(0, []mem.Buffer{{Name: "b", Parts: []mem.Part{mem.SignalPart("words", mem.Int32, 4)}}})
		if err != nil {
			t.Fatal(err)
		}
		team, err := mem.NewTeam("team", []int32{pe})
		if err != nil {
			t.Fatal(err)
		}
		return mem.NewWindow("w", team, layout, 0)
	}
	setup := func(pe int, core Core, lines bool) Setup {
		return Setup{
			Core: core, Rank: pe, World: 9, PE: pe, PEsPerCube: 3, Scratch: 256, RecordLines: lines, CellCapacity: 4, Addrs: &mem.Map{},
			Wiring: &Wiring{Out: []OutPort{{Dir: East}}, In: []InPort{{Dir: West}, {Dir: North}}},
			Ring:   &Ring{Slots: 2, SlotBytes: 64, Strict: true},
		}
	}
	kernel := func(w *mem.Window) Kernel {
		return func(c *Context, _ Args) {
			at := Ref{mem.At(mem.HBM, c.pe, 64), Dims(16), dtype.U8}
			for range 20 {
				x := c.Load(at)
				c.Pin(c.Load(at.Slice(0, 2)))
				c.Send(East, c.Add(x, c.Recv(West, x.Shape(), x.DType())))
				c.Wait(c.RecvAsync(North, Dims(3), dtype.I32))
				c.Notify(c.Signals(w, "b.words").At(1), 0, SignalAdd, 1)
			}
		}
	}
	for name, lines := range map[string]bool{"plain": false, "with lines": true} {
		t.Run(name, func(t *testing.T) {
			used := NewContext(setup(1, &stream{}, lines))
			if _, err := used.run(func(c *Context, a Args) {
				DriverOf(c).BeginTurn(&Turn{ID: 1})
				kernel(window(1))(c, a)
				c.RecvAsync(West, Dims(1), dtype.F16)
				c.Load(Ref{})
			}, Args{}); err == nil {
				t.Fatal("the first kernel must end in a fault")
			}
			var got, want stream
			fresh := NewContext(setup(2, &want, lines))
			used.reset(setup(2, &got, lines))
			a, b := *used, *fresh
			for _, c := range []*Context{&a, &b} {
				c.core, c.wiring, c.ring, c.addrs, c.lines, c.cells, c.words = nil, nil, nil, nil, nil, nil, nil
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("after Reset: %+v\nnew: %+v", a, b)
			}
			for _, c := range []*Context{fresh, used} {
				if _, err := c.run(kernel(window(2)), Args{}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range want.all {
				x, y := got.all[i], want.all[i]
				if x.Side, y.Side = nil, nil; !reflect.DeepEqual(x, y) {
					t.Fatalf("instruction %d: %+v, on a new context %+v", i, x, y)
				}
			}
			if len(got.all) != len(want.all) {
				t.Errorf("%d instructions, on a new context %d", len(got.all), len(want.all))
			}
			s := setup(3, &got, lines)
			if n := testing.AllocsPerRun(10, func() { used.reset(s) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
