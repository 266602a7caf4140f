package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kernbench/collective"
	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// image holds the state of memory after a run, and the outcome of the run.
type image struct {
	err   error
	data  [][]byte
	prov  []collective.Prov
	words [][]int64
	res   launch.Result
	trace collector
}

// regions returns the pieces of memory that a program can touch.
func (p *program) regions() []mem.Addr {
	var all []mem.Addr
	for r := range p.world {
		all = append(all, mem.At(mem.HBM, r, 0), mem.At(mem.HBM, r, readOnlyAt), mem.At(mem.HBM, r, pipedAt))
		for w := range p.world {
			all = append(all, mem.At(mem.HBM, r, pokedAt+int64(w)*pokedEach))
		}
	}
	return all
}

func (p *program) memory() (*oplog.Log, error) {
	log := oplog.New(oplog.Options{Timed: true, Inline: true})
	for k, a := range p.regions() {
		if err := log.Map(a, dtype.I32, p.elems); err != nil {
			return nil, err
		}
		buf := make([]byte, 4*p.elems)
		for i := range p.elems {
			dtype.SetInt(dtype.I32, buf, i, int64(1000*k+i))
		}
		if err := log.Write(a, dtype.I32, buf); err != nil {
			return nil, err
		}
		if a.Offset() == 0 {
			if err := log.Label(a.Unit(), 0, a, dtype.I32, p.elems); err != nil {
				return nil, err
			}
		}
	}
	log.Begin(tl.Sum, p.world)
	return log, nil
}

type executor interface {
	Launch(context.Context, *launch.Launch) (*launch.Result, error)
}

// on runs the program on an executor that make gives for a log.
func (p *program) on(make func(*oplog.Log, *collector) executor) (*image, error) {
	l, err := p.launch()
	if err != nil {
		return nil, err
	}
	log, err := p.memory()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	win := l.Groups[0].Args.Windows[0]
	if err := zero(log, win); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := &image{}
	res, err := make(log, &o.trace).Launch(ctx, l)
	if o.err = err; err != nil {
		return o, nil
	}
	o.res = *res
	view := func(a mem.Addr, n int) error {
		b, prov, err := log.View(a, dtype.I32, n)
		o.data = append(o.data, slices.Clone(b))
		o.prov = append(o.prov, prov)
		return err
	}
	for _, a := range p.regions() {
		if err := view(a, p.elems); err != nil {
			return nil, err
		}
	}
	for r := range p.world {
		o.words = append(o.words, win.Words(r))
		for _, part := range []string{"box", "own"} {
			w := win.Layout.Find(part)
			if err := view(win.Addr(r, w.Off), w.Count); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

func (p *program) onMock() (*image, error) {
	return p.on(func(l *oplog.Log, _ *collector) executor {
		return mock.New(mock.Options{Data: l, RecordLines: true, Order: p.order})
	})
}

// programMachines are the machines that random programs run on. They are slow, messages are much
// smaller than payloads, and each buffer has space for one. So operations at one time meet.
var programMachines = map[programMachine]*machine.Machine{}

// programMachine holds the properties in which the machines of random programs differ.
type programMachine struct {
	queue  int // depth of a DMA queue
	order  mem.Ordering
	engine string // comm_engine.per; "": pe
}

func machineFor(queue int, order mem.Ordering, engine string) *machine.Machine {
	key := programMachine{queue, order, engine}
	if programMachines[key] == nil {
		sets := []string{
			"system.sips.count=1", "sip.cube_mesh.w=2", "sip.cube_mesh.h=2", "cube.pe_layout.pe_per_corner=1",
			"cube.pe_layout.corners=[NW,SE]", "fabric.message_bytes=64", "fabric.buffer_bytes=64", "fabric.flit_bytes=16",
			"cube.noc.link_bw_gbs=8", "pe.link_bw_gbs=8", "cube.hbm_to_router_bw_gbs=16", "sip.ucie.bw_gbs=4", "pe.tcm.bw_gbs=16",
			fmt.Sprintf("pe.dma.queue_depth=%d", queue), "fabric.memory_order=" + order.String(),
		}
		if engine != "" {
			sets = append(sets, "comm_engine.per="+engine)
		}
		t, err := conf.LoadTopology(nil, sets)
		if err != nil {
			panic(err)
		}
		if programMachines[key], err = machine.Build(t); err != nil {
			panic(err)
		}
	}
	return programMachines[key]
}

// onSim runs the program event-driven, with source lines.
func (p *program) onSim(f noc.Fidelity, yield bool, seed uint64) (*image, error) {
	return p.onSimWith(sim.Options{Fidelity: f, Yield: yield, RecordLines: true, Seed: seed})
}

// onSimWith runs the program with options, to which it adds a log and a trace.
func (p *program) onSimWith(o sim.Options) (*image, error) {
	m := machineFor(p.queue, p.order, "")
	return p.on(func(l *oplog.Log, c *collector) executor {
		o.Data, o.Trace = l, c
		return sim.New(m, o)
	})
}

// sameValues returns how the memory of two runs differs, if it does.
func sameValues(a, b *image) error {
	for i := range a.data {
		if !bytes.Equal(a.data[i], b.data[i]) {
			return fmt.Errorf("region %d holds %x and %x", i, a.data[i], b.data[i])
		}
		if !collective.Equal(a.prov[i], b.prov[i]) {
			return fmt.Errorf("region %d comes from %+v and %+v", i, a.prov[i], b.prov[i])
		}
	}
	if what := cmp.Diff(a.words, b.words); what != "" {
		return fmt.Errorf("words differ: %s", what)
	}
	return nil
}

// placeOf returns the place of a fault, which every fault must have.
func placeOf(err error) (fault.Place, error) {
	var (
		hang     *fault.Deadlock
		left     *fault.Unreceived
		dir      *fault.InvalidDirection
		late     *fault.UseAfterCredit
		free     *fault.UseAfterFree
		mismatch *fault.Mismatch
		misuse   *fault.Misuse
		full     *fault.ScratchFull
	)
	switch {
	case errors.As(err, &left):
		return left.Place, nil
	case errors.As(err, &dir):
		return dir.Place, nil
	case errors.As(err, &late):
		return late.Place, nil
	case errors.As(err, &free):
		return free.Place, nil
	case errors.As(err, &mismatch):
		return mismatch.Place, nil
	case errors.As(err, &misuse):
		return misuse.Place, nil
	case errors.As(err, &full):
		return full.Place, nil
	case errors.As(err, &hang):
		if len(hang.Blocked) == 0 || hang.Blocked[0].Line == "" || hang.Cycle == nil && hang.Missing == "" && hang.Advice == "" {
			return fault.Place{}, fmt.Errorf("a deadlock without a place or a reason: %w", err)
		}
		return hang.Blocked[0].Place, nil
	}
	return fault.Place{}, fmt.Errorf("%T is no fault that a program of these steps can have: %w", err, err)
}
