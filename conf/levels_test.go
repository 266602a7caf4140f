package conf

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
	"kernbench/unit"
)

// oneLevel is a level whose keys tests change.
const oneLevel = "system.levels=[{network: ring, count: 4, link: {bw_gbs: 1}}]"

// levelLeaves returns the keys of the first level.
func levelLeaves() []leaf {
	list := topologySchema().child("system").child("levels")
	all := leaves(list.elem)
	for i := range all {
		below := all[i].get
		all[i].path = join("system.levels.0", all[i].path)
		all[i].get = func(root reflect.Value) reflect.Value {
			return below(root.FieldByName("System").FieldByName("Levels").Index(0))
		}
	}
	return all
}

const threeLevels = `
system:
  levels:
    - {name: tray, network: ring, count: 4, link: {bw_gbs: 50, latency_ns: 30, line_bw_gbs: 56}}
    - name: rack
      network: torus
      dims: [2, 3]
      join: each
      link: {bw_gbs: 25}
    - name: hall
      network: fat_tree
      count: 5
      join: group
      link: {bw_gbs: 12.5, latency_ns: 0.5us}
      switch: {overhead_ns: 300}
      gateway: {overhead_ns: 100}
      fat_tree: {radix: 4, oversubscription: 1.5}
      paths: hash
`

func TestLevels(t *testing.T) {
	file := Source{"three.yaml", []byte(threeLevels)}
	top, err := LoadTopology([]Source{file}, []string{"system.levels.0.link.bw_gbs=64", "system.levels.1.dims.0=7"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Level{
		{Name: "tray", Network: "ring", Count: 4, Link: Link{64 * unit.GBPerSecond, 30 * unit.Nanosecond, 56 * unit.GBPerSecond}},
		{Name: "rack", Network: "torus", Dims: []int{7, 3}, Join: "each", Link: Link{BW: 25 * unit.GBPerSecond}},
		{Name: "hall", Network: "fat_tree", Count: 5, Join: "group", Link: Link{BW: unit.GBs(12.5), Latency: 500 * unit.Nanosecond},
			Switch: Switch{Overhead: 300 * unit.Nanosecond}, Gateway: Passage{100 * unit.Nanosecond},
			FatTree: FatTree{4, 1.5}, Paths: "hash"},
	}
	if !reflect.DeepEqual(top.System().Levels, want) || !reflect.DeepEqual(top.System().Between(), want) {
		t.Errorf("got %+v", top.System().Levels)
	}
	if top.System().SIPs.Count != 4*21*5 || top.NumPEs() != 420*128 {
		t.Errorf("%d SIPs, %d PEs", top.System().SIPs.Count, top.NumPEs())
	}
	if e := top.Errorf(top.LevelKey(2, "fat_tree.radix"), "x"); e.Line != 17 || e.Key != "system.levels.2.fat_tree.radix" {
		t.Errorf("place %+v", e)
	}
	// A list replaces the previous one, including its places.
	top, err = LoadTopology([]Source{file}, []string{"system.levels=[{network: switch, count: 3, link: {bw_gbs: 2}}]"})
	if err != nil {
		t.Fatal(err)
	}
	if e := top.Errorf("system.levels.0.name", "x"); top.System().SIPs.Count != 3 || e.File != setName {
		t.Errorf("%d SIPs, place %+v", top.System().SIPs.Count, e)
	}
	if top, err = LoadTopology([]Source{file}, []string{"system.levels=[]", "system.sips.count=6"}); err != nil ||
		len(top.System().Between()) != 1 {
		t.Errorf("without levels again: %v", err)
	}
}

// TestShortForm: the short form and one level describe the same machine.
func TestShortForm(t *testing.T) {
	for network, want := range map[string]Level{
		"switch":          {Network: "switch"},
		"ring_1d":         {Network: "ring"},
		"full":            {Network: "full"},
		"torus_2d":        {Network: "torus", Dims: []int{3, 3}},
		"mesh_2d_no_wrap": {Network: "mesh", Dims: []int{3, 3}},
	} {
		top, err := LoadTopology(nil, []string{"system.sips.count=9", "system.sips.topology=" + network})
		if err != nil {
			t.Fatal(err)
		}
		want.Count, want.Link, want.Switch = 9, top.System().Link, top.System().Switch
		if got := top.System().Between(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v", network, got)
		}
		for key, want := range map[string]string{"count": "system.sips.count", "dims": "system.sips.topology",
			"link.bw_gbs": "system.link.bw_gbs"} {
			if got := top.LevelKey(0, key); got != want {
				t.Errorf("%s is %s, want %s", key, got, want)
			}
		}
	}
}

// TestRandomLevelsArrive writes levels of random values, and finds each of them.
func TestRandomLevelsArrive(t *testing.T) {
	keys := levelLeaves()
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		want := make(map[string]any)
		sips := 1
		for i := range rapid.IntRange(1, 4).Draw(t, "levels") {
			network := rapid.SampledFrom([]string{"ring", "mesh", "torus", "full", "switch", "fat_tree", "dragonfly"}).Draw(t, "network")
			n := rapid.IntRange(1, 6).Draw(t, "members")
			fmt.Fprintf(&text, "    - {network: %s, name: l%d", network, i)
			size := fmt.Sprintf(", count: %d", n)
			if network == "mesh" || network == "torus" {
				size = fmt.Sprintf(", dims: [%d, 1]", n)
			}
			text.WriteString(size)
			sips *= n
			write := func(key string) {
				for _, l := range keys {
					if l.path == "system.levels.0."+key {
						v := l.draw(t)
						want[fmt.Sprintf("%d.%s", i, key)] = v.Interface()
						fmt.Fprintf(&text, ", %s: %s%s", strings.ReplaceAll(key, ".", ": {"), l.write(v),
							strings.Repeat("}", strings.Count(key, ".")))
						return
					}
				}
				t.Fatalf("there is no %s", key)
			}
			write("link.bw_gbs")
			switch network {
			case "fat_tree":
				write("fat_tree.radix")
				write("paths")
			case "switch":
				write("switch.overhead_ns")
			case "dragonfly":
				text.WriteString(", dragonfly: {routers: 1, per_router: 1}")
			}
			text.WriteString("}\n")
		}
		top, err := LoadTopology([]Source{{"random.yaml", []byte("system:\n  levels:\n" + text.String())}}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		if top.System().SIPs.Count != sips {
			t.Errorf("%d SIPs, want %d", top.System().SIPs.Count, sips)
		}
		for i, l := range top.System().Levels {
			for key, got := range map[string]any{
				"link.bw_gbs": l.Link.BW, "fat_tree.radix": l.FatTree.Radix, "paths": l.Paths, "switch.overhead_ns": l.Switch.Overhead,
			} {
				if w, ok := want[fmt.Sprintf("%d.%s", i, key)]; ok && w != got {
					t.Errorf("level %d: %s is %v, want %v", i, key, got, w)
				}
			}
		}
	})
}
