package mock_test

import (
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/mem"
	"kernbench/tl"
)

// layout is a window of n elements of data, and of words of each type.
func layout(t testing.TB, n, words int) *mem.Layout {
	t.Helper()
	l, err := mem.NewLayout(0, []mem.Buffer{
		{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F32, n)}},
		{Name: "flags", Parts: []mem.Part{mem.SignalPart("", mem.Int64, words)}},
		{Name: "small", Parts: []mem.Part{mem.SignalPart("", mem.Int32, words)}},
		{Name: "big", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, words)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every rank pushes its vector into the window of the next, and tells it.
func TestPutNotify(t *testing.T) {
	got := each(t, mock.Config{Layout: layout(t, 4, 1)}, func(c *tl.Context, a tl.Args) {
		w, mine := a.Window(0), a.Shard(c.Rank())
		data, flag := c.Data(w, "data"), c.Signals(w, "flags").At(0)
		next := (c.Rank() + 1) % c.WorldSize()
		c.Put(data, next, mine)
		c.Fence()
		c.Notify(flag, next, tl.SignalSet, 1)
		c.WaitUntil(flag, tl.EQ, 1)
		c.Store(mine, c.Add(c.Load(mine), c.Load(c.Local(data))))
	})
	wantShards(t, got, []float64{101, 202, 303, 404}, []float64{11, 22, 33, 44}, []float64{110, 220, 330, 440})
}

// Results may lie apart from contributions, and be of different lengths.
func TestOuts(t *testing.T) {
	in := [][]float64{{1, 2}, {3, 4}}
	got := mock.Run(t, func(c *tl.Context, a tl.Args) {
		r := c.Rank()
		for i := range a.OutElems[r] / 2 {
			c.Store(a.Out(r, a.OutElems[r]).Slice(2*i, 2), c.Load(a.Shard((r+i)%2)))
		}
	}, mock.Config{Inputs: in, OutElems: []int{4, 2}})
	if want := [][]float64{{1, 2, 3, 4}, {3, 4}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
}
