package sim

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"kernbench/oplog"
	"kernbench/tl"
)

// A launch on the short way whose ranks are alike (tl.Launch.Alike) needs no log: what its ranks do
// to data, and in what order, does not depend on when, since each hears of the others by receives
// that name their direction, and touches its own memory alone. So data is carried out beside the
// clock, all ranks of a group at a time, beat by beat: the kernel of one rank is run to find what all
// do (score), and then that of each for its addresses, which is checked to do the same (voice).
//
// What goes wrong with data comes without a time. Who wants that, or lines, or sets, has the log.

// unison is the data of one launch.
type unison struct {
	e      *Executor
	launch *tl.Launch
	scores []score // by group
	data   []*oplog.Unison
	err    error
	ctx    context.Context
	ended  chan struct{} // nil: it is carried out when time has been
}

// unisonFrom is the number of ranks from which it is worth to have them all do a thing at a time.
const unisonFrom = 8

// unison prepares a launch for it; nil where that is not to be, or cannot.
func (e *Executor) unison(l *tl.Launch) *unison {
	if !l.Alike || e.opts.Data == nil || e.opts.RecordLines {
		return nil
	}
	u := &unison{e: e, launch: l, err: errExited}
	for i := range l.Groups {
		g := &l.Groups[i]
		if len(g.PEs) < unisonFrom || g.Kinds != nil {
			return nil
		}
		s, ok := e.write(l, g)
		data := e.opts.Data.Unison(g.PEs)
		if !ok || data == nil {
			return nil
		}
		u.scores, u.data = append(u.scores, s), append(u.data, data)
	}
	return u
}

// follow has the launch followed, without its data, which is carried out beside.
func (u *unison) follow(ctx context.Context, w *follow) (*tl.Result, error) {
	w.log, w.tokens, w.detailed = nil, nil, u.e.opts.Trace != nil
	var quit func()
	u.ctx, quit = context.WithCancel(ctx)
	if u.e.opts.SecondCore && runtime.GOMAXPROCS(0) > 1 {
		u.ended = make(chan struct{})
		go func() {
			defer close(u.ended)
			u.perform()
		}()
	}
	defer func() { // also when a kernel ends the goroutine
		quit()
		u.wait()
	}()
	res, err := w.perform(ctx)
	if err != nil {
		return nil, err // then nobody looks at data
	}
	u.e.broken = errExited
	if u.ended == nil {
		u.perform()
	}
	u.wait()
	if u.e.broken = u.err; u.err != nil {
		return nil, u.err
	}
	return res, nil
}

func (u *unison) wait() {
	if u.ended != nil {
		<-u.ended
	}
}

// perform carries out one group after the other, which do not talk to each other.
func (u *unison) perform() {
	defer func() {
		if v := recover(); v != nil {
			u.err = fmt.Errorf("internal error in the data of launch %s: %v\n%s", u.launch.Name, v, debug.Stack())
		}
	}()
	for i := range u.scores {
		if err := u.group(i); err != nil {
			u.err = err
			return
		}
	}
	u.err = nil
}

// group carries out the score of a group, part by part: first all ranks say where, then all do it.
func (u *unison) group(i int) error {
	c := &choir{unison: u, score: &u.scores[i], data: u.data[i], group: &u.launch.Groups[i]}
	defer c.disperse()
	c.gather()
	for at := 0; ; {
		part := c.beats[at:min(len(c.beats), at+beatsAtOnce)]
		at += len(part)
		if err := c.ask(part, at == len(c.beats)); err != nil {
			return err
		}
		for k := range part {
			c.perform(&part[k])
			if c.data.Failed() {
				return c.data.Fault()
			}
		}
		if at == len(c.beats) {
			return nil
		}
		if err := u.ctx.Err(); err != nil {
			return fmt.Errorf("stopped while data was carried out: %w", err)
		}
	}
}
