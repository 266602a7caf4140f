package hccl_test

import (
	"context"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/sim"
	"kernbench/kerneltest/hosttest"
	"kernbench/record/trace"

	"pgregory.net/rapid"
)

// rig is devices on a small machine, with a judge.
type rig struct {
	tester
	*hosttest.Rig
	executor string // "" for one that is not among executors
}

// tester holds the methods of a test or a property that a rig uses.
type tester interface {
	rapid.TB
	Cleanup(f func())
}

// small is a machine of 2 SIPs × (2 × 1 cubes) × 4 PEs = 16 PEs.
var small = []string{"system.sips.count=2", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1"}

// topology is that of the machine.
func topology(t tester) *conf.Topology {
	t.Helper()
	top, err := conf.LoadTopology(nil, small)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// runMode holds the executor of a rig and its settings.
type runMode struct {
	timed bool           // on the executor with a clock
	seed  uint64         // of the order in which the one without goes
	yield bool           // sim.Options.Yield
	bare  bool           // without the data pass
	judge *race.Detector // nil: races are not looked for
	trace trace.Sink
	sets  []string // of the machine
}

// executors are those on which each test of behaviour runs.
var executors = map[string]runMode{"mock": {}, "random mock": {seed: 7}, "sim": {timed: true}}

// onEach runs a test on each executor.
func onEach(t *testing.T, f func(t *testing.T, r *rig)) {
	for _, name := range []string{"mock", "random mock", "sim"} {
		t.Run(name, func(t *testing.T) { f(t, newRig(t, name)) })
	}
}

func newRig(t testing.TB, executor string, sets ...string) *rig {
	t.Helper()
	mode := executors[executor]
	mode.sets = sets
	r := openRig(t, mode)
	r.executor = executor
	return r
}

func openRig(t tester, mode runMode) *rig {
	t.Helper()
	s := hosttest.Setup{
		Sets: append(small[:len(small):len(small)], mode.sets...), Seed: mode.seed, NoData: mode.bare,
		Races: mode.judge, Trace: mode.trace,
	}
	if mode.timed {
		s.Executor = sim.Name
	}
	if mode.yield {
		s.Open = func(x exec.Setup) (exec.Executor, error) {
			return sim.New(x.Machine, sim.Options{Data: x.Data, History: x.History, Trace: x.Trace, Yield: true}), nil
		}
	}
	return &rig{tester: t, Rig: hosttest.Open(t, s)}
}

// group makes a group of the first n PEs.
func (r *rig) group(n int, o hccl.Options) *hccl.Comm {
	r.Helper()
	pes := make([]int32, n)
	for i := range pes {
		pes[i] = int32(i)
	}
	g, err := hccl.NewComm(r.Device, "world", pes, o)
	if err != nil {
		r.Fatal(err)
	}
	return g
}

// buffer is n elements on each of the first PEs, all of one SIP.
func (r *rig) buffer(world, n int, t dtype.Type, fill func(rank, i int) float64) []*device.Tensor {
	r.Helper()
	var tensors []*device.Tensor
	per := r.Device.Machine().NumPEs() / r.Device.Machine().SIPs()
	for first := 0; first < world; first += per {
		var pes []int32
		for p := first; p < min(first+per, world); p++ {
			pes = append(pes, int32(p))
		}
		if err := r.Device.SetDevice(first / per); err != nil {
			r.Fatal(err)
		}
		x, err := r.Device.EmptyOn(pes, n, t)
		if err != nil {
			r.Fatal(err)
		}
		var values []float64
		for _, p := range pes {
			for i := range n {
				if fill != nil {
					values = append(values, fill(int(p), i))
				}
			}
		}
		if fill != nil {
			if err := x.CopyIn(values); err != nil {
				r.Fatal(err)
			}
		}
		tensors = append(tensors, x)
	}
	return tensors
}

// read returns what a rank's part of a buffer holds.
func (r *rig) read(b []*device.Tensor, rank int) []float64 {
	r.Helper()
	for _, x := range b {
		shards := x.Shards()
		if rank >= len(shards) {
			rank -= len(shards)
			continue
		}
		data, err := x.ReadShard(shards[rank])
		if err != nil {
			r.Fatal(err)
		}
		v := make([]float64, len(data)/x.DType().Size())
		for i := range v {
			v[i] = dtype.At(x.DType(), data, i)
		}
		return v
	}
	r.Fatalf("no rank %d", rank)
	return nil
}

// tiling returns one of a group, with these algorithm strings, and their offsets.
func (r *rig) tiling(ccs ...*hccl.CcTiling) (*hccl.Tiling, []int) {
	r.Helper()
	t := hccl.NewTiling()
	t.AddInit()
	var at []int
	for _, cc := range ccs {
		off, status := t.AddCc(cc)
		if status != 0 {
			r.Fatal(t.Err())
		}
		at = append(at, off)
	}
	return t, at
}

// run runs a launch that is expected to end well.
func (r *rig) run(l hccl.Launch) *hccl.Outcome {
	r.Helper()
	out, err := l.Run(context.Background())
	if err != nil {
		r.Fatal(err)
	}
	return out
}

// same checks what a rank's part of a buffer holds.
func (r *rig) same(b []*device.Tensor, rank int, want func(i int) float64) {
	r.Helper()
	for i, v := range r.read(b, rank) {
		if v != want(i) {
			r.Fatalf("rank %d element %d is %v, not %v", rank, i, v, want(i))
		}
	}
}

// judged returns the titles of the collectives that were checked.
func (r *rig) judged() []string {
	var titles []string
	for _, c := range r.Judged {
		titles = append(titles, c.Title)
	}
	return titles
}

func (r *rig) titles(want ...string) {
	r.Helper()
	if got := r.judged(); !slices.Equal(got, want) {
		r.Errorf("judged were %v, not %v", got, want)
	}
}

// tensors returns a list of buffers.
func tensors(b ...[]*device.Tensor) [][]*device.Tensor { return b }
