package exec_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"kernbench/exec"
	"kernbench/fault"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// busy is an executor that takes long for an instruction.
type busy struct{ takes time.Duration }

func (busy) Data() *oplog.Log { return nil }
func (busy) Close()           {}

func (b busy) Launch(_ context.Context, l *launch.Launch) (*launch.Result, error) {
	c := tl.NewContext(tl.Setup{Core: b, World: 1, PEsPerCube: 1, Wiring: &tl.Wiring{}, Ring: &l.Ring, Addrs: l.Addrs,
		Scratch: 1 << 10, Watch: l.Watch})
	tl.DriverOf(c).Enter()
	_, err := tl.DriverOf(c).Run(l.Kernel, tl.Args{})
	return &launch.Result{}, err
}

func (b busy) Do(*tl.Instr) { time.Sleep(b.takes) }

// TestBusyExecutorIsNoStall: only the time counts in which the kernel itself runs, not that of the
// executor before it.
func TestBusyExecutorIsNoStall(t *testing.T) {
	const stall = 400 * time.Millisecond
	l := &launch.Launch{
		Name: "busy", Groups: []launch.Group{{PEs: []int32{0}, Wiring: make([]tl.Wiring, 1), PEsPerCube: 1}},
		Ring: tl.Ring{Slots: 1, SlotBytes: 8},
		Kernel: func(c *tl.Context, _ tl.Args) {
			c.Fence()
			for start := time.Now(); time.Since(start) < stall/2; {
			}
		},
	}
	if _, err := (exec.Limits{Stall: stall}).Launch(t.Context(), busy{2 * stall}, l); err != nil {
		t.Error(err)
	}
}

// A launch that stops while one kernel runs names it, and counts the ranks that are not listed.
func TestStoppedCountsTheRest(t *testing.T) {
	running := &fault.Stalled{Place: fault.Place{Rank: 2, Line: "a.go:7"}, Stack: []string{"a.go:7 (main.kernel)"}}
	for world, want := range map[int]string{4: "\n  ranks not listed had ended or not begun: 3 of 4", 1: ""} {
		s := exec.Stopped{Err: context.Canceled, World: world, Running: running}
		_, rest, _ := strings.Cut(s.Error(), "(main.kernel)")
		if rest != want {
			t.Errorf("world %d: %q after the stack, want %q", world, rest, want)
		}
	}
}
