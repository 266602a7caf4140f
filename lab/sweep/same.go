package sweep

import (
	"encoding/json"
	"fmt"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/lab/run"
	"kernbench/tl"
	"kernbench/unit"
)

// Settings returns the settings of a plan that matter if algorithm a performs its calls. A plan
// without rings has no settings of rings, and one without a pipeline has no size of pieces. The
// names of plan and algorithm, the ranks and the elements are left out too.
func Settings(p *device.Plan, a *algorithm.Algorithm) conf.Resolved {
	cfg := p.Config
	cfg.Name, cfg.Settings.Algorithm, cfg.WorldSize, cfg.NElem = "", "", 0, 0
	if !run.HasRings(p) {
		cfg.NSlots, cfg.RingSlots, cfg.SlotSize = 0, "none", 0
	}
	if !a.Pipelined {
		cfg.ChunkSize = 0
	}
	return cfg
}

// RunKey returns a key of the runs of a plan. Two plans with the same key take the same time for a
// call on one machine. They have the same kernel, rings and settings.
func RunKey(p *device.Plan) string {
	a := p.Performer()
	cfg := Settings(p, a)
	cfg.Module = ""
	text, err := json.Marshal(struct {
		Algorithm string
		Rails     bool
		Config    conf.Resolved
		Protocol  tl.Protocol
		Start     unit.Time
	}{a.Name, p.Algorithm.Rails, cfg, p.Ring.Protocol, p.Start})
	if err != nil {
		panic(fmt.Sprintf("settings have no JSON form: %v", err)) // numbers and words have one
	}
	return string(text)
}
