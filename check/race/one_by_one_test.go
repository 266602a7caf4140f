package race_test

import (
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/tl"
)

// A rank that waits for each notification of another one needs no covers, in one pass. A rank that
// it notifies knows as much of the puts.
func TestOneByOne(t *testing.T) {
	const ranks, rounds = 40, 8
	for _, c := range []struct {
		name   string
		puts   int  // before each notification
		row    int  // before all: they share an event
		later  bool // another one follows the fence
		covers int
	}{
		{"one put", 1, 0, false, 0},
		{"no put", 0, 0, false, 0},
		{"some puts", 3, 0, false, 0},
		{"many puts", 6, 0, false, rounds},
		{"a put after the fence", 1, 0, true, rounds},
		{"a row of puts", 1, 8, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := func(round, i int) span { return at(1, int64(round*10+i)*8, 8) }
			program := func(d *race.Detector) bool {
				h := newAccount(t, d, ranks)
				for i := range c.row {
					h.put(0, cell(rounds, i), at(0, 1<<20, 8))
				}
				for round := range rounds {
					for i := range c.puts {
						h.put(0, cell(round, i), at(0, 1<<20, 8))
						h.notify(0, wordOf(3, round*10+i), 1) // else a row of accesses would share an event
						h.read(0, at(0, 1<<21, 8))
					}
					h.fence(0)
					if c.later {
						h.put(0, cell(round, 9), at(0, 1<<20, 8))
					}
					h.notify(0, wordOf(1, round), 1)
					h.wait(1, round, tl.GE, 1)
					h.notify(1, wordOf(2, round), 1)
					h.wait(2, round, tl.GE, 1)
					for i := range c.puts {
						h.read(2, cell(round, i))
					}
					for i := range c.row {
						h.read(2, cell(rounds, i))
					}
				}
				h.end()
				return true
			}
			d := race.New(race.Options{})
			program(d)
			if rep := d.Report(); rep.Again || rep.Total > 0 {
				t.Fatalf("again %v: %v", rep.Again, rep)
			}
			if n := d.CoversOf(0, 1); n != c.covers {
				t.Errorf("%d covers, want %d", n, c.covers)
			}
			if usual, plain, _ := both(race.Options{}, program); !slices.Equal(usual, plain) {
				t.Errorf("with puts noted one by one\n%q\nwith covers\n%q", usual, plain)
			}
		})
	}
}
