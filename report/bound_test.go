package report

import (
	"bytes"
	"testing"

	"kernbench/bound"
	"kernbench/lab"
	"kernbench/unit"
)

// limits has a witness of each kind.
func limits() *lab.Limits {
	row := lab.LimitRow{
		Size: 4 * unit.MiB, Elems: 1 << 20, Hardware: 8000, ByHardware: bound.Memory, Configured: 9000, Binding: bound.Slots, AlgBW: 466, BusBW: 815,
		Bounds: []bound.Bound{
			{Kind: bound.Distance, Time: 1000, Witness: bound.Witness{Ranks: []int{0, 3}, From: "sip0.cube0.pe0", To: "sip1.cube0.pe1", Links: []string{"a"}}},
			{Kind: bound.Node, Time: 2000, Witness: bound.Witness{Bytes: 4096, Rate: 256 * unit.GBPerSecond, Ranks: []int{2}, Inbound: true, Links: []string{"a", "b"}}},
			{Kind: bound.Volume, Time: 3000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.TBPerSecond}},
			{Kind: bound.Cut, Time: 4000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.GBPerSecond, Ranks: []int{0, 1, 2, 7}, Others: []int{3, 5, 8, 10, 12}, Links: []string{"a", "b", "c"}}},
			{Kind: bound.Flow, Time: 5000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.GBPerSecond, Links: []string{"a", "b", "c"}}},
			{Kind: bound.Compute, Time: 6000, Witness: bound.Witness{Pairs: 1 << 20, Rate: 64e9}},
			{Kind: bound.Memory, Time: 8000, Witness: bound.Witness{Bytes: 1 << 20, Rate: unit.GBPerSecond, Ranks: []int{1}, Port: "sip0.cube0.pe1.hbm"}},
			{Kind: bound.Vector, Time: 8500, Witness: bound.Witness{Pairs: 1 << 20, Rate: 32e9}},
			{Kind: bound.Slots, Time: 9000, Witness: bound.Witness{Bytes: 1 << 20, Rate: 1234567890, Ranks: []int{1}, Slots: 7,
				Channel: &bound.Channel{From: 1, To: 2, Slots: 1, SlotBytes: 4096, Rate: unit.GBPerSecond, RoundTrip: 70602}}},
		},
	}
	small := lab.LimitRow{Size: 4, Elems: 1, Hardware: 1000, ByHardware: bound.Distance, Configured: 1000, Binding: bound.Distance, Bounds: row.Bounds[:1]}
	return &lab.Limits{
		Collective: "reduce", Machine: "1 SIP × 1 cube × 8 PEs", Fidelity: "slot", Ranks: 8, Algorithm: "chain_reduce", Rings: true,
		Type: "f32", Root: 2, Launch: 8400 * unit.Nanosecond, Rows: []lab.LimitRow{small, row}, Notes: []string{"something to know"},
	}
}

func TestBound(t *testing.T) {
	var b bytes.Buffer
	if err := Bound(&b, limits()); err != nil {
		t.Fatal(err)
	}
	golden(t, "bound", b.Bytes())
	b.Reset()
	if err := JSON(&b, limits()); err != nil {
		t.Fatal(err)
	}
	golden(t, "bound_json", b.Bytes())
}
