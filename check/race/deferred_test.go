package race

import (
	"slices"
	"testing"

	"kernbench/record/history"

	"pgregory.net/rapid"
)

// Clocks with deferred joins know what clocks that join at once know.
func TestDeferredJoins(tt *testing.T) {
	const agents = 5
	type known struct {
		clock clock
		times [agents]uint32
	}
	deferred := 0
	rapid.Check(tt, func(t *rapid.T) {
		d := New(Options{})
		d.agent(agents - 1)
		d.deferAll, d.chainLimit = true, rapid.SampledFrom([]int16{1, 2, 4, maxChainLimit}).Draw(t, "in a row")
		var want [agents][agents]uint32
		var given []known
		compare := func(c *clock, times *[agents]uint32) {
			for a := range history.Agent(agents) {
				if got := d.at(c, a); got != times[a] {
					t.Fatalf("knows agent %d up to %d, want %d", a, got, times[a])
				}
			}
		}
		type step struct{ do, agent, other int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 1, 1, 1, 2, 3, 4}).Draw(t, "do"), rapid.IntRange(0, agents-1).Draw(t, "agent"),
				rapid.IntRange(0, 1<<10).Draw(t, "other"),
			}
		}), 50, 150).Draw(t, "steps")
		for _, s := range steps {
			c, of := &d.agents[s.agent].clk, s.other%agents
			want[s.agent][s.agent] = c.time
			learn := func(times *[agents]uint32) {
				for i, x := range times {
					want[s.agent][i] = max(want[s.agent][i], x)
				}
			}
			k := 0
			if len(given) > 0 {
				k = s.other % len(given)
			}
			switch {
			case s.do == 0:
				given = append(given, known{d.holdClock(*c), want[s.agent]})
				c.time++
			case s.do == 1 && len(given) > 0 && int(given[k].clock.agent) != s.agent:
				d.join(c, &given[k].clock)
				learn(&given[k].times)
			case s.do == 2 && len(given) > 0:
				d.drop(&given[k].clock)
				given = slices.Delete(given, k, k+1)
			case s.do == 3 && of != s.agent: // as at the start of an agent
				o := &d.agents[of].clk
				want[of][of] = o.time
				d.join(c, o)
				learn(&want[of])
				o.time++
			case s.do == 4:
				time := uint32(s.other) % (d.agents[of].clk.time + 1)
				if got := d.reaches(c, history.Agent(of), time); got != (want[s.agent][of] >= time) {
					t.Fatalf("agent %d knows agent %d at %d: %v, but knows it up to %d", s.agent, of, time, got, want[s.agent][of])
				}
			}
		}
		deferred += d.deferrals
		for a := range d.agents {
			c := &d.agents[a].clk
			want[a][a] = c.time
			compare(c, &want[a])
		}
		for i := range given {
			compare(&given[i].clock, &given[i].times)
			d.drop(&given[i].clock)
		}
		for a := range d.agents {
			d.drop(&d.agents[a].clk)
		}
		if d.liveVecs != 0 {
			t.Fatalf("%d vectors are held", d.liveVecs)
		}
	})
	if deferred < 1000 {
		tt.Errorf("%d joins were deferred", deferred)
	}
}

// A ring of many ranks holds few vectors, and performs few joins.
func TestDeferredRing(t *testing.T) {
	const agents, steps = 40, 600
	d := New(Options{})
	d.agent(agents)
	given := make([]clock, agents+1)
	for range steps {
		for a := 1; a <= agents; a++ {
			c := &d.agents[a].clk
			d.drop(&given[a])
			given[a] = d.holdClock(*c)
			c.time++
		}
		for a := 1; a <= agents; a++ {
			for _, from := range []int{a%agents + 1, (a+agents-2)%agents + 1} {
				d.join(&d.agents[a].clk, &given[from])
			}
		}
	}
	if d.eager || d.deferrals < agents*steps || d.visits > 2*d.deferrals || d.liveVecs > agents*firstChainLimit {
		t.Errorf("at once: %v; %d joins deferred, %d vectors visited, %d live", d.eager, d.deferrals, d.visits, d.liveVecs)
	}
	c := &d.agents[1].clk
	if got, want := d.at(c, agents/2), uint32(steps-(agents/2-1)+1); got != want {
		t.Errorf("agent 1 knows agent %d up to %d, want %d", agents/2, got, want)
	}
}

// The clock of an update that an earlier pass has found may know less than earlier clocks of its
// agent. Nothing is lost by such a clock.
func TestDeferredJoinsOfLaterPasses(t *testing.T) {
	d := New(Options{})
	d.agent(3)
	d.deferAll, d.facts.pass = true, 2
	c := &d.agents[1].clk
	d.join(c, &clock{agent: 3, time: 1})
	d.holdClock(*c)
	v := d.newVec()
	d.setTimes(v, []uint32{0, 0, 7})
	d.join(c, &clock{v: v, agent: 3, time: 3})
	d.join(c, &clock{agent: 3, time: 5})
	if got := d.at(c, 2); got != 7 {
		t.Errorf("agent 2 is known up to %d, want 7", got)
	}
}
