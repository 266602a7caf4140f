package hccl_test

import (
	"context"
	"fmt"
	"testing"

	"kernbench/check/race"
	"kernbench/check/verify"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/record/trace"

	"pgregory.net/rapid"
)

// rig is devices on a small machine, with a judge.
type rig struct {
	tester
	dev      *device.Context
	executor string         // "" for one that is not among executors
	judged   []string       // title of each collective
	calls    []*device.Call // what they were
}

// tester is what a rig needs of a test or of a property.
type tester interface {
	rapid.TB
	Cleanup(f func())
}

// small is a machine of 2 SIPs × (2 × 1 cubes) × 4 PEs = 16 PEs.
var small = []string{"system.sips.count=2", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1"}

// how is the way in which a rig runs programs.
type how struct {
	timed bool           // on the executor with a clock
	seed  uint64         // of the order in which the one without goes
	yield bool           // sim.Options.Yield
	bare  bool           // without the data pass
	judge *race.Detector // nil: races are not looked for
	trace trace.Sink
	sets  []string // of the machine
}

// executors are what each test of behaviour runs on.
var executors = map[string]how{"mock": {}, "random mock": {seed: 7}, "sim": {timed: true}}

// onEach runs a test on each executor.
func onEach(t *testing.T, f func(t *testing.T, r *rig)) {
	for _, name := range []string{"mock", "random mock", "sim"} {
		t.Run(name, func(t *testing.T) { f(t, newRig(t, name)) })
	}
}

func newRig(t testing.TB, executor string, sets ...string) *rig {
	t.Helper()
	way := executors[executor]
	way.sets = sets
	r := openRig(t, way)
	r.executor = executor
	return r
}

func openRig(t tester, way how) *rig {
	t.Helper()
	_, m := built(t, way.sets)
	var log *oplog.Log
	if !way.bare {
		log = oplog.New(oplog.Options{Inline: true})
		t.Cleanup(log.Close)
	}
	var x exec.Executor
	var fresh func(mem.Addr, int64)
	var account *history.Log
	if way.judge != nil {
		fresh, account = way.judge.Fresh, way.judge.Log()
	}
	if way.timed {
		x = sim.New(m, sim.Options{Data: log, Yield: way.yield, History: account, Trace: way.trace})
	} else {
		x = mock.New(mock.Options{Data: log, Seed: way.seed, History: account})
	}
	r := &rig{tester: t}
	var err error
	r.dev, err = device.New(device.Config{
		Machine: m, Executor: x, Fresh: fresh, Check: func(c *device.Call) error {
			if way.bare {
				return nil
			}
			return r.judge(c, log)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// machines is those that there are, by settings.
var machines = map[string]struct {
	top *conf.Topology
	m   *machine.Machine
}{}

func built(t tester, sets []string) (*conf.Topology, *machine.Machine) {
	t.Helper()
	key := fmt.Sprint(sets)
	if got, ok := machines[key]; ok {
		return got.top, got.m
	}
	top, err := conf.LoadTopology(nil, append(small[:len(small):len(small)], sets...))
	if err != nil {
		t.Fatal(err)
	}
	got := machines[key]
	got.top = top
	if got.m, err = machine.Build(top); err != nil {
		t.Fatal(err)
	}
	machines[key] = got
	return got.top, got.m
}

func (r *rig) judge(c *device.Call, log *oplog.Log) error {
	g := &c.Groups[0]
	v, err := verify.Check(verify.Input{
		Collective: c.Collective, Call: g.Call, Hasher: log.Hasher(), Operation: log.Why,
		In:   func(rank int) []byte { return g.Inputs[rank] },
		Out:  func(rank int) []byte { return g.Outputs[rank] },
		Prov: func(rank int) collective.Prov { return g.Provs[rank] },
	})
	if err != nil {
		return err
	}
	r.judged, r.calls = append(r.judged, c.Title), append(r.calls, c)
	if !v.OK() {
		r.Errorf("%s: provenance %v, values %v: %v", c.Title, v.Provenance, v.Values, v.Failures)
	}
	return nil
}

// group makes a group of the first n PEs.
func (r *rig) group(n int, o hccl.Options) *hccl.Comm {
	r.Helper()
	pes := make([]int32, n)
	for i := range pes {
		pes[i] = int32(i)
	}
	g, err := hccl.NewComm(r.dev, "world", pes, o)
	if err != nil {
		r.Fatal(err)
	}
	return g
}

// buffer is n elements on each of the first PEs, all of one SIP.
func (r *rig) buffer(world, n int, t dtype.Type, fill func(rank, i int) float64) []*device.Tensor {
	r.Helper()
	var tensors []*device.Tensor
	per := r.dev.Machine().NumPEs() / r.dev.Machine().SIPs()
	for first := 0; first < world; first += per {
		var pes []int32
		for p := first; p < min(first+per, world); p++ {
			pes = append(pes, int32(p))
		}
		if err := r.dev.SetDevice(first / per); err != nil {
			r.Fatal(err)
		}
		x, err := r.dev.EmptyOn(pes, n, t)
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

// read is what a rank's part of a buffer holds.
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

// tiling is one of a group, with these algorithm strings, and their offsets.
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

func (r *rig) titles(want ...string) {
	r.Helper()
	if got := fmt.Sprint(r.judged); got != fmt.Sprint(want) {
		r.Errorf("judged were %v, not %v", r.judged, want)
	}
}

// tensors is a list of buffers.
func tensors(b ...[]*device.Tensor) [][]*device.Tensor { return b }
