package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/check/bound"
	"kernbench/machine"
)

// Every preset, and machines of all kinds of networks, can be drawn; what is drawn hangs together,
// and counts what there is.
func TestDraw(t *testing.T) {
	type target struct {
		name string
		sets []string
	}
	small := []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}
	targets := []target{{"", nil}}
	for _, p := range machine.Presets() {
		targets = append(targets, target{p.Name, nil})
	}
	for _, levels := range []string{
		"{network: ring, count: 5, link: {bw_gbs: 50}}",
		"{network: dragonfly, count: 12, dragonfly: {routers: 2, per_router: 2}, link: {bw_gbs: 50}}",
		"{network: switch, count: 4, link: {bw_gbs: 450}}, {network: fat_tree, count: 8, fat_tree: {radix: 4}, link: {bw_gbs: 50}}",
		"{network: torus, dims: [3, 3, 2], link: {bw_gbs: 50}}, {network: full, count: 3, join: group, link: {bw_gbs: 20}}",
		"{name: row, network: mesh, dims: [4], link: {bw_gbs: 50}}, {name: column, network: ring, count: 3, link: {bw_gbs: 20}}, {name: hall, network: switch, count: 2, join: group, link: {bw_gbs: 9}}",
	} {
		targets = append(targets, target{"", append(small, "system.levels=["+levels+"]")})
	}
	for _, network := range []string{"ring", "torus", "full", "switch"} {
		targets = append(targets, target{"", []string{"sip.cube_mesh.network=" + network,
			"system.sips.topology=" + strings.Replace(network+"_2d", "full_2d", "full", 1), "system.sips.count=4"}})
	}
	for _, tt := range targets {
		t.Run(fmt.Sprint(tt.name, tt.sets), func(t *testing.T) {
			for i, s := range tt.sets { // those without two dimensions
				tt.sets[i] = strings.NewReplacer("ring_2d", "ring_1d", "switch_2d", "switch").Replace(s)
			}
			d, err := Of(tt.name, tt.sets)
			if err == nil {
				err = d.Bisect(bound.Bisect)
			}
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, k := range d.Kinds {
				sum += k.Links
				if k.Rate <= 0 || k.Parallel < 1 || k.Links < 1 {
					t.Errorf("a kind of link that is nowhere: %+v", k)
				}
			}
			if sum != d.Links || d.Links == 0 {
				t.Errorf("%d links of all kinds, %d in all", sum, d.Links)
			}
			if d.PEs > 1 && (d.Bisection == nil || d.Bisection.Rate <= 0) {
				t.Error("no bisection")
			}
			last := d.Stages[len(d.Stages)-1]
			if last.Name != cubeStage || d.Stages[len(d.Stages)-2].Name != sipStage {
				t.Errorf("the innermost are a cube and a SIP, not %s", last.Name)
			}
			drawn := 0
			for _, s := range d.Stages {
				members, product := 0, 1
				for _, n := range s.Nodes {
					if n.Member {
						members++
					}
				}
				for _, n := range s.Dims {
					product *= n
				}
				if members != product {
					t.Errorf("%s: %d members, %v", s.Name, members, s.Dims)
				}
				if len(s.Nodes) > 1 && !connected(&s) {
					t.Errorf("%s does not hang together", s.Name)
				}
				for _, j := range s.Joins {
					ways := 1
					if j.Both {
						ways = 2
					}
					drawn += s.Count * ways * j.Links
				}
			}
			if drawn != d.Links {
				t.Errorf("all that is alike has %d links, the machine %d", drawn, d.Links)
			}
		})
	}
}

func connected(s *Stage) bool {
	reached := make([]bool, len(s.Nodes))
	reached[0] = true
	for again := true; again; {
		again = false
		for _, j := range s.Joins {
			if reached[j.From] != reached[j.To] {
				reached[j.From], reached[j.To], again = true, true, true
			}
		}
	}
	return !slices.Contains(reached, false)
}

// The rate of the line, and the part of it that a program gets.
func TestDrawLine(t *testing.T) {
	d, err := Of("", []string{"system.link.bw_gbs=200", "system.link.line_bw_gbs=250"})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range d.Kinds {
		if want := map[string]float64{"system": 0.8}[k.Stage]; k.Share() != want {
			t.Errorf("%s: %v of the line, want %v", k.Name, k.Share(), want)
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	for _, tt := range []struct{ name, set, want string }{
		{"ahmb", "", `did you mean "ahbm"?`},
		{"", "defaults.n_slots=4", "a key of ccl.yaml"},
		{"", "system.sips.cuont=4", "cuont"},
		{"", "fabric.buffer_bytes=16", "cannot hold"},
	} {
		var sets []string
		if tt.set != "" {
			sets = []string{tt.set}
		}
		if _, err := Of(tt.name, sets); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.name, tt.set, err, tt.want)
		}
	}
}

// TestSwitches: a drawing has what the switches of a level do, and nothing of switches that pass
// messages on only.
func TestSwitches(t *testing.T) {
	for _, tt := range []struct {
		sets []string
		want string
	}{
		{nil, ""},
		{[]string{"system.switch.overhead_ns=5"}, ""},
		{[]string{"system.switch.multicast=true"}, "each switch copies (multicast) at the rate of the link"},
		{[]string{"system.switch.reduce.types=[f16]", "system.switch.reduce.latency_ns=7"},
			"each switch reduces f16 at the rate of the link, a result after 7 ns"},
		{[]string{"system.switch.multicast=true", "system.switch.reduce.types=[bf16, f32]", "system.switch.reduce.bw_gbs=3"},
			"each switch copies (multicast), reduces bf16, f32 at 3 GB/s, a result after 0 ns"},
	} {
		d, err := Of("", append([]string{"system.sips.topology=switch"}, tt.sets...))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if s := d.Stages[0].Switches; s != nil {
			got = s.Text()
		}
		if got != tt.want {
			t.Errorf("%v: %q, want %q", tt.sets, got, tt.want)
		}
	}
}
