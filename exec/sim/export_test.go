package sim

import (
	"context"
	"errors"

	"kernbench/tl"
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
