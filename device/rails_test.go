package device

import (
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

func presetMachine(t *testing.T, preset string, sets ...string) *machine.Machine {
	t.Helper()
	files, err := machine.ReadSource(preset)
	if err != nil {
		t.Fatal(err)
	}
	top, err := conf.LoadTopology(files, sets)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRailsOf: a channel has a rail of its own on several equal nodes with a network card for each
// place. There are as many as a link in the node feeds.
func TestRailsOf(t *testing.T) {
	some := func(first, n int) (pes []int32) {
		for i := range n {
			pes = append(pes, int32(first+i))
		}
		return pes
	}
	const two, four = "system.nodes.count=2", "system.nodes.count=4"
	for _, tt := range []struct {
		preset string
		sets   []string
		pes    []int32
		want   tl.Rails
	}{
		{"dgx-h100", nil, some(0, 8), tl.Rails{Count: 1}},
		{"dgx-h100", []string{two}, some(0, 16), tl.Rails{Count: 8, Node: 8}},
		{"dgx-h100", []string{four}, some(8, 16), tl.Rails{Count: 8, Node: 8}},
		{"dgx-h100", []string{two}, some(0, 8), tl.Rails{Count: 1}},
		{"dgx-h100", []string{two}, some(4, 8), tl.Rails{Count: 4, Node: 4}}, // half of each node
		{"dgx-h100", []string{two}, some(0, 12), tl.Rails{Count: 1}},         // 8 of one node and 4 of the other
		{"dgx-h100", []string{two}, []int32{0, 8}, tl.Rails{Count: 1}},
		{"dgx-h100", []string{two, "system.nodes.join=group"}, some(0, 16), tl.Rails{Count: 1}},
		{"dgx-h100", []string{two, "system.nodes.link.bw_gbs=100"}, some(0, 16), tl.Rails{Count: 4, Node: 8}},
		{"dgx-b200", []string{two}, some(0, 16), tl.Rails{Count: 8, Node: 8}},
		{"gb200-nvl72", []string{two}, some(0, 144), tl.Rails{Count: 15, Node: 72}},
		{"mi300x-8", []string{two}, some(0, 16), tl.Rails{Count: 1}},
		{"leaf-spine-roce", nil, some(0, 32), tl.Rails{Count: 8, Node: 8}},
		{"tpu-v4", nil, some(0, 64), tl.Rails{Count: 1}},
		{"ahbm", nil, some(0, 256), tl.Rails{Count: 1}},
	} {
		if got := railsOf(presetMachine(t, tt.preset, tt.sets...), tt.pes); got.Count != tt.want.Count || got.Count > 1 && got != tt.want {
			t.Errorf("%s %v, PEs %d to %d: %+v, want %+v", tt.preset, tt.sets, tt.pes[0], tt.pes[len(tt.pes)-1], got, tt.want)
		}
	}
}

// TestRailsOfACall: few bytes use few channels, as NCCL counts them, and slots of all channels fit
// in memory.
func TestRailsOfACall(t *testing.T) {
	ring, tree := algorithm.RingAllReduceChunked, algorithm.NodeTreeAllReduce
	for _, tt := range []struct {
		algorithm        *algorithm.Algorithm
		protocol, preset string
		channels         int
		sizes            []unit.Bytes
		want             []int
	}{
		{ring, "simple", "dgx-h100", 0, []unit.Bytes{8, 64*unit.KiB - 4, 64 * unit.KiB, 256 * unit.KiB, unit.GiB}, []int{1, 1, 2, 8, 8}},
		{ring, "ll128", "dgx-h100", 0, []unit.Bytes{8, 10 * unit.KiB, 40 * unit.KiB}, []int{1, 2, 8}},
		{ring, "ll", "dgx-h100", 0, []unit.Bytes{8, 128 * unit.KiB, 512 * unit.KiB}, []int{1, 2, 8}},
		{ring, "ll", "leaf-spine-roce", 0, []unit.Bytes{8, 256 * unit.KiB, unit.MiB}, []int{1, 2, 8}}, // 32 ranks
		{tree, "ll", "dgx-h100", 0, []unit.Bytes{8, 8 * unit.KiB, 32 * unit.KiB}, []int{1, 2, 8}},     // not by ranks
		{tree, "ll", "leaf-spine-roce", 0, []unit.Bytes{8, 8 * unit.KiB, 32 * unit.KiB}, []int{1, 2, 8}},
		{ring, "simple", "dgx-h100", 3, []unit.Bytes{8, unit.GiB}, []int{3, 3}},
		{ring, "simple", "dgx-h100", 24, []unit.Bytes{8, unit.GiB}, []int{8, 8}},
	} {
		sets := []string{"system.nodes.count=2"}
		if tt.preset == "leaf-spine-roce" {
			sets = nil
		}
		m := presetMachine(t, tt.preset, sets...)
		p := &Plan{Algorithm: tt.algorithm, World: m.NumPEs(), machine: m}
		for i := range p.World {
			p.PEs = append(p.PEs, int32(i))
		}
		p.Wiring = make([]tl.Wiring, p.World)
		for i := range p.Wiring {
			p.Wiring[i].In = make([]tl.InPort, 2)
		}
		p.Config.Protocol, p.Config.Channels = tt.protocol, tt.channels
		p.Ring = tl.Ring{Slots: 8, SlotBytes: 512 << 10, Space: mem.TCM}
		var got []int
		for _, size := range tt.sizes {
			r := p.Rails(collective.Call{World: p.World, Elems: int(size / 4), Type: dtype.F32})
			got = append(got, r.Count)
			tcm := m.Topology().PE().TCM
			if ring := p.onRails(p.Ring, r); r.Count > 1 && ring.SlotBytes*16*int64(r.Count) > int64(tcm.Capacity-tcm.Scratch) {
				t.Errorf("%+v: slots of %d", r, ring.SlotBytes)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s, %s on %s, nchannels %d: %v channels for %v, want %v",
				tt.algorithm.Name, tt.protocol, tt.preset, tt.channels, got, tt.sizes, tt.want)
		}
	}
}
