package examples

import (
	"slices"
	"testing"

	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// ofThree gives three ranks the vectors {1..}, {10..}, {100..} of n elements.
func ofThree(t *testing.T, k tl.Kernel, n int, cfg kerneltest.Config) [][]float64 {
	t.Helper()
	for _, scale := range []float64{1, 10, 100} {
		v := make([]float64, n)
		for i := range v {
			v[i] = scale * float64(i+1)
		}
		cfg.Inputs = append(cfg.Inputs, v)
	}
	return kerneltest.Once(t, k, cfg)
}

func expect(t *testing.T, got [][]float64, want ...[]float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// guide: keep
// lastTwo keeps a message beyond the next receive: it computes with the first before it
// takes the second. Converting to the same type copies, and keeps who contributed.
func lastTwo(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	own := c.Load(mine)
	c.Send(tl.East, own)
	c.Send(tl.East, c.Add(own, own))
	first := c.Recv(tl.West, own.Shape(), own.DType())
	kept := c.Convert(first, first.DType()) // into scratch; the slot may go
	second := c.Recv(tl.West, own.Shape(), own.DType())
	c.Store(mine, c.Add(kept, second))
}

// end

func TestKeep(t *testing.T) {
	expect(t, ofThree(t, lastTwo, 1, kerneltest.Config{}), []float64{300}, []float64{3}, []float64{30})
}

// guide: futures
func overlap(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	own := c.Load(mine)
	coming := c.RecvAsync(tl.West, own.Shape(), own.DType()) // returns at once
	c.Send(tl.East, own)
	twice := c.Add(own, own) // while the message is on its way
	c.Store(mine, c.Add(twice, c.Wait(coming)))
}

// end

func TestFutures(t *testing.T) {
	expect(t, ofThree(t, overlap, 1, kerneltest.Config{}), []float64{102}, []float64{21}, []float64{210})
}

// guide: copy
func intoMemory(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	c.SendRef(tl.East, mine) // address form: reads memory, returns when it has
	c.RecvTo(tl.West, mine)  // slot -> memory; the slot goes back at once
}

// end

func TestCopy(t *testing.T) {
	expect(t, ofThree(t, intoMemory, 2, kerneltest.Config{}), []float64{100, 200}, []float64{1, 2}, []float64{10, 20})
}

// guide: any
func sumOfNeighbours(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	own := c.Load(mine)
	c.Send(tl.East, own)
	c.Send(tl.West, own)
	sum := own
	for range 2 {
		got, _ := c.RecvAny(own.Shape(), own.DType()) // whichever came; also: from where
		sum = c.Add(sum, got)                         // an order-independent use
	}
	c.Store(mine, sum)
}

// end

func TestAny(t *testing.T) {
	expect(t, ofThree(t, sumOfNeighbours, 1, kerneltest.Config{}), []float64{111}, []float64{111}, []float64{111})
}

// A payload of many slots needs nothing special in the kernel.
func TestLongPayload(t *testing.T) {
	const n = 100 // f32: 400 bytes in slots of 64
	got := ofThree(t, ringSum, n, kerneltest.Config{Slots: 2, SlotBytes: 64})
	for r := range got {
		for i, v := range got[r] {
			if v != 111*float64(i+1) {
				t.Fatalf("rank %d element %d: %v", r, i, v)
			}
		}
	}
}

// guide: composite
// product multiplies two 4x4 matrices that lie one after the other in this rank's shard,
// doubles the result, drops what is negative, and puts it behind them.
func product(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	at := func(i int) tl.Ref {
		return c.Ref(mine.Addr+mem.Addr(i*16*a.DType.Size()), tl.Dims(4, 4), a.DType)
	}
	h := c.Composite(tl.Composite{
		A: at(0), B: at(1), Out: at(2),
		Epilogue: []tl.Epilogue{
			{Op: tl.EpilogueScale, Factor: 2},
			{Op: tl.EpilogueReLU},
		},
	})
	// The kernel is free here.
	c.Await(h)
}

// end

func TestComposite(t *testing.T) {
	in := make([]float64, 48)
	for i := range 4 {
		in[5*i] = float64(i) - 1 // diagonal -1, 0, 1, 2
	}
	for i := range 16 {
		in[16+i] = float64(i)
	}
	got := kerneltest.Once(t, product, kerneltest.Config{Inputs: [][]float64{in}})[0][32:]
	want := []float64{0, 0, 0, 0, 0, 0, 0, 0, 16, 18, 20, 22, 48, 52, 56, 60}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// guide: matrix
// attend is softmax(q kᵀ) v for matrices of 2 rows and 2 columns.
func attend(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	load := func(i int) tl.Tensor { return c.Load(mine.Slice(4*i, 4)).Reshape(2, 2) }
	q, k, v := load(0), load(1), load(2)
	scores := c.Softmax(c.Dot(q, c.Transpose(k)), -1)
	c.Store(mine.Slice(0, 4), c.Dot(scores, v))
}

// end

func TestMatrix(t *testing.T) {
	got := kerneltest.Once(t, attend, kerneltest.Config{Inputs: [][]float64{{0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4}}})[0][:4]
	if want := []float64{2, 3, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
