package bound_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/tl/launch"
	"kernbench/topology"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// experiment is one run of an algorithm.
type experiment struct {
	sets      []string
	algorithm string
	world     int
	pes       []int32 // of the ranks; nil: the first of the machine
	root      int
	elems     int
	typ       dtype.Type
	fidelity  noc.Fidelity
	inPlace   bool
	counted   int64 // instructions whose transfers count; 0: all
}

// measured holds what a run took, and what limits it.
type measured struct {
	time   unit.Time
	limits *bound.Result
}

// errCannot is a run that the algorithm, or a machine so small, cannot perform.
var errCannot = errors.New("cannot be performed")

func (e *experiment) run() (m measured, err error) {
	topoSets, cclSets, err := conf.SplitSets(e.sets)
	if err != nil {
		return m, err
	}
	topo, err := conf.LoadTopology(nil, topoSets)
	if err != nil {
		return m, err
	}
	ccl, err := conf.LoadCCL(nil, cclSets)
	if err != nil {
		return m, err
	}
	hardware, err := machine.Build(topo)
	if err != nil {
		return m, err
	}
	executor := &recorded{Executor: sim.New(hardware, sim.Options{Fidelity: e.fidelity}), machine: hardware, counted: e.counted}
	defer executor.Close()
	dev, err := device.New(device.Config{Machine: hardware, CCL: ccl, Executor: executor, World: e.world, PEs: e.pes})
	if err != nil {
		return m, fmt.Errorf("%w: %w", errCannot, err)
	}
	program := bench.Once(e.inPlace, e.root)
	host := bench.NewHost(program, dev, bench.Options{Algorithm: e.algorithm, NElem: e.elems, DType: e.typ}, func(string) {})
	if err := program.Execute(context.Background(), host); err != nil {
		return m, fmt.Errorf("%w: %w", errCannot, err)
	}
	call := dev.FirstCall()
	group, plan := &call.Groups[0], call.Plan
	solver, err := bound.New(hardware, group.PEs)
	if err != nil {
		return m, err
	}
	o := bound.Options{Ideal: e.fidelity == noc.Ideal, Transfers: executor.transfers}
	if plan.Algorithm.Window == nil {
		wiring, ring := plan.Rings(group.Call)
		o.Rings = bound.Rings(hardware, group.PEs, wiring, &ring)
		if path := plan.Algorithm.Path; path != nil {
			w := path(group.Call.World, group.Call.Root)
			o.Pipeline = &bound.Pipeline{Ranks: w.Ranks, Parts: w.Parts * len(wiring) / len(group.PEs)}
		}
	}
	m.time = dev.Launches()[0].Result.Duration()
	m.limits, err = solver.Limits(call.Collective, group.Call, o)
	return m, err
}

// recorded is an executor that also finds out what launches move, where they can be recorded.
type recorded struct {
	exec.Executor
	machine   *machine.Machine
	counted   int64
	transfers []bound.Transfer
}

func (r *recorded) Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error) {
	moved, err := bound.Transfers(ctx, r.machine, l, bound.Budget{Memory: 1 << 30, Instructions: r.counted})
	if err == nil || errors.Is(err, bound.ErrPart) {
		r.transfers = moved
	}
	return r.Executor.Launch(ctx, l)
}

// anyMachine draws settings of a small machine, of every kind of network.
func anyMachine(t *rapid.T) (sets []string, pes int) {
	set := func(format string, args ...any) { sets = append(sets, fmt.Sprintf(format, args...)) }
	sips := rapid.SampledFrom([]int{1, 1, 2, 3, 4, 6}).Draw(t, "sips")
	levels := rapid.IntRange(0, 2).Draw(t, "levels or not") == 2
	if levels {
		text := ""
		text, sips = anyLevels(t)
		set("%s", text)
	} else {
		set("system.sips.count=%d", sips)
	}
	switch network := rapid.SampledFrom([]string{"switch", "ring_1d", "full", "torus_2d", "mesh_2d_no_wrap"}).Draw(t, "between SIPs"); {
	case levels:
	case strings.Contains(network, "2d"):
		w := rapid.SampledFrom([]int{1, sips}).Draw(t, "SIPs in a row")
		if sips == 6 {
			w = 3
		}
		set("system.sips.topology=%s", network)
		set("system.sips.w=%d", w)
		set("system.sips.h=%d", sips/w)
	default:
		set("system.sips.topology=%s", network)
	}
	w, h := rapid.IntRange(1, 4).Draw(t, "w"), rapid.IntRange(1, 3).Draw(t, "h")
	set("sip.cube_mesh.w=%d", w)
	set("sip.cube_mesh.h=%d", h)
	set("sip.cube_mesh.network=%s", rapid.SampledFrom([]string{"mesh", "torus", "ring", "full", "switch"}).Draw(t, "between cubes"))
	corner := rapid.IntRange(1, 2).Draw(t, "PEs per corner")
	set("cube.pe_layout.pe_per_corner=%d", corner)
	set("sip.ucie.connections=%d", rapid.IntRange(1, 4).Draw(t, "connections"))
	rate := func(key string) {
		set("%s=%g", key, rapid.SampledFrom([]float64{1, 7.5, 32, 100, 128, 256, 1000}).Draw(t, key))
	}
	delay := func(key string) {
		set("%s=%g", key, rapid.SampledFrom([]float64{0, 0.5, 3, 40, 500}).Draw(t, key))
	}
	for _, key := range []string{
		"sip.ucie.bw_gbs", "cube.noc.link_bw_gbs", "pe.link_bw_gbs", "sip.io.bw_gbs",
		"cube.hbm_to_router_bw_gbs", "cube.sram_to_router_bw_gbs", "pe.tcm.bw_gbs",
	} {
		rate(key)
	}
	if !levels {
		rate("system.link.bw_gbs")
		delay("system.link.latency_ns")
	}
	for _, key := range []string{
		"cube.noc.router_ns", "sip.ucie.port_ns", "cube.hbm.access_ns", "pe.tcm.access_ns", "pe.issue_ns",
		"pe.dma.setup_ns", "pe.ipcq.send_ns", "pe.ipcq.recv_ns",
	} {
		delay(key)
	}
	for _, p := range []string{"simple", "ll", "ll128"} {
		key := "software.protocols." + p
		delay(key + ".latency_ns")
		delay(key + ".launch_ns")
		set("%s.efficiency=%g", key, rapid.SampledFrom([]float64{1, 0.9375, 0.5, 0.38, 0.01}).Draw(t, "efficiency of "+p))
	}
	if rapid.Bool().Draw(t, "channels of transfers") {
		set("software.channels.p2p.count=%d", rapid.SampledFrom([]int{1, 8, 32}).Draw(t, "channels"))
		set("software.channels.p2p.per_peer=%d", rapid.SampledFrom([]int{1, 2, 32}).Draw(t, "channels per peer"))
		rate("software.blocks.copy_gbs")
	}
	set("pe.math.lanes=%d", rapid.SampledFrom([]int{1, 8, 64, 1024}).Draw(t, "lanes"))
	set("pe.math.setup_ns=%d", rapid.IntRange(0, 4).Draw(t, "setup"))
	return sets, sips * w * h * 4 * corner
}

// anyRing draws settings of an algorithm's rings.
func anyRing(t *rapid.T, a *algorithm.Algorithm, world int) []string {
	key := "algorithms." + a.Name + "."
	sets := []string{
		key + "module=" + a.Name,
		fmt.Sprintf("%sn_slots=%d", key, rapid.SampledFrom([]int{2, 3, 4, 16}).Draw(t, "n_slots")),
		fmt.Sprintf("%sslot_size=%d", key, rapid.SampledFrom([]int{64, 512, 4096}).Draw(t, "slot_size")),
		key + "buffer_kind=" + rapid.SampledFrom([]string{"tcm", "tcm", "sram", "hbm"}).Draw(t, "buffer_kind"),
		key + "backpressure=" + rapid.SampledFrom([]string{"sleep", "poll"}).Draw(t, "backpressure"),
		key + "protocol=" + rapid.SampledFrom([]string{"simple", "ll", "ll128"}).Draw(t, "protocol"),
		key + "credit=" + rapid.SampledFrom([]string{"on_release", "on_release", "on_recv"}).Draw(t, "credit"),
	}
	if a.Pipelined {
		sets = append(sets, key+"chunk_size="+rapid.SampledFrom([]string{"auto", "auto", "64", "1KiB", "64KiB"}).Draw(t, "chunk_size"))
	}
	if top, err := topology.Lookup(a.Topology); err == nil && top.Planar {
		w := 1
		for k := 2; k*k <= world; k++ {
			if world%k == 0 {
				w = k
			}
		}
		sets = append(sets, fmt.Sprintf("%sw=%d", key, w), fmt.Sprintf("%sh=%d", key, world/w))
	}
	return sets
}

// anyExperiment draws a run of some algorithm.
func anyExperiment(t *rapid.T) *experiment {
	library := algorithm.All()
	a := library[rapid.Uint64().Draw(t, "algorithm")%uint64(len(library))] // all alike: IntRange likes small ones
	what, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	sets, pes := anyMachine(t)
	e := &experiment{
		algorithm: a.Name,
		world:     min(rapid.SampledFrom([]int{2, 3, 4, 6, 8, 8, 9, 16}).Draw(t, "world"), pes),
		typ:       rapid.SampledFrom([]dtype.Type{dtype.F16, dtype.F32, dtype.I64}).Draw(t, "type"),
		fidelity:  rapid.SampledFrom([]noc.Fidelity{noc.Slot, noc.Slot, noc.Ideal, noc.Flit}).Draw(t, "fidelity"),
	}
	e.sets = append(sets, anyRing(t, a, e.world)...)
	if rapid.Bool().Draw(t, "anywhere") { // not the first of the machine
		e.pes = rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(pes-1)), e.world, e.world, rapid.ID).Draw(t, "PEs")
		slices.Sort(e.pes)
	}
	if what.Rooted {
		e.root = rapid.IntRange(0, e.world-1).Draw(t, "root")
	}
	e.elems = e.world * rapid.SampledFrom([]int{1, 2, 15, 64, 1000, 4096}).Draw(t, "elements for each rank")
	if !what.Blocks {
		e.elems += rapid.IntRange(0, e.world-1).Draw(t, "and more")
	}
	c := collective.Call{World: e.world, Elems: e.elems, Type: e.typ, Root: e.root}
	e.counted = rapid.SampledFrom([]int64{0, 0, 1, 10, 100}).Draw(t, "counted instructions")
	e.inPlace = !what.Apart && what.Out(c, e.root) <= e.elems && rapid.Bool().Draw(t, "in place")
	return e
}

// No algorithm of the library beats a limit, on any machine, at any size.
func TestNoRunBeatsItsLimits(t *testing.T) {
	runs, refused, known := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		e := anyExperiment(t)
		m, err := e.run()
		if errors.Is(err, errCannot) {
			refused++
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		runs++
		if slices.ContainsFunc(m.limits.Bounds, func(b bound.Bound) bool { return b.Kind == bound.Traffic }) {
			known++
		}
		if m.limits.Limit > m.time {
			b := m.limits.Configured()
			t.Fatalf("%+v\ntook %v, which is below its limit of %v by %s: %+v", *e, m.time, m.limits.Limit, b.Kind, b.Witness)
		}
	})
	if runs+refused >= 100 && (runs <= refused || known*2 < runs) {
		t.Errorf("%d runs, of %d of which all that they move is known, and %d that could not be made: most should be possible",
			runs, known, refused)
	}
}

// Runs that were faster than limits which forgot what the model gives away.
func TestFastRuns(t *testing.T) {
	cube := []string{"system.sips.count=1", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "pe.issue_ns=0", "pe.dma.setup_ns=0"}
	t.Run("memories combine", func(t *testing.T) {
		e := experiment{sets: append(cube, "pe.math.lanes=1", "pe.math.setup_ns=0"),
			algorithm: "hierarchical_allreduce", world: 2, elems: 4000, typ: dtype.F16}
		m, err := e.run()
		if err != nil {
			t.Fatal(err)
		}
		if vectors := 2000 * unit.Nanosecond; m.time >= vectors || m.limits.Limit > m.time {
			t.Errorf("%v, with a limit of %v; 2 vector units alone need %v", m.time, m.limits.Limit, vectors)
		}
	})
	t.Run("a payload comes while it is received", func(t *testing.T) {
		name := "algorithms.binomial_broadcast."
		e := experiment{sets: append(cube, "cube.noc.link_bw_gbs=1", "pe.ipcq.recv_ns=500",
			name+"module=binomial_broadcast", name+"n_slots=16", name+"slot_size=64"),
			algorithm: "binomial_broadcast", world: 4, elems: 93, typ: dtype.I64}
		m, err := e.run()
		if err != nil {
			t.Fatal(err)
		}
		if after := 2 * (500 + 744) * unit.Nanosecond; m.time >= after || m.limits.Limit > m.time {
			t.Errorf("%v, with a limit of %v; two hops that first take all bytes and then a receive need %v", m.time, m.limits.Limit, after)
		}
	})
	t.Run("parts of a piece share no path", func(t *testing.T) {
		name := "algorithms.chain_broadcast."
		e := experiment{sets: append(cube, "cube.noc.link_bw_gbs=1", "pe.link_bw_gbs=1",
			name+"module=chain_broadcast", name+"n_slots=2", name+"slot_size=64"),
			algorithm: "chain_broadcast", world: 4, elems: 13, typ: dtype.I64, fidelity: noc.Ideal}
		m, err := e.run()
		if err != nil {
			t.Fatal(err)
		}
		if whole := 3 * 104 * unit.Nanosecond; m.time >= whole || m.limits.Limit > m.time {
			t.Errorf("%v, with a limit of %v; three hops of all bytes need %v", m.time, m.limits.Limit, whole)
		}
	})
	t.Run("slots of a ring share no path", func(t *testing.T) {
		e := experiment{sets: append(cube, "cube.noc.link_bw_gbs=1",
			"algorithms.binomial_reduce.module=binomial_reduce", "algorithms.binomial_reduce.n_slots=16"),
			algorithm: "binomial_reduce", world: 3, elems: 12288, typ: dtype.I64, fidelity: noc.Ideal}
		m, err := e.run()
		if err != nil {
			t.Fatal(err)
		}
		if alone := 98304 * unit.Nanosecond / 2; m.time >= alone || m.limits.Limit > m.time {
			t.Errorf("%v, with a limit of %v; two paths alone need %v", m.time, m.limits.Limit, alone)
		}
	})
}

// The limits are not idle: these runs come close to them.
func TestRunsComeCloseToTheirLimits(t *testing.T) {
	with := func(sets ...string) []string {
		return append([]string{"system.sips.count=1", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}, sets...)
	}
	tests := []struct {
		e    experiment
		kind bound.Kind
		most float64 // times the limit
	}{
		{experiment{sets: with("cube.hbm_to_router_bw_gbs=32"), algorithm: "hello_send", world: 8, elems: 1 << 16}, bound.Memory, 1.1},
		{experiment{sets: with("pe.link_bw_gbs=16"), algorithm: "window_allgather_ring", world: 8, elems: 1 << 16}, bound.Node, 1.5},
		{experiment{sets: with("pe.math.lanes=1"), algorithm: "ring_allreduce_chunked", world: 8, elems: 1 << 14}, bound.Vector, 1.3},
		{experiment{sets: with("cube.hbm.access_ns=100000"), algorithm: "hello_send", world: 8, elems: 1}, bound.Distance, 1.1},
		// Slots of both directions count, and the algorithm uses one.
		{experiment{sets: with("algorithms.ring_allgather.n_slots=2", "algorithms.ring_allgather.slot_size=64", "cube.noc.router_ns=1000"),
			algorithm: "ring_allgather", world: 4, elems: 1 << 14}, bound.Slots, 5.1},
		{experiment{sets: with("system.sips.count=2", "system.link.bw_gbs=1"), algorithm: "window_all_to_all",
			world: 16, elems: 16 * 64}, bound.Cut, 1.2},
		// A ring of whole vectors sends N-1 of them, and another algorithm two.
		{experiment{sets: with("algorithms.ring_allreduce.slot_size=16384"), algorithm: "ring_allreduce", world: 8,
			elems: 1 << 12}, bound.Traffic, 1.8},
	}
	for _, test := range tests {
		t.Run(string(test.kind), func(t *testing.T) {
			test.e.typ = dtype.F32
			m, err := test.e.run()
			if err != nil {
				t.Fatal(err)
			}
			b := m.limits.Binding()
			if test.kind.OfAlgorithm() {
				b = m.limits.Configured()
			}
			if times := m.time.Seconds() / b.Time.Seconds(); b.Kind != test.kind || times < 1 || times > test.most {
				t.Errorf("%v is %.3f times the limit by %s, want at most %g times that by %s: %+v", m.time, times,
					b.Kind, test.most, test.kind, b.Witness)
			}
		})
	}
}

// TestSwitchesStayWithinLimits: nor does an algorithm whose sums and copies switches make, on nodes
// whose switches can, or those between nodes, or both.
func TestSwitchesStayWithinLimits(t *testing.T) {
	runs := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		width, nodes := rapid.IntRange(1, 4).Draw(t, "width"), rapid.IntRange(1, 5).Draw(t, "nodes")
		e := &experiment{world: width * nodes, typ: dtype.F32, sets: []string{
			fmt.Sprintf("system.sips.count=%d", width), "system.sips.topology=switch", fmt.Sprintf("system.nodes.count=%d", nodes),
			"system.nodes.join=each",
			"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]", "pe.issue_ns=0",
		}}
		if e.world < 2 {
			return
		}
		if rapid.Bool().Draw(t, "leaves and spines") {
			e.sets = append(e.sets, "system.nodes.network=fat_tree", "system.nodes.fat_tree.radix=4")
		} else {
			e.sets = append(e.sets, "system.nodes.network=switch")
		}
		e.algorithm = rapid.SampledFrom([]string{"nvls_allreduce", "nvls_allgather", "nvls_reduce_scatter", "nvls_tree_allreduce",
			"sharp_allreduce", "rail_allreduce", "ring_allreduce_chunked", "direct_allreduce"}).Draw(t, "algorithm")
		all := e.algorithm == "sharp_allreduce" // which needs both
		for _, at := range []string{"system", "system.nodes"} {
			e.sets = append(e.sets, fmt.Sprintf("%s.switch.multicast=%v", at, rapid.Bool().Draw(t, "copies") || all),
				fmt.Sprintf("%s.link.bw_gbs=%g", at, rapid.SampledFrom([]float64{1, 50, 300}).Draw(t, "rate")),
				fmt.Sprintf("%s.link.latency_ns=%g", at, rapid.SampledFrom([]float64{0, 10, 500}).Draw(t, "latency")))
			if rapid.Bool().Draw(t, "reduces") || all {
				e.sets = append(e.sets, at+".switch.reduce.types=[f32]",
					fmt.Sprintf("%s.switch.reduce.bw_gbs=%g", at, rapid.SampledFrom([]float64{0, 0.5, 30, 250}).Draw(t, "reduced")))
			}
		}
		e.elems = e.world * rapid.SampledFrom([]int{1, 100, 20_000}).Draw(t, "elements")
		m, err := e.run()
		if errors.Is(err, errCannot) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		runs[e.algorithm]++
		if m.limits.Limit > m.time {
			b := m.limits.Configured()
			t.Fatalf("%+v\ntook %v, which is below its limit of %v by %s: %+v", *e, m.time, m.limits.Limit, b.Kind, b.Witness)
		}
	})
	if runs["nvls_tree_allreduce"] == 0 || runs["sharp_allreduce"] == 0 || runs["nvls_allreduce"] == 0 {
		t.Errorf("runs by algorithm: %v", runs)
	}
}

// TestVolumeOverNodes: sums that only the switches of nodes make leave each node as often as with
// none; switches between nodes make them leave once.
func TestVolumeOverNodes(t *testing.T) {
	volume := func(more ...string) (found *bound.Bound) {
		e := experiment{algorithm: "rail_allreduce", world: 8, elems: 8000, typ: dtype.F32, sets: append([]string{
			"system.sips.count=2", "system.sips.topology=switch", "system.nodes.count=4", "system.nodes.network=switch",
			"system.nodes.join=each", "system.nodes.link.bw_gbs=10", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
			"cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]"}, more...)}
		m, err := e.run()
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.limits.Bounds {
			if m.limits.Bounds[i].Kind == bound.Volume {
				found = &m.limits.Bounds[i]
			}
		}
		return found
	}
	inside := []string{"system.switch.multicast=true", "system.switch.reduce.types=[f32]"}
	for _, sets := range [][]string{nil, inside} {
		if b := volume(sets...); b == nil || b.Witness.Bytes != 2*3*32_000 || b.Witness.Rate != 80*unit.GBPerSecond {
			t.Errorf("%v: %+v, want 2 · 3 vectors at 8 links of 10 GB/s", sets, b)
		}
	}
	// 8 SIPs send what the switch combines and get the result: 8 vectors out and in, for 14
	// messages without a switch. At 9 of 10 GB/s it is a ninth more.
	outside := []string{"system.nodes.switch.multicast=true", "system.nodes.switch.reduce.types=[f32]"}
	for bw, want := range map[string]int64{"0": 8 * 32_000, "9": 8 * 32_000 * 10 / 9, "1": 14 * 32_000} {
		b := volume(append(outside, "system.nodes.switch.reduce.bw_gbs="+bw)...)
		if b == nil || !b.Witness.Switches || b.Witness.Bytes != want || b.Witness.Parts != "SIPs" {
			t.Errorf("at %s GB/s: %+v, want %d bytes of SIPs with switches", bw, b, want)
		}
	}
}
