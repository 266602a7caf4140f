package race_test

import (
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// A hazard in a Go test names memory as the kernel does, not by its address.
func TestRunNamesMemory(t *testing.T) {
	layout, err := mem.NewLayout(0, []mem.Buffer{{Name: "box", Parts: []mem.Part{
		mem.SignalPart("words", mem.Int32, 2), mem.DataPart("data", dtype.F32, 8),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	// Both ranks write element 2 of something that rank 1 has.
	for want, place := range map[string]func(c *tl.Context, a tl.Args) tl.Ref{
		"race on window.box.data of rank 1, element 2\n": func(c *tl.Context, a tl.Args) tl.Ref {
			return c.At(c.Data(a.Window(0), "box.data").Slice(2, 1), 1)
		},
		"race on shard of rank 1, element 2\n":  func(_ *tl.Context, a tl.Args) tl.Ref { return a.Shard(1).Slice(2, 1) },
		"race on result of rank 1, element 2\n": func(_ *tl.Context, a tl.Args) tl.Ref { return a.Out(1, 3).Slice(2, 1) },
	} {
		_, report, err := kerneltest.Races(func(c *tl.Context, a tl.Args) {
			c.Store(place(c, a), c.Full(tl.Dims(1), dtype.F32, float64(c.Rank())))
		}, kerneltest.Config{Inputs: [][]float64{{1, 2, 3}, {4, 5, 6}}, OutElems: []int{3, 3}, Layout: layout})
		if err != nil || report.Total != 1 {
			t.Fatalf("%s: %v, %v", want, report, err)
		}
		if got := report.Hazards[0].String(); !strings.HasPrefix(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
