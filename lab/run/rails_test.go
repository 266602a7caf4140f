package run_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/lab/run"
	"kernbench/tl"
	"kernbench/unit"
)

// onNodes runs a collective of 512 KiB on nodes of a preset.
func onNodes(t *testing.T, preset, algorithm string, nodes int, more ...string) *run.Result {
	t.Helper()
	sets := append([]string{fmt.Sprintf("system.nodes.count=%d", nodes)}, more...)
	if preset == "leaf-spine-roce" {
		sets = append([]string{fmt.Sprintf("system.levels.1.count=%d", nodes)}, more...)
	}
	n := 1 << 17
	if algorithm == "ring_allgather" {
		n /= 8 * nodes
	}
	r, err := run.Run(t.Context(), run.Spec{Topology: preset, Bench: bench.CCLHello.Name, Algorithm: algorithm,
		Executor: "sim", Op: tl.Sum, NElem: n, DType: dtype.F32, Sets: sets, Use: true, VerifyData: true})
	if err != nil || !r.OK() || r.RanksFailed > 0 || r.Verdict("provenance").State != run.Checked {
		t.Fatal(r, err)
	}
	return r
}

// cards returns the bytes that each network card sends.
func cards(r *run.Result) map[string]int64 {
	sent := map[string]int64{}
	for _, l := range r.Use.Links {
		if from, to, ok := strings.Cut(l.Link, "->"); ok && strings.HasPrefix(from, "sip") && strings.HasPrefix(to, "rail") {
			sent[from] += l.Bytes
		}
	}
	return sent
}

// TestEachCardHasAChannel: on two nodes and on four, rings and trees use the network cards of all
// GPUs about equally. With one channel all bytes leave a node by one card, or by two in trees.
func TestEachCardHasAChannel(t *testing.T) {
	for i, preset := range []string{"leaf-spine-roce", "dgx-h100"} {
		for j, nodes := range []int{2, 4} {
			if !exhaustive.On() && i != j {
				continue
			}
			for _, algorithm := range []string{"ring_allreduce_chunked", "ring_allgather", "ring_reduce_scatter", "double_tree_allreduce"} {
				t.Run(fmt.Sprint(preset, "/", nodes, "/", algorithm), func(t *testing.T) {
					if testing.Short() && nodes > 2 {
						t.Skip("-short: runs of 32 ranks take too long")
					}
					sent := cards(onNodes(t, preset, algorithm, nodes))
					if len(sent) != 8*nodes {
						t.Fatalf("%d of %d cards send: %v", len(sent), 8*nodes, sent)
					}
					least, most := int64(1)<<62, int64(0)
					for i := range 8 { // the same card of all nodes, as a tree has a root in one of them
						sum := int64(0)
						for node := range nodes {
							sum += sent[fmt.Sprintf("sip%d.io", 8*node+i)]
						}
						least, most = min(least, sum), max(most, sum)
					}
					if least <= 0 || most > least+least/20 {
						t.Errorf("a card sends %d to %d bytes: %v", least, most, sent)
					}
					one := cards(onNodes(t, preset, algorithm, nodes, "defaults.nchannels=1"))
					if limit := map[bool]int{false: nodes, true: 4 * nodes}[strings.Contains(algorithm, "tree")]; len(one) > limit {
						t.Errorf("one channel uses %d cards: %v", len(one), one)
					}
				})
			}
		}
	}
}

// TestChannelsAreFaster: eight cards are faster than one for many bytes, and few bytes take one
// channel.
func TestChannelsAreFaster(t *testing.T) {
	took := func(n int, sets ...string) unit.Time {
		r, err := run.Run(t.Context(), run.Spec{Topology: "dgx-h100", Bench: bench.CCLHello.Name, Algorithm: "ring_allreduce_chunked",
			Executor: "sim", NElem: n, DType: dtype.F32, Sets: append([]string{"system.nodes.count=2"}, sets...)})
		if err != nil {
			t.Fatal(err)
		}
		return r.SimulatedTime
	}
	const one = "defaults.nchannels=1"
	if eight, one := took(4<<20), took(4<<20, one); eight > one/3 {
		t.Errorf("16 MiB take %v on eight cards, %v on one", eight, one)
	}
	const ll = "defaults.protocol=ll"
	if limited, free := took(1<<19, ll), took(1<<19, ll, "system.nodes.software.ll_gbs=0"); limited < free+30*unit.Microsecond {
		t.Errorf("2 MiB with ll take %v at 45 GB/s of all channels, and %v without that limit", limited, free)
	}
	if by, one := took(1<<13), took(1<<13, one); by != one {
		t.Errorf("32 KiB take %v, and %v on one channel", by, one)
	}
}
