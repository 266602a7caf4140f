package report

import (
	"bytes"
	"testing"

	"kernbench/check/bound"
	"kernbench/lab/limits"
	"kernbench/unit"
)

// everyLimit has a witness of each kind.
func everyLimit() *limits.Limits {
	row := limits.Row{
		Size: 4 * unit.MiB, Elems: 1 << 20, Hardware: 8000, ByHardware: bound.Memory, Configured: 9000,
		Binding: bound.Slots, AlgBW: 466, BusBW: 815,
		Bounds: []bound.Bound{
			{Kind: bound.Distance, Time: 1000,
				Witness: bound.Witness{Ranks: []int{0, 3}, From: "sip0.cube0.pe0", To: "sip1.cube0.pe1", Links: []string{"a"}}},
			{Kind: bound.Node, Time: 2000, Witness: bound.Witness{Bytes: 4096, Rate: 256 * unit.GBPerSecond,
				Ranks: []int{2}, Inbound: true, Links: []string{"a", "b"}}},
			{Kind: bound.Volume, Time: 3000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.TBPerSecond}},
			{Kind: bound.Cut, Time: 4000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.GBPerSecond,
				Ranks: []int{0, 1, 2, 7}, Others: []int{3, 5, 8, 10, 12}, Links: []string{"a", "b", "c"}}},
			{Kind: bound.Flow, Time: 5000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.GBPerSecond, Links: []string{"a", "b", "c"}}},
			{Kind: bound.Compute, Time: 6000, Witness: bound.Witness{Pairs: 1 << 20, Rate: 64e9}},
			{Kind: bound.Memory, Time: 8000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.GBPerSecond,
				Ranks: []int{1}, Port: "sip0.cube0.pe1.hbm"}},
			{Kind: bound.Vector, Time: 8500, Witness: bound.Witness{Pairs: 1 << 20, Rate: 32e9}},
			{Kind: bound.FanOut, Time: 8600, Witness: bound.Witness{Gap: 2000, Hop: 20000,
				Tree: []bound.TreeStep{{Time: 0, Ranks: 1}, {Time: 20000, Ranks: 2}, {Time: 40000, Ranks: 8}}}},
			{Kind: bound.Slots, Time: 9000, Witness: bound.Witness{Bytes: 1 << 20, Rate: 1234567890, Ranks: []int{1}, Slots: 7,
				Ring: &bound.Ring{From: 1, To: 2, Slots: 1, SlotBytes: 4096, Rate: unit.GBPerSecond, RoundTrip: 70602}}},
			{Kind: bound.Pipelined, Time: 8700,
				Witness: bound.Witness{Bytes: 4 << 20, Ranks: []int{1, 2, 3, 4, 5, 6, 7, 0}, Hop: 21000, Turn: 4000,
					Piece: 8192, Taken: 4096}},
		},
	}
	small := limits.Row{Size: 4, Elems: 1, Hardware: 1000, ByHardware: bound.Distance, Configured: 1000,
		Binding: bound.Distance, Bounds: row.Bounds[:1]}
	return &limits.Limits{
		Collective: "reduce", Machine: "1 SIP × 1 cube × 8 PEs", Fidelity: "slot", Ranks: 8, Algorithm: "chain_reduce", Rings: true,
		Type: "f32", Root: 2, Launch: 8400 * unit.Nanosecond, Rows: []limits.Row{small, row}, Notes: []string{"something to know"},
		MadeBy: made("kernbench bound reduce", "0123456789abcdef"),
	}
}

func TestBound(t *testing.T) {
	var b bytes.Buffer
	if err := Bound(&b, everyLimit()); err != nil {
		t.Fatal(err)
	}
	golden(t, "bound", b.Bytes())
	b.Reset()
	if err := JSON(&b, everyLimit()); err != nil {
		t.Fatal(err)
	}
	golden(t, "bound_json", b.Bytes())
}

// The cause of a limit has another text where more, or other facts, are known.
func TestWitness(t *testing.T) {
	for _, tt := range []struct {
		b    bound.Bound
		want string
	}{
		{
			bound.Bound{Kind: bound.Flow, Witness: bound.Witness{Bytes: 3 << 20, Rate: 12345678900,
				Links: []string{"a", "b", "c"}, Weights: []float64{0.5, 0.25, 1}, Within: 0.004}},
			"3 MiB at 12.3 GB/s, weighted over 3 links; largest weights: c, a, ... (3 links); the optimum is at most 0.4% higher",
		},
		{
			bound.Bound{Kind: bound.FanOut, Witness: bound.Witness{Gap: 2000, Hop: 20000, Inbound: true,
				Tree: []bound.TreeStep{{Time: 0, Ranks: 1}, {Time: 20000, Ranks: 1024}}}},
			"one receive per 2ns, one hop 20ns: at successive times a rank holds data of at most 1, 1,024 ranks",
		},
		{
			bound.Bound{Kind: bound.Pipelined, Witness: bound.Witness{Bytes: 100, Ranks: []int{0, 4, 6}, Hop: 21000, Piece: 100}},
			"100 B along ranks 0-4-6, hops of up to 21ns; the best piece size is 100 B",
		},
	} {
		if got := witness(&tt.b); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.b.Kind, got, tt.want)
		}
	}
}
