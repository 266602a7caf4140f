package run_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/lab/run"
)

// Slots of single directions: with those of all rings set, a run equals that with n_slots. With
// more for one direction, it is no slower, and its messages are the same.
func TestRingSlots(t *testing.T) {
	for _, tt := range []struct{ algorithm, dirs string }{
		{"ring_allreduce", "E W"}, {"bidirectional_ring_allreduce", "E W"}, {"recursive_doubling_allreduce", "dim0 dim1 dim2"},
	} {
		for _, executor := range []string{"sim", "mock"} {
			t.Run(tt.algorithm+"/"+executor, func(t *testing.T) {
				result := func(sets ...string) *run.Result {
					r, err := run.Run(t.Context(),
						run.Spec{Topology: "ahbm-cube", Algorithm: tt.algorithm, Executor: executor, Ranks: 8,
							NElem: 9000, VerifyData: true, Sets: sets})
					if err != nil || !r.OK() {
						t.Fatal(r, err)
					}
					return r
				}
				all := ""
				for i, d := range strings.Fields(tt.dirs) {
					if i > 0 {
						all += " "
					}
					all += d + ":3"
				}
				one, _, _ := strings.Cut(all, ":3")
				want, same, more := result("defaults.n_slots=3"),
					result("defaults.n_slots=3", "defaults.ring_slots="+all),
					result("defaults.n_slots=3", fmt.Sprintf("defaults.ring_slots=%s:6", one))
				if same.SimulatedTime != want.SimulatedTime || same.Messages != want.Messages {
					t.Errorf("%v, %d messages; with n_slots %v, %d", same.SimulatedTime, same.Messages, want.SimulatedTime, want.Messages)
				}
				if more.SimulatedTime > want.SimulatedTime || more.Messages != want.Messages {
					t.Errorf("with 6 slots %v, %d messages; with 3 %v, %d", more.SimulatedTime, more.Messages,
						want.SimulatedTime, want.Messages)
				}
				if v := more.Verdict("deadlock"); !strings.HasSuffix(v.Detail, "with 3 slots per direction but "+one+":6") {
					t.Errorf("verdict %v", v)
				}
			})
		}
	}
}

// An invalid ring_slots is refused, and the error has its place.
func TestRingSlotsAreChecked(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{"E", `found "E", want none, or directions with their slots such as E:8 W:2`},
		{"E:0", `found "E:0", want none, or directions`},
		{"E:4097", `found "E:4097", want a direction and 1 to 4096 slots, such as E:8`},
		{"N:4", `found "N:4"; ranks of ring_allreduce send to E, W`},
		{"up:4", `found "up:4"; ranks of ring_allreduce send to E, W`},
		{"E:2 E:3", `found E twice in "E:2 E:3"`},
	} {
		_, err := run.Run(t.Context(), run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 4,
			Sets: []string{"defaults.ring_slots=" + tt.value}})
		if err == nil || !strings.Contains(err.Error(), "--set: defaults.ring_slots: "+tt.want) {
			t.Errorf("%s: %v", tt.value, err)
		}
	}
	full := run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 4,
		Sets: []string{"defaults.slot_size=512KiB", "defaults.ring_slots=E:30"}}
	if _, err := run.Run(t.Context(), full); err == nil || !strings.Contains(err.Error(), "the rings need 17 MiB") {
		t.Errorf("more than there is: %v", err)
	}
}
