package hccl_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"kernbench/check/verify"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// caseSetup holds the settings of a run of a program.
type caseSetup struct {
	timed bool
	seed  uint64 // of the order in which the mock executor goes
	mesh  bool   // by the algorithms fullmesh

	buffer unit.Bytes // for staging

	cores  hccl.Cores // of each device, which all make the same calls
	config hccl.Config
	poster int // the core that posts, AIC first
}

// layouts are cores, and which of them posts.
var layouts = []caseSetup{
	{cores: hccl.Cores{AIV: 1}},
	{cores: hccl.Cores{AIV: 2}},
	{cores: hccl.Cores{AIC: 2}, config: hccl.Config{Block: 1}, poster: 1},
	{cores: hccl.Cores{AIC: 2, AIV: 2}, config: hccl.Config{Server: hccl.OnAIV}, poster: 2},
	{cores: hccl.Cores{AIC: 1, AIV: 1}, config: hccl.Config{Server: hccl.OnAIC}, poster: 0},
}

func (w caseSetup) count() int { return w.cores.AIC + w.cores.AIV }

// performed holds what a program came to.
type performed struct {
	answers [][][]int // by device and core
	judged  int       // results that are right
	sent    []float64 // all of the buffer that tasks send from, by device
	left    []float64 // of the one that they receive in, at the end
	err     error
	out     *hccl.Outcome
}

// smallest is the smallest machine that the programs fit on, made once.
var smallest = sync.OnceValues(func() (*machine.Machine, error) {
	top, err := conf.LoadTopology(nil, []string{"system.sips.count=1", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"cube.pe_layout.pe_per_corner=1"})
	if err != nil {
		return nil, err
	}
	return machine.Build(top)
})

// perform runs a program on the package.
func perform(p *program, w caseSetup) (*performed, error) {
	m, err := smallest()
	if err != nil {
		return nil, err
	}
	var x exec.Executor
	log := oplog.New(oplog.Options{Timed: w.timed, Inline: !w.timed})
	defer log.Close()
	if x = mock.New(mock.Options{Data: log, Seed: w.seed}); w.timed {
		x = sim.New(m, sim.Options{Data: log})
	}
	done := &performed{answers: make([][][]int, p.ranks)}
	check := func(c *device.Call) error {
		g := &c.Groups[0]
		v, err := verify.Check(verify.Input{
			Collective: c.Collective, Call: g.Call, Hasher: log.Hasher(),
			In:   func(rank int) []byte { return g.Inputs[rank] },
			Out:  func(rank int) []byte { return g.Outputs[rank] },
			Prov: func(rank int) collective.Prov { return g.Provs[rank] },
		})
		switch {
		case err != nil:
			return err
		case !v.OK():
			return fmt.Errorf("%s: %v", c.Title, v.Failures)
		}
		done.judged++
		return nil
	}
	dev, err := device.New(device.Config{Machine: m, Executor: x, Check: check})
	if err != nil {
		return nil, err
	}
	tiling, offsets := hccl.NewTiling(), make([][]int, len(p.groups))
	tiling.AddInit()
	var comms []*hccl.Comm
	for g, members := range p.groups {
		pes := make([]int32, len(members))
		for i, d := range members {
			pes[i] = int32(d)
		}
		name := fmt.Sprintf("g%d", g)
		comm, err := hccl.NewComm(dev, name, pes, hccl.Options{Buffer: w.buffer})
		if err != nil {
			return nil, err
		}
		comms = append(comms, comm)
		for _, op := range p.operations(g) {
			cc := hccl.NewCcTiling(name, op, hccl.DefaultAlgConfig(op))
			if op == hccl.OpAlltoAllV {
				cc.SetStepSize(uint8(p.stepSize[g]))
			} else if w.mesh {
				cc.SetAlgConfig(op.String() + "=level0:fullmesh")
			}
			at, _ := tiling.AddCc(cc)
			offsets[g] = append(offsets[g], at)
		}
	}
	if err := tiling.Err(); err != nil {
		return nil, err
	}
	var buffers [][]*device.Tensor
	for range 2 {
		b, err := dev.Zeros(p.ranks, bufferElems, dtype.F32, device.DPPolicy{PE: device.RowWise, NumCubes: 1, NumPEs: p.ranks})
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, []*device.Tensor{b})
	}
	done.sent = make([]float64, p.ranks*bufferElems)
	for i := range done.sent {
		done.sent[i] = float64(i % 1021)
	}
	if err := buffers[0][0].CopyIn(done.sent); err != nil {
		return nil, err
	}
	for d := range done.answers {
		done.answers[d] = make([][]int, w.count())
	}
	l := &hccl.Launch{
		Name: "program", Cores: w.cores, Comms: comms, Tiling: tiling, Buffers: buffers,
		Kernel: func(k *hccl.Kernel) {
			d := k.Rank()
			core := k.BlockIdx()
			if k.CoreType() == hccl.AIV {
				core += w.cores.AIC
			}
			into := &done.answers[d][core]
			objects := make([]*hccl.Hccl, len(p.groups))
			for g := range objects {
				objects[g] = k.New(w.config)
				if p.bare[d] || p.member(g, d) < 0 {
					continue
				}
				objects[g].InitV2(k.HcclContext(g), k.Tiling())
				for _, at := range offsets[g] {
					objects[g].SetCcTilingV2(at)
				}
			}
			for _, s := range p.steps[d] {
				if s.act == actFinalize {
					k.SyncAll(hccl.AllCores)
				}
				*into = append(*into, s.perform(k, objects[s.group], p))
			}
		},
	}
	done.out, done.err = l.Run(context.Background())
	if _, hangs := errors.AsType[*fault.Deadlock](done.err); !hangs {
		done.left, err = buffers[1][0].Read()
	}
	return done, err
}

// perform makes the call; what it returns nothing for is 0.
func (s step) perform(k *hccl.Kernel, h *hccl.Hccl, p *program) int {
	id := hccl.Handle(s.handle)
	switch s.act {
	case actPrepare:
		return int(s.prepare(k, h, p))
	case actGroupSync:
		return h.InterHcclGroupSync(1-s.group, id)
	case actCommit:
		h.Commit(id)
	case actWait:
		return h.Wait(id)
	case actQuery:
		return h.Query(id)
	case actIterate:
		ranks := make([]int, max(1, p.stepSize[s.group]))
		return listed(ranks[:h.Iterate(s.side, id, ranks)])
	case actFinalize:
		h.Finalize()
	}
	return 0
}

func (s step) prepare(k *hccl.Kernel, h *hccl.Hccl, p *program) hccl.Handle {
	at := mem.Addr(4 * s.region * regionElems)
	send, recv, count, repeat := k.GM(0)+at, k.GM(1)+at, uint64(s.count), uint8(s.repeat)
	typ, op, release := hccl.FP32, hccl.ReduceSum, hccl.CommitLater
	if s.now {
		release = hccl.CommitNow
	}
	switch s.badArg {
	case noRepeat:
		repeat = 0
	case nullBuffer:
		recv = 0
	case badType:
		typ = 13
	case notReducible:
		typ = hccl.FP64
	case badOp:
		op = hccl.ReduceProd
	case noCount:
		count = 0
	case noTiling:
		if p.stepSize[s.group] > 0 {
			return h.AlltoAll(release, send, recv, count, typ, 0, repeat)
		}
		s.op = hccl.OpAlltoAllV
	}
	stride := count * uint64(repeat) // space for all turns
	switch s.op {
	case hccl.OpAllGather:
		return h.AllGather(release, send, recv, count, typ, stride, repeat)
	case hccl.OpReduceScatter:
		return h.ReduceScatter(release, send, recv, count, typ, op, stride, repeat)
	case hccl.OpAlltoAll:
		return h.AlltoAll(release, send, recv, count, typ, stride, repeat)
	}
	if s.op == hccl.OpAlltoAllV {
		world := len(p.groups[s.group])
		counts, displs := make([]uint64, world), make([]uint64, world)
		for j := range counts {
			counts[j], displs[j] = count, uint64(j)*stride
		}
		return h.AlltoAllV(release, send, counts, displs, typ, recv, counts, displs, typ, repeat)
	}
	return h.AllReduce(release, send, recv, count, typ, op, repeat)
}

// collectives are what a task performs on the elements of all its turns. With a stride of as many
// elements, turns are parts of one collective on all.
var collectives = map[hccl.OpType]string{
	hccl.OpAllReduce: "all_reduce", hccl.OpAllGather: "all_gather", hccl.OpReduceScatter: "reduce_scatter",
	hccl.OpAlltoAll: "all_to_all", hccl.OpAlltoAllV: "all_to_all",
}

// received returns what tasks leave in the buffers, by device.
func received(p *program, tasks []step, sent []float64) ([]float64, error) {
	left := make([]float64, len(sent))
	for _, s := range tasks {
		co, err := collective.Lookup(collectives[s.op])
		if err != nil {
			return nil, err
		}
		members := p.groups[s.group]
		c := collective.Call{World: len(members), Elems: s.count * s.repeat, Type: dtype.F32}
		if s.op != hccl.OpAllReduce && s.op != hccl.OpAllGather { // counts are of the block of a rank
			c.Elems *= c.World
		}
		e, err := co.Expect(new(collective.Hasher), c)
		if err != nil {
			return nil, err
		}
		for r, d := range members {
			at := d*bufferElems + s.region*regionElems
			for _, part := range e.Parts(r) {
				for i := range part.N {
					left[at] = 0
					for j := range part.From.N {
						from := members[part.From.At(j)]
						left[at] += sent[from*bufferElems+s.region*regionElems+int(part.Base)+i]
					}
					at++
				}
			}
		}
	}
	return left, nil
}

// compare returns the differences between a program's results and the model's.
func compare(p *program, want outcome, got *performed, w caseSetup) error {
	dead, hangs := errors.AsType[*fault.Deadlock](got.err)
	misuse, misused := errors.AsType[*hccl.Misuse](got.err)
	switch {
	case hangs == want.ends:
		return fmt.Errorf("comes to its end: %v, the model says %v: %v", !hangs, want.ends, got.err)
	case got.err != nil && dead == nil && !misused:
		return fmt.Errorf("failed: %w", got.err)
	case want.ends && got.judged != want.units:
		return fmt.Errorf("%d turns were judged, %d in the model: %w", got.judged, want.units, got.err)
	}
	if want.ends {
		left, err := received(p, want.tasks, got.sent)
		if err != nil {
			return err
		}
		for i := range left {
			if left[i] != got.left[i] {
				return fmt.Errorf("element %d of device %d is %v at the end, want %v", i%bufferElems, i/bufferElems, got.left[i], left[i])
			}
		}
	}
	for d, answers := range want.answers {
		for core, returned := range got.answers[d] {
			// A core that does not post does not wait in Finalize.
			if core == w.poster && len(returned) != len(answers) || len(returned) < len(answers) {
				return fmt.Errorf("device %d core %d: %d calls returned, %d in the model", d, core, len(returned), len(answers))
			}
			for i, a := range answers {
				if core != w.poster {
					a.high = a.slower
				}
				if returned[i] < a.low || returned[i] > a.high {
					return fmt.Errorf("device %d core %d, call %d: returned %d, in the model %d to %d", d, core, i,
						returned[i], a.low, a.high)
				}
			}
		}
	}
	var found []hccl.Diagnostic
	switch {
	case misused && misuse.More > 0:
		return nil // some of the rules were not kept
	case misused:
		found = misuse.Diagnostics
	case got.out != nil:
		found = got.out.Warnings
	}
	if hangs && w.count() > 1 {
		return nil // cores that do not wait in Finalize go on, and may break more
	}
	broken, reported := map[hccl.Rule]int{}, map[hccl.Rule]int{}
	for _, rules := range want.broken {
		for _, r := range rules {
			broken[r] += w.count()
		}
	}
	for _, f := range found {
		if f.Rule != hccl.Mismatch && f.Rule != hccl.NoFinalize {
			reported[f.Rule] += 1 + f.Repeats
		}
	}
	if !maps.Equal(broken, reported) {
		return fmt.Errorf("broken are %v, in the model %v", reported, broken)
	}
	return nil
}

func TestCallsAreAsTheModelSays(t *testing.T) {
	ended, hung := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := newChance(t)
		p, w := drawProgram(c), pick(c, "cores", layouts)
		w.timed, w.seed = c.between(0, 4, "timed") == 4, uint64(c.between(0, 9, "seed"))
		w.mesh, w.buffer = c.between(0, 1, "mesh") == 1, pick(c, "buffer", []unit.Bytes{64, 256, hccl.DefaultBuffer})
		want := predict(p)
		if p.stepped && !want.ends {
			return
		}
		got, err := perform(p, w)
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(p, want, got, w); err != nil {
			t.Fatalf("%v\n%+v\n%+v\n%+v\n%v", err, p, want, got.answers, got.err)
		}
		if want.ends {
			ended++
		} else {
			hung++
		}
	})
	t.Logf("%d programs came to their end, %d did not", ended, hung)
	if ended+hung >= 50 && (ended == 0 || hung == 0) {
		t.Errorf("%d programs came to their end, %d did not: the property looks at both", ended, hung)
	}
}
