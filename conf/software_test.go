package conf

import (
	"slices"
	"strings"
	"testing"

	"kernbench/unit"
)

// TestProtocols: a protocol has its own start, or that of all.
func TestProtocols(t *testing.T) {
	top, err := LoadTopology([]Source{{"node.yaml", []byte(`
software:
  launch_ns: 8us
  protocols:
    ll: {latency_ns: 184, efficiency: 0.5, launch_ns: 6.6us}
    ll128: {latency_ns: 1.484us, efficiency: 0.9375}
`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const ns = unit.Nanosecond
	for _, tt := range []struct {
		name            string
		latency, launch unit.Time
		payload         int64
	}{
		{"simple", 0, 8000 * ns, 1_000_000},
		{"ll", 184 * ns, 6600 * ns, 500_000},
		{"ll128", 1484 * ns, 8000 * ns, 937_500},
	} {
		if p := top.Software().Protocol(tt.name); p.Latency != tt.latency || p.Launch != tt.launch || p.Payload() != tt.payload {
			t.Errorf("%s: %+v, %d of a million are data", tt.name, p, p.Payload())
		}
	}
	for _, name := range []string{"simple", "ll", "ll128"} {
		if p := DefaultTopology().Software().Protocol(name); p != (Protocol{Efficiency: 1}) {
			t.Errorf("the default machine adds %+v to %s", p, name)
		}
	}
}

// TestRingsOfTheMachine: settings of the machine override built-in ones, and settings of the user
// override both.
func TestRingsOfTheMachine(t *testing.T) {
	machine := []Source{{"node.yaml", []byte("rings:\n  n_slots: 8\n  slot_size: 512KiB\n")}}
	user := []Source{{"ccl.yaml", []byte("defaults: {n_slots: 5}\nalgorithms: {mine: {module: ring_allreduce, slot_size: 64}}\n")}}
	for _, tt := range []struct {
		name    string
		machine []Source
		ccl     []Source
		sets    []string
		entry   string
		slots   int
		size    unit.Bytes
	}{
		{"built in", nil, nil, nil, "", 4, 4 * unit.KiB},
		{"machine", machine, nil, nil, "", 8, 512 * unit.KiB},
		{"machine and file", machine, user, nil, "", 5, 512 * unit.KiB},
		{"machine, file and set", machine, user, []string{"defaults.slot_size=1KiB"}, "", 5, unit.KiB},
		{"entry of the user's", machine, user, []string{"defaults.slot_size=1KiB"}, "mine", 5, 64},
		{"set for an entry", machine, nil, []string{"algorithms.ring_allreduce.n_slots=2"}, "ring_allreduce", 2, 512 * unit.KiB},
		{"only one of the two", []Source{{"node.yaml", []byte("rings: {n_slots: 16}")}}, nil, nil, "", 16, 4 * unit.KiB},
	} {
		t.Run(tt.name, func(t *testing.T) {
			top, err := LoadTopology(tt.machine, nil)
			if err != nil {
				t.Fatal(err)
			}
			ccl, err := top.LoadCCL(tt.ccl, tt.sets)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ccl.Resolve(tt.entry)
			if err != nil {
				t.Fatal(err)
			}
			if r.NSlots != tt.slots || r.SlotSize != tt.size {
				t.Errorf("%d slots of %v, want %d of %v", r.NSlots, r.SlotSize, tt.slots, tt.size)
			}
		})
	}
}

// TestRingsKnowTheirPlace: the error of a setting of the machine has its place in the machine's
// file.
func TestRingsKnowTheirPlace(t *testing.T) {
	top, err := LoadTopology([]Source{{"node.yaml", []byte("rings:\n  n_slots: 8\n")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ccl, err := top.LoadCCL(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ccl.Resolve("ring_allreduce")
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Errorf("n_slots", "too many").Error(); !strings.HasPrefix(text, "node.yaml:2:12: defaults.n_slots: too many\n") {
		t.Error(text)
	}
	if text := r.Errorf("slot_size", "too large").Error(); !strings.HasPrefix(text, "built-in ccl.yaml:") {
		t.Error(text)
	}
}

// TestLatenciesByLevel: a level of the network may have its own latencies, and else has the common
// ones.
func TestLatenciesByLevel(t *testing.T) {
	top, err := LoadTopology([]Source{{"rack.yaml", []byte(`
system:
  levels:
    - {network: switch, count: 8, link: {bw_gbs: 100}}
    - network: switch
      count: 4
      link: {bw_gbs: 50}
      software: {simple_ns: 11484, ll128_ns: 5, trees: {ll_ns: 2484}, switch_ns: 18384}
software: {protocols: {simple: {latency_ns: 2984}, ll: {latency_ns: 184}, ll128: {latency_ns: 5}}, trees: {simple_ns: 3584}}
`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const ns = unit.Nanosecond
	for _, tt := range []struct {
		protocol string
		traffic  Traffic
		want     []unit.Time
	}{
		{"simple", OnRings, []unit.Time{2984 * ns, 2984 * ns, 11484 * ns}},
		{"ll", OnRings, []unit.Time{184 * ns}},
		{"ll128", OnRings, []unit.Time{5 * ns}},
		{"simple", OnTrees, []unit.Time{3584 * ns, 3584 * ns, 11484 * ns}},
		{"ll", OnTrees, []unit.Time{184 * ns, 184 * ns, 2484 * ns}},
		{"ll128", OnTrees, []unit.Time{5 * ns}},
		{"simple", Switched, []unit.Time{2984 * ns, 2984 * ns, 18384 * ns}},
		{"ll", Switched, []unit.Time{184 * ns}},
	} {
		if got := top.Latencies(tt.protocol, tt.traffic); !slices.Equal(got, tt.want) {
			t.Errorf("%s, traffic %d: %v, want %v", tt.protocol, tt.traffic, got, tt.want)
		}
	}
	if got := DefaultTopology().Latencies("ll", OnRings); !slices.Equal(got, []unit.Time{0}) {
		t.Errorf("the default machine: %v", got)
	}
}

// TestStarts: a collective may have a start of its own, and graphs too. Protocols keep their
// distances. A graph without a known start is refused.
func TestStarts(t *testing.T) {
	const file = `
software:
  protocols:
    ll: {launch_ns: 6us}
    ll128: {launch_ns: 14us}
    simple: {launch_ns: 8us}
  starts:
    graph_launch_ns: 2us
    collectives:
      all_gather: {launch_ns: 7us}
      broadcast: {graph_launch_ns: 3us}
`
	const us = unit.Microsecond
	for _, tt := range []struct {
		set, collective, protocol string
		want                      unit.Time
	}{
		{"false", "all_reduce", "ll", 6 * us},
		{"false", "all_reduce", "ll128", 14 * us},
		{"false", "all_gather", "ll", 7 * us},
		{"false", "all_gather", "simple", 9 * us},
		{"false", "broadcast", "simple", 8 * us},
		{"true", "all_reduce", "ll", 2 * us},
		{"true", "all_gather", "simple", 4 * us},
		{"true", "broadcast", "ll128", 11 * us},
	} {
		top, err := LoadTopology([]Source{{"t.yaml", []byte(file)}}, []string{"software.starts.graph=" + tt.set})
		if err != nil {
			t.Fatal(err)
		}
		if got := top.Software().Start(tt.collective, tt.protocol); got != tt.want {
			t.Errorf("%s with %s, graph %s: %v, want %v", tt.collective, tt.protocol, tt.set, got, tt.want)
		}
	}
	_, err := LoadTopology(nil, []string{"software.starts.graph=true"})
	if err == nil || !strings.Contains(err.Error(), "set software.starts.graph_launch_ns too") {
		t.Error(err)
	}
}
