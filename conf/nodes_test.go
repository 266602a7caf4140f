package conf

import (
	"reflect"
	"strings"
	"testing"

	"kernbench/unit"
)

const nodesYAML = `
system:
  sips: {count: 8, topology: switch}
  link: {bw_gbs: 300, latency_ns: 25}
  nodes: {network: switch, link: {bw_gbs: 50, latency_ns: 1us}, switch: {overhead_ns: 150}, software: {simple_ns: 11us}}
`

// TestNodes: several nodes and one more level make the same machine.
func TestNodes(t *testing.T) {
	src := []Source{{"node.yaml", []byte(nodesYAML)}}
	one, err := LoadTopology(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(one.System().Between()) != 1 || one.System().SIPs.Count != 8 || one.LevelKey(0, "link.bw_gbs") != "system.link.bw_gbs" {
		t.Errorf("one node: %+v", one.System())
	}
	three, err := LoadTopology(src, []string{"system.nodes.count=3"})
	if err != nil {
		t.Fatal(err)
	}
	inside := one.System().Between()[0]
	inside.Name = "node"
	want := []Level{inside, {Name: "rail", Network: "switch", Count: 3, Link: Link{BW: 50 * unit.GBPerSecond, Latency: unit.Microsecond},
		Switch: Switch{Overhead: 150 * unit.Nanosecond}, Software: Hops{Simple: 11 * unit.Microsecond}}}
	if got := three.System().Between(); !reflect.DeepEqual(got, want) || three.System().SIPs.Count != 24 {
		t.Errorf("%d SIPs, %+v\nwant %+v", three.System().SIPs.Count, got, want)
	}
	for level, key := range []string{"system.link.bw_gbs", "system.nodes.link.bw_gbs"} {
		if got := three.LevelKey(level, "link.bw_gbs"); got != key {
			t.Errorf("level %d: %s, want %s", level, got, key)
		}
	}
	if three.Fingerprint() == one.Fingerprint() {
		t.Error("one fingerprint")
	}
	racks := Source{"racks.yaml",
		[]byte("system: {levels: [{network: ring, count: 4, link: {bw_gbs: 10}}, {network: switch, count: 2, link: {bw_gbs: 5}}], nodes: {network: ring, count: 3, link: {bw_gbs: 1}}}")}
	high, err := LoadTopology([]Source{racks}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if high.System().SIPs.Count != 24 || len(high.System().Between()) != 3 ||
		high.LevelKey(1, "link.bw_gbs") != "system.levels.1.link.bw_gbs" || high.LevelKey(2, "count") != "system.nodes.count" {
		t.Errorf("%+v", high.System())
	}
}

// TestNodesErrors: errors of nodes name the keys of nodes.
func TestNodesErrors(t *testing.T) {
	for name, test := range map[string]struct{ yaml, set, want string }{
		"no network": {"", "system.nodes.count=2",
			"system.nodes.count: the machine has no network between its nodes; set system.nodes.network"},
		"no rate": {"system: {nodes: {network: switch}}", "system.nodes.count=2", "system.nodes: the level has no link.bw_gbs"},
		"another key": {nodesYAML + "  levels: []\n", "system.nodes={count: 2, paths: hash}",
			"system.nodes.paths: the key belongs to network: "},
		"one name": {"system: {levels: [{name: rail, network: ring, count: 4, link: {bw_gbs: 10}}], nodes: {network: ring, link: {bw_gbs: 1}}}",
			"system.nodes.count=2", "system.nodes"},
		"too many":     {nodesYAML, "system.nodes.count=1048576", "system.nodes.count: the nodes make more than 1048576 SIPs"},
		"none of them": {nodesYAML, "system.nodes.count=0", "system.nodes.count: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := LoadTopology([]Source{{"x.yaml", []byte(test.yaml)}}, []string{test.set})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
