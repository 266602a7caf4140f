package timing

import (
	"reflect"
	"testing"

	"kernbench/conf"
	"kernbench/frontend/plan"
	"kernbench/machine"
	"kernbench/unit"
)

func preset(t *testing.T, name string) *machine.Machine {
	t.Helper()
	data, ok := machine.PresetSource(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	topo, err := conf.LoadTopology([]conf.Source{{Name: name, Data: data}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// transfers returns a plan in which each pair sends a cell, in blocks of their own.
func transfers(world, depth int, cell int64, pairs ...[2]int) *plan.Plan {
	p := &plan.Plan{Cell: []int64{cell}}
	for range world {
		p.Ranks = append(p.Ranks, plan.Rank{Memories: []int{1}, Views: []plan.View{{Name: "o", Cells: 1}}, Input: 0, Output: 0})
	}
	here := []plan.Span{{Rank: plan.None, N: 1}}
	for i, pair := range pairs {
		p.Channels = append(p.Channels, plan.Channel{ID: i, From: pair[0], To: pair[1], Depth: depth})
		add := func(rank int, s plan.Step) {
			p.Ranks[rank].Blocks = append(p.Ranks[rank].Blocks, plan.Block{ID: len(p.Ranks[rank].Blocks), Steps: []plan.Step{s}})
		}
		add(pair[0], plan.Step{Op: "s", Take: plan.None, Send: i, Src: here})
		add(pair[1], plan.Step{Op: "r", Take: i, Send: plan.None, Dst: here})
	}
	return p
}

func timed(t *testing.T, p *plan.Plan, m *machine.Machine, model Model) unit.Time {
	t.Helper()
	r, err := Run(p, m, model)
	if err != nil {
		t.Fatal(err)
	}
	return r.Time
}

// One message: launch; issue and copy at the sender, or the slowest link; the head over the links.
// Then the protocol's latency, and issue and copy at the receiver.
func TestOneMessage(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.LL)
	head, slowest := m.Latency(m.Route(nil, m.PE(0), m.HBM(1)))
	for _, c := range []struct {
		name string
		copy unit.Rate
	}{{"the block is slower", 20 * unit.GBPerSecond}, {"the link is slower", 2 * unit.TBPerSecond}} {
		model.Copy = c.copy
		const bytes = 1 << 20
		moves := max(model.Copy.Time(2*bytes), slowest.Time(2*bytes))
		want := model.Launch + 2*(model.Issue+model.Slice) + moves + head + model.Latency + model.Copy.Time(2*bytes)
		if got := timed(t, transfers(2, 8, bytes, [2]int{0, 1}), m, model); got != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

// Two senders of one receiver share its link; two receivers do not.
func TestContention(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.LL)
	model.Copy = 2 * unit.TBPerSecond
	const bytes = 64 << 20
	alone := timed(t, transfers(4, 8, bytes, [2]int{0, 1}), m, model)
	apart := timed(t, transfers(4, 8, bytes, [2]int{0, 1}, [2]int{2, 3}), m, model)
	together := timed(t, transfers(4, 8, bytes, [2]int{0, 1}, [2]int{2, 1}), m, model)
	if apart != alone {
		t.Errorf("pairs apart take %v, one takes %v: they share nothing", apart, alone)
	}
	_, slowest := m.Latency(m.Route(nil, m.PE(0), m.HBM(1)))
	if more := together - alone; more < slowest.Time(2*bytes)*9/10 {
		t.Errorf("two senders of one receiver take %v, one takes %v: the link must serve both", together, alone)
	}
}

// A sender of several messages waits for credits if the channel is shallow.
func TestDepthCostsTime(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.Simple)
	var times []unit.Time
	for _, depth := range []int{1, 2, 8} {
		p := transfers(2, depth, 64<<10, [2]int{0, 1})
		for rank := range 2 {
			b := &p.Ranks[rank].Blocks[0]
			for range 7 {
				b.Steps = append(b.Steps, b.Steps[0])
			}
		}
		times = append(times, timed(t, p, m, model))
	}
	if times[0] <= times[1] || times[1] < times[2] {
		t.Errorf("depth 1, 2, 8 take %v: the first must wait for credits", times)
	}
}

// A dependency is seen a flag's latency later, in each round anew.
func TestDependency(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.Simple)
	p := transfers(1, 0, 1024)
	p.Cell = []int64{1024, 1024}
	here := []plan.Span{{Rank: plan.None, N: 1}}
	step := plan.Step{Op: "cpy", Take: plan.None, Send: plan.None, Src: here, Dst: here, Publish: true}
	waits := step
	waits.After = []plan.Dep{{Block: 0, Index: 0}}
	p.Ranks[0].Blocks = []plan.Block{{Steps: []plan.Step{step}}, {Steps: []plan.Step{waits}}}
	one := model.Issue + model.Slice + model.Copy.Time(1024)
	if got, want := timed(t, p, m, model), model.Launch+3*one+model.Flag; got != want {
		t.Errorf("two rounds take %v, want %v", got, want)
	}
}

// The critical path accounts for all of the time, and a second run is equal.
func TestPathAndDeterminism(t *testing.T) {
	m := preset(t, "mi300x-8")
	p := transfers(8, 2, 1<<20, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 1}, [2]int{5, 1})
	a, err := Run(p, m, Defaults(plan.Simple))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Run(p, m, Defaults(plan.Simple))
	if !reflect.DeepEqual(a, b) {
		t.Error("two runs differ")
	}
	sum := unit.Time(0)
	for _, s := range a.Path {
		sum += s.Time
	}
	if sum != a.Time {
		t.Errorf("the path has %v of %v", sum, a.Time)
	}
}
