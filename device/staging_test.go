package device_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// Staging memory holds nothing before it is written, whichever window had it before; the rest of
// its window is zero.
func TestStagingMemoryIsNotZero(t *testing.T) {
	c, team, w := pair(t)
	if err := errors.Join(c.CopyToWindow(w, 0, "data", 0, []float64{1, 2, 3, 4}), c.FreeWindow(w)); err != nil {
		t.Fatal(err)
	}
	v := must(c.NewWindow("box", team, 0,
		mem.Buffer{Name: "in", Parts: []mem.Part{mem.StagingPart("", dtype.F32, 4)}},
		mem.Buffer{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F32, 4)}}))(t)
	if got := must(c.ReadWindow(v, 0, "data", 0, 4))(t); !slices.Equal(got, make([]float64, 4)) {
		t.Errorf("the part beside it holds %v", got)
	}
	for rank := range team.Size() {
		if _, err := c.ReadWindow(v, rank, "in", 0, 1); !errors.As(err, new(*fault.Unwritten)) {
			t.Errorf("the host reads rank %d: %v", rank, err)
		}
	}
	if err := c.CopyToWindow(v, 1, "in", 0, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	if got := must(c.ReadWindow(v, 1, "in", 0, 2))(t); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("holds %v of what was written", got)
	}
	_, err := c.LaunchTeam(context.Background(), "read", func(c *tl.Context, a tl.Args) {
		if c.Rank() == 1 {
			c.Free(c.Load(c.Local(c.Data(a.Window(0), "in"))))
		}
	}, team, v)
	if u, ok := errors.AsType[*fault.Unwritten](err); !ok || u.Rank != 1 || u.First != 2 {
		t.Errorf("a kernel reads it: %v", err)
	}
}
