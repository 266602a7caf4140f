package plans

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/frontend/plan"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// Performed is a collective of a program that does not state how it is performed. The library
// performs it, alone on the machine, by the fastest algorithm.
type Performed struct {
	Collective string     `json:"collective"`
	Ranks      []int      `json:"ranks"`
	Bytes      unit.Bytes `json:"bytes"` // of the larger of a rank's input and output
	Calls      int        `json:"calls"`
	Algorithm  string     `json:"algorithm"` // "": one rank, and nothing to do
	Time       unit.Time  `json:"time_ps"`   // of each call, with its start in software
}

// perform sets the time of each step that performs a collective: the time of the library's
// algorithm.
func (l *Loaded) perform(ctx context.Context, pl *plan.Plan) ([]Performed, error) {
	var all []Performed
	for rank := range pl.Ranks {
		for b := range pl.Ranks[rank].Blocks {
			steps := pl.Ranks[rank].Blocks[b].Steps
			for i := range steps {
				if steps[i].Collective == 0 {
					continue
				}
				c := &pl.Collectives[steps[i].Collective-1]
				at := slices.IndexFunc(all, func(p Performed) bool {
					return p.Collective == c.Name && p.Bytes == unit.Bytes(c.Bytes) && slices.Equal(p.Ranks, c.Ranks)
				})
				if at < 0 {
					p, err := l.timed(ctx, c)
					if err != nil {
						return nil, fmt.Errorf("%s: %w", pl.Where(rank, b, i), err)
					}
					at, all = len(all), append(all, p)
				}
				all[at].Calls++
				steps[i].Duration = int64(all[at].Time)
			}
		}
	}
	return all, nil
}

// timed returns the time of a collective, by the algorithm that is fastest at the next power of two
// of its size.
func (l *Loaded) timed(ctx context.Context, c *plan.Collective) (Performed, error) {
	p := Performed{Collective: c.Name, Ranks: c.Ranks, Bytes: unit.Bytes(c.Bytes)}
	if len(c.Ranks) < 2 {
		return p, nil
	}
	what, err := collective.Lookup(c.Name)
	if err != nil {
		return p, err
	}
	class := fmt.Sprint(c.Name, c.Ranks, bits.Len64(uint64(max(c.Bytes-1, 0))))
	if l.fastest == nil {
		l.fastest = map[string]string{}
	}
	names, known := sweep.AlgorithmsOf(c.Name), false
	if p.Algorithm, known = l.fastest[class]; known {
		names = []string{p.Algorithm}
	}
	var first error
	for _, name := range names {
		t, err := l.once(ctx, what, name, c)
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		switch {
		case err != nil && first == nil:
			first = err
		case err == nil && (p.Time == 0 || t < p.Time):
			p.Algorithm, p.Time = name, t
		}
	}
	if p.Time == 0 {
		return p, fmt.Errorf("no algorithm of the library performs %s of %d bytes on %d ranks: %w", c.Name, c.Bytes, len(c.Ranks), first)
	}
	l.fastest[class] = p.Algorithm
	return p, nil
}

// once performs a collective by an algorithm.
func (l *Loaded) once(ctx context.Context, what *collective.Collective, name string, c *plan.Collective) (unit.Time, error) {
	base := &run.Spec{Topology: l.spec.Topology, Sets: l.spec.Sets, Devices: c.Ranks}
	t, err := sweep.NewTarget(base, what, name, nil)
	if err != nil {
		return 0, err
	}
	call := collective.Call{World: len(c.Ranks), Type: dtype.F32}
	least := sweep.Parts(what, call) * unit.Bytes(call.Type.Size())
	_, call.Elems = sweep.Counts(what, call, max((unit.Bytes(c.Bytes)+least-1)/least, 1)*least)
	if err := sweep.Refusal(t.Plan, call); err != nil {
		return 0, err
	}
	inPlace := sweep.FitsInPlace(what, call)
	at := (&sweep.Case{Job: t.Job.OneCall(call, inPlace), What: what, Call: call, InPlace: inPlace, Launch: t.Plan.Start}).Run(ctx)
	return at.Time, at.Err
}
