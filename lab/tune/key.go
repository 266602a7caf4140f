package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"kernbench/collective"
	"kernbench/conf"
	"kernbench/lab/sweep"
	"kernbench/tl"
	"kernbench/unit"
)

// key returns a hash of everything that the time of a call depends on. It leaves out settings that
// have no effect on the target. With a size, the key names the algorithm whose kernel runs. It then
// leaves out the size of a slot that holds the whole call, because no message is cut. If several
// channels share the slots, the size of a slot counts.
func (v *tuneTarget) key(program string, m *tuneMachine, what *collective.Collective, c collective.Call, inPlace bool,
	size unit.Bytes) string {
	a := v.plan.Algorithm
	if size >= 0 {
		a = v.plan.Performer()
	}
	cfg := sweep.Settings(v.plan, a)
	if a != v.plan.Algorithm {
		cfg.Module = a.Name
	}
	if cfg.RingSlots == "none" {
		cfg.RingSlots = "" // no part of keys from before there was the setting
	}
	cfg.Protocol = "" // what it takes counts, by whatever name
	if size >= 0 && cfg.SlotSize >= max(size, oneSlot) && v.plan.Rails(c).Count == 1 {
		cfg.SlotSize = 0
	}
	data, err := json.Marshal(struct {
		Program, Machine, Algorithm, Collective, Fidelity string
		Config                                            conf.Resolved
		Call                                              collective.Call
		InPlace                                           bool
		Seed                                              uint64
		Protocol                                          tl.Protocol
		Start                                             unit.Time
	}{program, m.fingerprint, a.Name, what.Name, m.base.AtFidelity(), cfg, c, inPlace, m.base.Seed,
		v.plan.Ring.Protocol, v.plan.Start})
	if err != nil {
		panic(err) // numbers and words have a JSON form
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// oneSlot is the least size of a slot that makes no difference. Algorithms send flags and lengths
// in addition to the data.
const oneSlot = unit.KiB
