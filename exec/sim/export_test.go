package sim

import (
	"context"
	"errors"

	"kernbench/conf"
	"kernbench/machine"
	"kernbench/tl"
	"kernbench/unit"
)

// Unison carries out the data of a launch, and nothing else.
func (e *Executor) Unison(ctx context.Context, l *tl.Launch) error {
	u := e.unison(l)
	if u == nil {
		return errors.New("it has none")
	}
	u.ctx = ctx
	u.perform()
	return u.err
}

// Lookahead is how far apart two halves of a launch's ranks are; 0 where links do not part.
func Lookahead(m *machine.Machine, t *conf.Topology, l *tl.Launch) (unit.Time, error) {
	w, err := New(m, t, Options{SecondCore: true}).prepareFollow(l)
	if err != nil {
		return 0, err
	}
	w.isolate(false)
	return min(w.lookahead, w.apart()), nil
}

// FollowWithADefect follows a launch of which one rank cannot be recorded.
func FollowWithADefect(ctx context.Context, m *machine.Machine, t *conf.Topology, l *tl.Launch, o Options) error {
	w, err := New(m, t, o).prepareFollow(l)
	if err != nil {
		return err
	}
	w.ranks[70].group = 1 // of one
	_, err = w.perform(ctx)
	return err
}
