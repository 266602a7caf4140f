package chakra

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/frontend/judge"
	"kernbench/frontend/msccl"
	"kernbench/frontend/plan"
	"kernbench/frontend/timing"
	"kernbench/machine"
	"kernbench/unit"
)

func gpus(t *testing.T) *machine.Machine {
	t.Helper()
	data, _ := machine.PresetSource("dgx-h100")
	topo, err := conf.LoadTopology([]conf.Source{{Name: "dgx-h100", Data: data}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func timeOf(t *testing.T, p *plan.Plan, m *machine.Machine) unit.Time {
	t.Helper()
	r, err := timing.Run(p, m, timing.Defaults(p.Protocol))
	if err != nil {
		t.Fatal(err)
	}
	return r.Time
}

// asTraces changes a plan made of XML to what traces can express. It has no protocol and no depth
// of channels, and a reduction is a node of its own with a duration.
func asTraces(p *plan.Plan) {
	p.Protocol = plan.Simple
	for i := range p.Channels {
		p.Channels[i].Depth = 0
	}
	for rank := range p.Ranks {
		k := &p.Ranks[rank]
		spare := len(k.Views)
		k.Views = append(k.Views, plan.View{Name: "held", Memory: len(k.Memories), Cells: 1})
		k.Memories = append(k.Memories, 1)
		var steps []plan.Step
		for _, s := range k.Blocks[0].Steps {
			if s.Op != "rrc" {
				steps = append(steps, s)
				continue
			}
			held := []plan.Span{{Rank: plan.None, View: spare, N: 1}}
			take, add := s, s
			take.Src, take.Dst = nil, held
			add.Take, add.Src, add.Duration = plan.None, append(slices.Clone(s.Src), held...), 7_000_000
			steps = append(steps, take, add)
		}
		k.Blocks[0].Steps = steps
	}
}

// The times of a ring from XML and from traces differ only by what traces cannot express.
func TestRingTakesTheTimeOfItsXML(t *testing.T) {
	source := strings.Replace(ringText(4), `proto="Simple"`, `proto="LL128"`, 1)
	x, found := msccl.Read(plan.File{Name: "ring.xml", Data: []byte(source)})
	e, more := Program(files(t, ring(4, source)), nil)
	if x == nil || e == nil {
		t.Fatal(found, more)
	}
	m := gpus(t)
	call := plan.Call{Bytes: 16384, InPlace: true}
	traces, _ := e.Plan(call)
	xml, _ := x.Plan(call)
	want := timeOf(t, traces, m)
	if got := timeOf(t, xml, m); got == want {
		t.Errorf("XML takes %v as traces do: the protocol should make a difference", got)
	}
	asTraces(xml)
	if got := timeOf(t, xml, m); got != want {
		t.Errorf("XML without what traces cannot say takes %v, traces take %v", got, want)
	}
	if _, found := e.Plan(plan.Call{Bytes: 8192}); len(found) != 1 || !strings.Contains(found[0].Text, "which make a call of 16384") {
		t.Errorf("a call of another size: %v, want ILL-FORMED", found)
	}
}

// The ring of eight that astra-sim publishes, as XML and as traces, has one verdict.
func TestPublicRing(t *testing.T) {
	dir := os.Getenv("KERNBENCH_ASTRA_RING")
	if dir == "" {
		t.Skip("set KERNBENCH_ASTRA_RING to the folder examples/system/custom_collectives of astra-sim to judge its ring")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.et"))
	if err != nil || len(names) != 8 {
		t.Fatalf("%d traces in %s, want 8: %v", len(names), dir, err)
	}
	var all []plan.File
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !Is(data) {
			t.Errorf("%s is not known as a trace", name)
		}
		all = append(all, plan.File{Name: name, Data: data})
	}
	p, found := Program(all, nil)
	if p == nil {
		t.Fatal(found)
	}
	pl, _ := p.Plan(plan.Call{InPlace: true})
	if j := judge.Judge(pl); !j.OK() || j.Cells != 64 || j.Messages != 112 || p.MaxBytes != 1<<20 {
		t.Errorf("%v, %d of %d chunks, %d messages, %d bytes; want OK, 64 of 64, 112, 1 MiB", j.Verdicts, j.Right,
			j.Cells, j.Messages, p.MaxBytes)
	}
}
