package timing

import (
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/plan"
	"kernbench/unit"
)

// put returns a plan in which rank 0 writes a piece of its memory into rank 1's, which copies it
// on. As packets they take twice the memory.
func put(packet bool, bytes int64) *plan.Plan {
	p := &plan.Plan{Cell: []int64{0}, Counters: []plan.Counter{{Rank: 1}}}
	stored := bytes
	if packet {
		stored *= 2
	}
	for range 2 {
		p.Ranks = append(p.Ranks, plan.Rank{Memories: []int{1, 1}, Sizes: [][]int64{{bytes}, {stored}},
			Views: []plan.View{{Name: "i", Memory: 0, Cells: 1}, {Name: "s", Memory: 1, Cells: 1}}})
	}
	mine := plan.Span{Rank: plan.None, N: 1}
	far := plan.Span{Rank: 1, View: 1, N: 1, Packet: packet}
	near := plan.Span{Rank: plan.None, View: 1, N: 1, Packet: packet}
	write := plan.Step{Op: "put", Take: plan.None, Send: plan.None, Src: []plan.Span{mine}, Dst: []plan.Span{far}}
	read := plan.Step{Op: "copy", Take: plan.None, Send: plan.None, Src: []plan.Span{near}, Dst: []plan.Span{mine}}
	if !packet {
		write.Signal = []plan.Count{{N: 1}}
		read.Wait = []plan.Count{{N: 1}}
	}
	p.Ranks[0].Blocks = []plan.Block{{Steps: []plan.Step{write}}}
	p.Ranks[1].Blocks = []plan.Block{{Steps: []plan.Step{read}}}
	return p
}

// A packet can be read when it has arrived, without a signal after it. It takes twice the bytes.
func TestPacket(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.LL)
	const bytes = 1 << 16
	head, _ := m.Latency(m.Route(nil, m.PE(0), m.HBM(1)))
	copied := model.Issue + model.Slice + model.Copy.Time(2*bytes)
	p := put(true, bytes)
	p.Protocol = plan.LL
	if got, want := timed(t, p, m, model), model.Launch+copied+head+model.Latency+copied; got != want {
		t.Errorf("a packet takes %v, want %v", got, want)
	}
	once := model.Issue + model.Slice + model.Copy.Time(bytes)
	if got, want := timed(t, put(false, bytes), m, model), model.Launch+once+2*head+model.Latency+once; got != want {
		t.Errorf("data and a signal take %v, want %v", got, want)
	}
}

// A copy engine moves bytes at the rate of links, a thread block at its own.
func TestEngine(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.Simple)
	p := put(false, 1<<24)
	slow := timed(t, p, m, model)
	p.Ranks[0].Blocks[0].Engine = true
	fast := timed(t, p, m, model)
	_, slowest := m.Latency(m.Route(nil, m.PE(0), m.HBM(1)))
	if got, want := slow-fast, model.Copy.Time(1<<24)-slowest.Time(1<<24); got < want-unit.Nanosecond || got > want+unit.Nanosecond {
		t.Errorf("an engine is faster by %v, want %v", got, want)
	}
}

// A step whose file gives a duration takes that.
func TestDuration(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.Simple)
	p := put(false, 64)
	p.Ranks[1].Blocks = nil
	p.Ranks[0].Blocks[0].Steps = []plan.Step{{Op: "comp", Take: plan.None, Send: plan.None, Duration: 7_000_000}}
	if got, want := timed(t, p, m, model), model.Launch+7*unit.Microsecond; got != want {
		t.Errorf("a step of 7 µs takes %v, want %v", got, want)
	}
}

// reduction returns a plan in which rank 0 adds up the memory of all ranks and writes it to all.
// The switch does so, or the rank itself.
func reduction(world int, bytes int64, inSwitch bool) *plan.Plan {
	p := &plan.Plan{Cell: []int64{bytes}}
	s := plan.Step{Op: "glres", Take: plan.None, Send: plan.None, Switch: inSwitch}
	for rank := range world {
		p.Ranks = append(p.Ranks, plan.Rank{Memories: []int{1}, Views: []plan.View{{Name: "i", Cells: 1}}})
		span := plan.Span{Rank: rank, N: 1}
		if rank == 0 {
			span.Rank = plan.None
		}
		s.Src, s.Dst = append(s.Src, span), append(s.Dst, span)
	}
	p.Ranks[0].Blocks = []plan.Block{{Steps: []plan.Step{s}}}
	return p
}

// A switch that reduces and multicasts carries each byte up once and down once. A rank that does it
// by itself has all members' bytes on its own links.
func TestSwitchReducesAndMulticasts(t *testing.T) {
	m := preset(t, "dgx-h100")
	model := Defaults(plan.Simple)
	model.Copy, model.Reduce = 1000*unit.TBPerSecond, 1000*unit.TBPerSecond
	const bytes = 64 << 20
	_, slowest := m.Latency(m.Route(nil, m.PE(0), m.HBM(1)))
	x, err := m.Multimem([]int32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	once := slowest.Time(x.Switches[0].WireBytes(bytes, slowest))
	in, by := timed(t, reduction(8, bytes, true), m, model), timed(t, reduction(8, bytes, false), m, model)
	if in < 2*once || in > 2*once+20*unit.Microsecond {
		t.Errorf("in the switch: %v, want little more than %v: rank 0's link carries its share and the sum, each way", in, 2*once)
	}
	if least := 7 * slowest.Time(bytes); by < least {
		t.Errorf("by the rank: %v, want at least %v", by, least)
	}
	// More members make it hardly longer.
	if two := timed(t, reduction(2, bytes, true), m, model); in-two > unit.Microsecond {
		t.Errorf("2 members take %v, 8 take %v", two, in)
	}
}

func TestSwitchMustBeThere(t *testing.T) {
	for name, want := range map[string]string{
		"mi300x-8": "rank 0 tb 0 step 0 (glres): it reduces or multicasts in a switch, and the machine has none in which ranks [0 1 2 3] meet",
		"dgx-a100": "does not copy (switch.multicast)", // NVSwitch of before NVLS
	} {
		_, err := Run(reduction(4, 64, true), preset(t, name), Defaults(plan.Simple))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

// The busiest links of a multicast are those of the members, each with the bytes once.
func TestMulticastTakesEachLinkOnce(t *testing.T) {
	m := preset(t, "dgx-h100")
	p := reduction(4, 1<<20, true)
	s := &p.Ranks[0].Blocks[0].Steps[0]
	s.Src = s.Src[:1]
	r, err := Run(p, m, Defaults(plan.Simple))
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Multimem([]int32{0, 1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	_, slowest := m.Latency(m.Route(nil, m.PE(0), m.HBM(1)))
	once := slowest.Time(x.Switches[0].WireBytes(1<<20, slowest))
	if i := slices.IndexFunc(r.Links, func(l LinkUse) bool { return l.Busy > once+unit.Nanosecond }); i >= 0 {
		t.Errorf("link %s is busy for %v, want %v", r.Links[i].Name, r.Links[i].Busy, once)
	}
}
