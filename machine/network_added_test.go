package machine_test

import (
	"bytes"
	"strings"
	"testing"

	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/machine/draw"
	"kernbench/plot/scene"
	"kernbench/report"
)

const squareLevel = "system.levels=[{network: square, count: 4, paths: hash, link: {bw_gbs: 50}}]"

// A network that a file adds is checked, built, run and drawn, and no other file knows its name.
func TestAddedNetwork(t *testing.T) {
	small := []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}
	for _, tt := range []struct{ set, want string }{
		{strings.Replace(squareLevel, "square", "sqare", 1), `did you mean "square"?`},
		{strings.Replace(squareLevel, "4", "5", 1), "a square needs four members"},
		{strings.Replace(squareLevel, "paths: hash", "fat_tree: {radix: 4}", 1),
			"the key belongs to network: fat_tree, and this is a square"},
		{strings.Replace(squareLevel, "count: 4", "dims: [2, 2]", 1), "dims are for mesh and torus; a square has a count"},
	} {
		if _, err := draw.Of("", append(small, tt.set)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.set, err, tt.want)
		}
	}
	text := "system: {levels: [{network: square, count: 4, link: {bw_gbs: 50}}]}\n"
	all, err := machine.Validate(t.Context(), []string{machine.Stdin}, nil, strings.NewReader(text))
	if err != nil || !all[0].OK || !strings.HasPrefix(all[0].Machine, "4 SIPs (level0: square of 4)") {
		t.Errorf("%+v, %v", all, err)
	}
	for _, sets := range [][]string{append(small, squareLevel), append(small, "system.sips.topology=test_square", "system.sips.count=4")} {
		r, err := run.Run(t.Context(), run.Spec{Sets: sets, Algorithm: "ring_allreduce", NElem: 32, VerifyData: true})
		if err != nil || !r.OK() || r.WorldSize != 32 || r.SimulatedTime <= 0 {
			t.Errorf("%s: %+v, %v", sets, r, err)
		}
		d, err := draw.Of("", sets)
		if err != nil {
			t.Fatal(err)
		}
		var drawn bytes.Buffer
		if err := report.Topology(&drawn, d); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{": a square of 4 SIPs\n", "  sip0 -- sip1 -- sip2 -- sip3 -- sip0\n"} {
			if !strings.Contains(drawn.String(), want) {
				t.Errorf("no %q in\n%s", want, &drawn)
			}
		}
		if picture := string(scene.SVG(d.Picture(nil))); !strings.Contains(picture, ">sip3<") {
			t.Errorf("no SIP 3 in\n%s", picture)
		}
	}
}
