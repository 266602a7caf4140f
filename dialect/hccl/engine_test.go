package hccl_test

import (
	"fmt"
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/unit"
)

// One engine for all PEs of a SIP performs what one for each PE does. It takes no less time,
// and more where several PEs of a SIP communicate at once.
func TestEnginePerSIP(t *testing.T) {
	const count = 200
	for _, alg := range hccl.KnownAlgConfigs() {
		parsed, err := hccl.ParseAlgConfig(alg)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Op == hccl.OpBatchWrite {
			continue
		}
		for _, place := range []struct {
			name   string
			pes    []int32
			shared bool // engines, with comm_engine.per=sip
		}{{"in one SIP", []int32{0, 1, 2, 3}, true}, {"in two", []int32{0, 1, 8, 9}, true}, {"one in each", []int32{0, 8}, false}} {
			f := &form{op: parsed.Op, count: count, stride: 2 * count, repeat: 2, typ: hccl.FP32}
			if f.op == hccl.OpAlltoAllV {
				f = equal(len(place.pes), count, 2)
			}
			took := func(per string) unit.Time {
				r := newRig(t, "sim", "comm_engine.per="+per)
				send, recv := f.extent(len(place.pes))
				g := r.on(place.pes, hccl.Options{Buffer: 1024})
				x, y := r.spread(place.pes, send, f.carrier(), f.input), r.spread(place.pes, recv, f.carrier(), constant(untouched))
				in, want := x.read(), y.read()
				out := r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
					f.prepare(h, hccl.CommitNow, k.GM(0), k.GM(1))
					h.Finalize()
				}, []*memory{x, y}, hccl.NewCcTiling("world", f.op, alg)))
				for turn := range f.repeat {
					f.apply(turn, in, want)
				}
				y.holds(fmt.Sprint(alg, " per ", per), want)
				return out.Launched.Result.Duration()
			}
			pe, sip := took("pe"), took("sip")
			if sip < pe || place.shared != (sip > pe) {
				t.Errorf("%s, %s: %v with an engine for each PE, %v with one for each SIP", alg, place.name, pe, sip)
			}
		}
	}
}
