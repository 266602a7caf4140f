package tl

import (
	"errors"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// recorder is a Core that gives every result a value and remembers which are alive.
type recorder struct {
	c     *Context
	next  Value
	alive map[Value]bool
	last  Instr
}

func (r *recorder) Do(in *Instr) {
	r.last = *in
	switch in.Op {
	case OpDrop:
		delete(r.alive, DriverOf(r.c).Cell(in.A).Value)
	case OpLoad, OpMath, OpGemm:
		if in.Piece == 0 {
			r.next++
			r.alive[r.next] = true
			DriverOf(r.c).Cell(in.Dst).Value = r.next
		}
	}
}

func newTestContext(scratch int64) (*Context, *recorder) {
	r := &recorder{alive: map[Value]bool{}}
	c := NewContext(Setup{
		Core: r, World: 1, Wiring: &Wiring{}, Ring: &Ring{Slots: 2, SlotBytes: 64, Strict: true},
		Addrs: &mem.Map{}, Scratch: unit.Bytes(scratch),
	})
	r.c = c
	return c, r
}

// try runs one operation and returns its fault.
func try(c *Context, f func()) error {
	c.failed = nil
	c.seen.Calls++ // the operands of an instruction that failed are not in use any more
	_, err := c.run(func(*Context, Args) { f() }, Args{})
	return err
}

// blocks checks that the blocks of scratch are in order, apart and within its size.
func (c *Context) blocks(t *rapid.T) (n int) {
	end, prev := int64(0), None
	for i := c.scratch.first; i != None; i = c.cells[i].next {
		b := &c.cells[i]
		if b.lo < end || b.n < 1 || b.lo+b.n > c.scratch.size || b.prev != prev || b.state != cellScratch {
			t.Fatalf("block %d at %d+%d after one that ends at %d", i, b.lo, b.n, end)
		}
		end, prev = b.lo+b.n, i
		n++
	}
	if c.scratch.last != prev {
		t.Fatalf("last block is %d, not %d", c.scratch.last, prev)
	}
	return n
}

// A kernel makes, uses, frees and pins at random. Blocks never overlap, and an instruction never
// loses its operands to its result. A live tensor keeps its value, and a pinned one stays. A use of
// a lost one is a fault with the reason.
func TestScratchAgainstModel(t *testing.T) {
	type held struct {
		t      Tensor
		value  Value
		pinned bool
	}
	rapid.Check(t, func(t *rapid.T) {
		size := int64(rapid.SampledFrom([]int{16, 64, 256, 1024}).Draw(t, "scratch"))
		c, r := newTestContext(size)
		var all []*held
		pinned := int64(0)
		pick := func(t *rapid.T) *held { return all[rapid.IntRange(0, len(all)-1).Draw(t, "which")] }
		// gone reports whether the tensor is no more; a live one must have kept its value.
		gone := func(h *held) bool {
			b := &c.cells[h.t.cell]
			if b.gen != h.t.gen {
				return true
			}
			if b.Value != h.value || !r.alive[h.value] {
				t.Fatalf("a live tensor has value %d, was %d", b.Value, h.value)
			}
			return false
		}
		// check judges an operation on h, which was gone before it or was not.
		check := func(t *rapid.T, was bool, err error) {
			var free *fault.UseAfterFree
			if was != errors.As(err, &free) || !was && err != nil {
				t.Fatalf("tensor gone: %v, fault: %v", was, err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"make": func(t *rapid.T) {
				n := rapid.IntRange(0, int(size)).Draw(t, "bytes")
				var x Tensor
				err := try(c, func() { x = c.Full(Dims(n), dtype.U8, 1) })
				var full *fault.ScratchFull
				if errors.As(err, &full) {
					if pinned == 0 && int64(n) <= size {
						t.Fatalf("%d bytes do not fit in %d, though nothing is pinned", n, size)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, &held{t: x, value: r.next})
			},
			"use": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				a, b := pick(t), pick(t)
				if a.t.Len() != b.t.Len() {
					b = a
				}
				stale := gone(a) || gone(b)
				var x Tensor
				err := try(c, func() { x = c.Add(a.t, b.t) })
				var full *fault.ScratchFull
				if errors.As(err, &full) {
					return
				}
				if stale {
					if err == nil {
						t.Fatal("used a tensor that is gone")
					}
					return
				}
				if err != nil {
					t.Fatalf("use of live tensors: %v", err)
				}
				if gone(a) || gone(b) {
					t.Fatal("a result took the place of its operand")
				}
				all = append(all, &held{t: x, value: r.next})
			},
			"free": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				h := pick(t)
				was := gone(h)
				err := try(c, func() { c.Free(h.t) })
				check(t, was, err)
				if err == nil {
					if h.pinned {
						h.pinned = false
						pinned -= max(1, h.t.Bytes())
					}
				}
			},
			"pin": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				h := pick(t)
				was := gone(h)
				err := try(c, func() { c.Pin(h.t) })
				check(t, was, err)
				if err == nil && !h.pinned {
					h.pinned = true
					pinned += max(1, h.t.Bytes())
				}
			},
			"": func(t *rapid.T) {
				live := 0
				for _, h := range all {
					if !gone(h) {
						live++
					} else if h.pinned {
						t.Fatal("a pinned tensor is gone")
					}
				}
				if n := c.blocks(t); n != live {
					t.Fatalf("%d blocks for %d live tensors", n, live)
				}
				if c.scratch.pinned != pinned {
					t.Fatalf("%d bytes pinned, want %d", c.scratch.pinned, pinned)
				}
				if len(r.alive) != live {
					t.Fatalf("%d values alive for %d live tensors", len(r.alive), live)
				}
			},
		})
		DriverOf(c).DropAll()
		if len(r.alive) != 0 {
			t.Fatalf("%d values alive after DropAll", len(r.alive))
		}
	})
}

// What is freed in reverse order of making is reused at once: the footprint of such a
// loop is one turn's.
func TestFreeInReverseReusesAtOnce(t *testing.T) {
	c, _ := newTestContext(1 << 20)
	for range 1000 {
		a := c.Full(Dims(8), dtype.F32, 1)
		b := c.Add(a, a)
		c.Free(b)
		c.Free(a)
	}
	if c.scratch.pos != 0 || len(c.cells) != 2 {
		t.Errorf("cursor at %d with %d cells, want 0 and 2", c.scratch.pos, len(c.cells))
	}
}

// Tensors that are used in every turn survive a loop that never frees.
func TestReclaimSparesWhatIsUsed(t *testing.T) {
	c, _ := newTestContext(5 * 32)
	acc := c.Full(Dims(8), dtype.F32, 0)
	one := c.Full(Dims(8), dtype.F32, 1)
	idle := c.Full(Dims(8), dtype.F32, 2)
	for range 100 {
		acc = c.Add(acc, one)
	}
	err := try(c, func() { c.Neg(idle) })
	var free *fault.UseAfterFree
	if !errors.As(err, &free) || !free.Reclaimed || free.Tensor != "f32[8]" || free.Op != "neg" {
		t.Errorf("use of what was idle: %v", err)
	}
	err = try(c, func() { c.Neg(acc) })
	if err != nil {
		t.Error(err)
	}
}

func TestScratchFullNamesSizes(t *testing.T) {
	c, _ := newTestContext(100)
	x := c.Full(Dims(10), dtype.F32, 0)
	c.Pin(x)
	err := try(c, func() { c.Neg(c.Full(Dims(10), dtype.F32, 0)) })
	var full *fault.ScratchFull
	if !errors.As(err, &full) || full.Need != 40 || full.Have != 100 || full.Pinned != 40 {
		t.Errorf("%+v", err)
	}
}

// Operations on tensors allocate nothing once their cells exist.
func TestNoAllocationPerInstruction(t *testing.T) {
	c, _ := newTestContext(1 << 10)
	a := c.Full(Dims(8), dtype.F32, 1)
	c.core = idle{}
	n := testing.AllocsPerRun(100, func() {
		b := c.Add(a, a)
		c.Free(c.Scale(dtype.Mul, b, 2))
		c.Free(b)
	})
	if n != 0 {
		t.Errorf("%v allocations per turn, want none", n)
	}
}

type idle struct{}

func (idle) Do(*Instr) {}
