package device

import (
	"slices"
	"testing"

	"kernbench/conf"
	"kernbench/machine"
)

func TestLevels(t *testing.T) {
	chip := []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]"}
	hosts := append(chip,
		"system.levels=[{network: switch, count: 8, link: {bw_gbs: 9}}, {network: fat_tree, count: 4, fat_tree: {radix: 64}, link: {bw_gbs: 1}}]")
	torus := append(chip, "system.levels=[{network: torus, dims: [4, 1, 2, 4], link: {bw_gbs: 9}}]")
	some := func(first, n int) (pes []int32) {
		for i := range n {
			pes = append(pes, int32(first+i))
		}
		return pes
	}
	for _, test := range []struct {
		name string
		sets []string
		pes  []int32
		want []int
	}{
		{"cubes and SIPs", nil, some(0, 256), []int{8, 4, 4}},
		{"cubes, the last one half full", nil, some(0, 12), []int{4}},
		{"one cube", nil, some(0, 8), nil},
		{"a number that nothing divides", nil, some(0, 13), nil},
		{"two of each cube", nil, []int32{1, 3, 9, 11, 17, 19}, []int{2}},
		{"one of each cube", nil, []int32{1, 9, 17, 25}, nil},
		{"hosts", hosts, some(0, 32), []int{8}},
		{"two hosts and a half", hosts, some(0, 20), []int{4}},
		{"a torus", torus, some(0, 32), []int{4, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			top, err := conf.LoadTopology(nil, test.sets)
			if err != nil {
				t.Fatal(err)
			}
			m, err := machine.Build(top)
			if err != nil {
				t.Fatal(err)
			}
			c := &Context{cfg: Config{Machine: m}}
			if got := levels(c.cfg.Machine, test.pes); !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
