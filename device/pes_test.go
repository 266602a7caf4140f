package device_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/tl"
)

// A plan on chosen PEs: what they bring is theirs, and no other PE takes part.
func TestChosenPEs(t *testing.T) {
	c := open(t)
	plan := must(c.InstallIPCQ("ring_allreduce", device.Install{PEs: []int32{1, 3, 4, 12}}))(t)
	if plan.World != 4 || !slices.Equal(plan.PEs, []int32{1, 3, 4, 12}) || plan.PEsPerCube != 2 ||
		plan.RankToPE[2].Cube != 1 || plan.RankToPE[3].SIP != 1 {
		t.Fatalf("%+v", plan)
	}
	var all []*device.Tensor
	for sip, pes := range [][]int32{{1, 3, 4}, {12}} {
		if err := c.SetDevice(sip); err != nil {
			t.Fatal(err)
		}
		x := must(c.EmptyOn(pes, 2, dtype.F32))(t)
		if err := x.CopyIn(slices.Repeat([]float64{float64(sip + 1)}, x.Elems())); err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	must(c.Perform(context.Background(), plan, tl.Sum, all))(t)
	for _, x := range all {
		for _, s := range x.Shards() {
			if got := must(x.ReadShard(s))(t); dtype.At(dtype.F32, got, 1) != 5 {
				t.Fatalf("PE %d got %v", s.Rank, got)
			}
		}
	}
}

func TestChosenPEsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		pes  []int32
		sets []string
		want string
	}{
		{"not there", []int32{0, 16}, nil, "no PE 16: the machine has 16"},
		{"negative", []int32{-1}, nil, "no PE -1"},
		{"twice", []int32{2, 2}, nil, "list each PE once"},
		{"descending", []int32{3, 2}, nil, "in the machine's order"},
		{"none", []int32{}, nil, "at least one"},
		{"SIPs", []int32{0}, []string{"defaults.rank_level=sip"}, "found rank_level sip, want pe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, tt.sets...)
			if _, err := c.InstallIPCQ("ring_allreduce", device.Install{PEs: tt.pes}); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("plan: got %v, want %q", err, tt.want)
			}
		})
	}
	c := open(t)
	for _, pes := range [][]int32{{}, {8}, {16}, {-1}, {1, 1}, {1, 0}} {
		if _, err := c.EmptyOn(pes, 4, dtype.F16); err == nil {
			t.Errorf("tensor on %v of SIP 0 was made", pes)
		}
	}
}
