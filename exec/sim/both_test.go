package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/tl"
	"kernbench/trace"
)

// asked is a context that does something when a goroutine that follows a launch looks at it for the n-th time: the
// one that launched it, or the second one.
type asked struct {
	context.Context
	second bool
	n      int64
	times  atomic.Int64
	do     func()
}

// ofTheSecond is in the stack of the second goroutine.
const ofTheSecond = "created by kernbench/exec/sim.both"

func (c *asked) Err() error {
	stack := make([]byte, 16<<10)
	stack = stack[:runtime.Stack(stack, false)]
	if s := string(stack); strings.Contains(s, ".(*follow).look(") && strings.Contains(s, ofTheSecond) == c.second && c.times.Add(1) == c.n {
		c.do()
	}
	return c.Context.Err()
}

// goRound is a kernel of many steps.
func goRound(c *tl.Context, a tl.Args) {
	v := c.Load(a.Shard(c.Rank()))
	for range 3000 {
		c.Send(tl.East, v)
		v = c.Recv(tl.West, v.Shape(), v.DType())
	}
}

// ways are launches that two goroutines follow, in each way of doing so.
func ways(t *testing.T) map[string]func() (*bench, sim.Options) {
	return map[string]func() (*bench, sim.Options){
		"sides": func() (*bench, sim.Options) {
			b := newBench(t, goRound, setup{world: 96, n: 8})
			b.launch.Local, b.launch.Sends, b.launch.Alike = true, []tl.Dir{tl.East}, true
			return b, sim.Options{Fidelity: noc.Ideal, SecondCore: true}
		},
		"windows": func() (*bench, sim.Options) {
			return libraryBench(t, algorithm.HierarchicalRingAllReduce, setup{world: 64, n: 64 * 256, slotBytes: 512,
				sets: smallSIPs("{network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 30}, switch: {overhead_ns: 5}}")}), sim.Options{SecondCore: true}
		},
	}
}

// TestDefectOnEitherSide: a panic where two goroutines follow a launch comes out of Launch, on whichever of them it is,
// and early or late. The other one ends.
func TestDefectOnEitherSide(t *testing.T) {
	for name, launch := range ways(t) {
		for _, second := range []bool{false, true} {
			for _, n := range []int64{1, 3} {
				t.Run(fmt.Sprintf("%s, second %v, %d", name, second, n), func(t *testing.T) {
					defer func() {
						if s := fmt.Sprint(recover()); !strings.HasPrefix(s, "a defect") || second != strings.Contains(s, "goroutine ") {
							t.Errorf("panicked with %s", s)
						}
					}()
					b, o := launch()
					_, err := sim.New(b.m, b.topo, o).Launch(&asked{Context: t.Context(), second: second, n: n, do: func() { panic("a defect") }}, b.launch)
					t.Errorf("launched, with error %v", err)
				})
			}
		}
	}
}

// TestCancelledOnEitherSide: nor does a launch go on that is cancelled at any moment, whoever sees it first.
func TestCancelledOnEitherSide(t *testing.T) {
	for name, launch := range ways(t) {
		for n := int64(1); n <= 4; n++ {
			for _, second := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				b, o := launch()
				x := sim.New(b.m, b.topo, o)
				if _, err := x.Launch(&asked{Context: ctx, second: second, n: n, do: cancel}, b.launch); !errors.Is(err, context.Canceled) {
					t.Errorf("%s, look %d, second %v: said %v", name, n, second, err)
				}
				if _, err := x.Launch(t.Context(), b.launch); !errors.Is(err, sim.ErrBroken) {
					t.Errorf("%s: a launch after it: %v", name, err)
				}
				cancel()
			}
		}
	}
}

// TestDefectWhileRecording: a panic on the goroutine that records ahead comes out of Launch, too.
func TestDefectWhileRecording(t *testing.T) {
	b := newBench(t, goRound, setup{world: 80, n: 8})
	b.launch.Local = true
	defer func() {
		if s := fmt.Sprint(recover()); !strings.Contains(s, "out of range") || !strings.Contains(s, "recordPart") {
			t.Errorf("panicked with %s", s)
		}
	}()
	err := sim.FollowWithADefect(t.Context(), b.m, b.topo, b.launch, sim.Options{SecondCore: true, Trace: sinkFunc(func(*trace.Event) {})})
	t.Errorf("launched, with error %v", err)
}
