package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/exec"
	"kernbench/mem"
)

// ErrTeam is wrapped by errors about making, using or freeing a team.
var ErrTeam = errors.New("team refused")

// NewTeam makes a team of PEs, by their numbers in the machine: the first has rank 0, and so
// on. A PE may be in several teams, but not twice in one; no two teams have one name at the
// same time. The window for its barriers (tl.Context.Sync) takes some words of HBM on each
// member.
func (c *Context) NewTeam(name string, pes []int32) (*mem.Team, error) {
	errs := []error{c.can(exec.OneSided)}
	if name == "" {
		errs = append(errs, errors.New("a team has a name"))
	}
	if slices.ContainsFunc(c.teams, func(t *mem.Team) bool { return t.Name == name }) {
		errs = append(errs, errors.New("there is one of that name: free it, or choose another name"))
	}
	t, err := c.team(name, pes, errs...)
	if err != nil {
		return nil, fmt.Errorf("%w: team %q: %w", ErrTeam, name, err)
	}
	c.teams = append(c.teams, t)
	return t, nil
}

// team makes a team that the context does not list. It does nothing after an error.
func (c *Context) team(name string, pes []int32, errs ...error) (*mem.Team, error) {
	for _, pe := range pes {
		if pe < 0 || int(pe) >= c.cfg.Machine.NumPEs() {
			errs = append(errs, fmt.Errorf("there is no PE %d: the machine has %d", pe, c.cfg.Machine.NumPEs()))
		}
	}
	t, err := mem.NewTeam(name, slices.Clone(pes))
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	rounds, err := mem.NewLayout(0, []mem.Buffer{{
		Name: "rounds", Parts: []mem.Part{mem.SignalPart("", mem.Int64, max(1, t.Rounds()))},
	}})
	if err != nil {
		return nil, err
	}
	if t.Meeting, err = c.window(name+".meeting", t, rounds); err != nil {
		return nil, err
	}
	return t, nil
}

// FreeTeam frees a team and the window for its barriers. Its other windows must be freed before.
func (c *Context) FreeTeam(t *mem.Team) error {
	if err := c.usableTeam(t); err != nil {
		return fmt.Errorf("%w: free: %w", ErrTeam, err)
	}
	if err := c.idle(t, "free of team "+t.Name); err != nil {
		return err
	}
	var errs []error
	for _, w := range c.windows {
		if w.Team == t {
			errs = append(errs, fmt.Errorf("team %s still has window %s", t.Name, w.Name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: free: %w", ErrTeam, err)
	}
	c.teams = slices.DeleteFunc(c.teams, func(x *mem.Team) bool { return x == t })
	return c.release(t.Meeting)
}

// usableTeam reports whether a team is one of this context.
func (c *Context) usableTeam(t *mem.Team) error {
	switch {
	case t == nil:
		return errors.New("no team")
	case slices.Contains(c.teams, t):
		return nil
	case t.Meeting != nil && t.Meeting.Released:
		return fmt.Errorf("team %s was freed before", t.Name)
	}
	return fmt.Errorf("team %s: %w", t.Name, ErrForeign)
}

// disband resets the barrier rounds of all teams after a launch that failed. Members may have
// reached different rounds, and no message of the launch is still in flight.
func (c *Context) disband() {
	for _, t := range c.teams {
		clear(t.Met)
		for r := range t.Size() {
			clear(t.Meeting.Words(r))
		}
	}
}
