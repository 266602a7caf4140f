package device

import (
	"errors"
	"fmt"
	"strings"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/record/oplog"
)

// ErrTurns is wrapped by errors about the turns of a collective: some ranks did not take part, or
// took part in another collective.
var ErrTurns = errors.New("turns of a collective refused")

// Performed is a collective that programs of streams performed, each rank in a turn of its own
// (tl.Turn).
type Performed struct {
	ID         int32  // of its turns
	Title      string // its name in reports
	Algorithm  *algorithm.Algorithm
	Collective string          // its name in package collective
	Call       collective.Call // Labels has those of its turns
	PEs        []int32         // by rank
}

// JudgeTurns hands collectives that the last Synchronize performed to the judge, in the given
// order. It includes the data that the data pass captured of their turns. failed is the error of
// that Synchronize, which is returned: of a launch that failed nothing is judged.
func (c *Context) JudgeTurns(performed []Performed, failed error) error {
	calls := make([]*Call, len(performed))
	for i := range performed {
		var err error
		if calls[i], err = c.turned(&performed[i]); err != nil {
			return errors.Join(failed, performed[i].refuse(err))
		}
	}
	if c.first == nil && len(calls) > 0 {
		c.first = calls[0]
	}
	captured, err := c.takeTurns()
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return err
	case len(calls) > 0 && len(c.runs) == 0:
		return fmt.Errorf("%w: nothing was launched that could have performed them", ErrTurns)
	}
	for i, call := range calls {
		if err := c.judgeTurns(&performed[i], call, captured[performed[i].ID]); err != nil {
			return performed[i].refuse(err)
		}
	}
	return nil
}

// takeTurns returns the turns that the data pass captured, by number.
func (c *Context) takeTurns() (map[int32][]*oplog.CapturedTurn, error) {
	log := c.log()
	if log == nil {
		return nil, nil
	}
	turns, err := log.TakeTurns()
	captured := map[int32][]*oplog.CapturedTurn{}
	for _, t := range turns {
		captured[t.Turn.ID] = append(captured[t.Turn.ID], t)
	}
	return captured, err
}

// judgeTurns judges one collective of the launch that ended last.
func (c *Context) judgeTurns(p *Performed, call *Call, turns []*oplog.CapturedTurn) error {
	if c.HasData() {
		missing, err := call.capture(p, turns)
		if err != nil {
			return err
		}
		if missing != nil {
			return fmt.Errorf("%w: %s took no part to the end, and every rank of a collective does", ErrTurns, c.rankNames(p, missing))
		}
	}
	run := c.runs[len(c.runs)-1]
	run.Calls = append(run.Calls, call)
	if c.cfg.Check == nil {
		return nil
	}
	return c.cfg.Check(call)
}

func (p *Performed) refuse(err error) error { return fmt.Errorf("%s: %w", p.Title, err) }

// turned returns the call that was performed, without data.
func (c *Context) turned(p *Performed) (*Call, error) {
	what, err := collective.Lookup(p.Collective)
	if err == nil {
		err = what.Check(p.Call)
	}
	if err != nil {
		return nil, err
	}
	if len(p.PEs) != p.Call.World {
		return nil, fmt.Errorf("%w: %d PEs for %d ranks", ErrTurns, len(p.PEs), p.Call.World)
	}
	plan := &Plan{Name: p.Algorithm.Name, Algorithm: p.Algorithm, World: p.Call.World, PEs: p.PEs, PEsPerCube: c.perCube(p.PEs)}
	for _, pe := range p.PEs {
		plan.RankToPE = append(plan.RankToPE, c.cfg.Machine.Coord(int(pe)))
	}
	return &Call{Title: p.Title, Turn: p.ID, Plan: plan, Collective: what, Groups: []CallGroup{{Call: p.Call, PEs: p.PEs}}}, nil
}

// capture copies the data of turns into their call. It returns the ranks without a turn that
// ended.
func (c *Call) capture(p *Performed, turns []*oplog.CapturedTurn) (missing []int, err error) {
	g := &c.Groups[0]
	g.Inputs, g.Outputs, g.Provs = make([][]byte, g.Call.World), make([][]byte, g.Call.World), make([]collective.Prov, g.Call.World)
	g.Wrote = make([][]int32, g.Call.World)
	ended := make([]bool, g.Call.World)
	for _, t := range turns {
		if err := c.agrees(p, t); err != nil {
			return nil, err
		}
		if !t.Ended {
			continue
		}
		r := t.Turn.Rank
		if ended[r] {
			return nil, fmt.Errorf("%w: rank %d ended turn %d twice", ErrTurns, r, p.ID)
		}
		ended[r], g.Inputs[r], g.Outputs[r], g.Provs[r], g.Wrote[r] = true, t.In, t.Out, t.Prov, t.Wrote
	}
	for r := range ended {
		if !ended[r] {
			missing = append(missing, r)
		}
	}
	return missing, nil
}

// agrees reports whether a turn is one of the collective that is to be judged.
func (c *Call) agrees(p *Performed, t *oplog.CapturedTurn) error {
	call, turn := &c.Groups[0].Call, t.Turn
	bad := func(what string, got, want any) error {
		return fmt.Errorf("%w: turn %d of rank %d has %s %v, the collective %v", ErrTurns, p.ID, turn.Rank, what, got, want)
	}
	switch r := turn.Rank; {
	case r < 0 || r >= call.World || turn.World != call.World:
		return fmt.Errorf("%w: a turn of rank %d of %d, in a collective of %d", ErrTurns, r, turn.World, call.World)
	case c.Collective.Reduces && turn.Op != call.Op:
		return bad("operation", turn.Op, call.Op)
	case turn.Label != call.Labels.At(r):
		return bad("label", turn.Label, call.Labels.At(r))
	case t.Type.Valid() && t.Type != call.Type:
		return bad("elements of", t.Type, call.Type)
	}
	if size, n := c.Collective.In(*call, turn.Rank)*call.Type.Size(), len(t.In); t.Ended && n != size {
		return bad("bytes of input", n, size)
	}
	if size, n := c.Collective.Out(*call, turn.Rank)*call.Type.Size(), len(t.Out); t.Ended && n != size {
		return bad("bytes of output", n, size)
	}
	return nil
}

func (c *Context) rankNames(p *Performed, ranks []int) string {
	var names []string
	for _, r := range ranks {
		names = append(names, fmt.Sprintf("%d (%s)", r, c.cfg.Machine.PEName(int(p.PEs[r]))))
	}
	if len(names) == 1 {
		return "rank " + names[0]
	}
	return "ranks " + strings.Join(names, ", ")
}
