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

// Settings returns what a plan is configured with, if an algorithm performs its calls. It leaves
// out the settings of rings without rings, and those of pieces without a pipeline. It also leaves
// out the name of the plan, its ranks and its elements.
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

// SameRun names the runs of a plan. Two plans with one name take the same time for a call on one
// machine: one kernel runs, with the same rings and settings.
func SameRun(p *device.Plan) string {
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
