package exec

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"kernbench/fault"
	"kernbench/tl/launch"
	"kernbench/tl/watch"
	"kernbench/unit"
)

// Limits bound launches that do not end by themselves. The zero value is the default.
type Limits struct {
	Stall  time.Duration // longest run of a kernel without an instruction; 0: DefaultStall; negative: no limit
	Events uint32        // instructions of one kernel; 0: no limit
	Until  unit.Time     // simulated time; 0: no limit
}

// DefaultStall is the longest time that a kernel may run without an instruction.
const DefaultStall = 10 * time.Second

// After an interrupt kernels have lapTime to return to their line, and then endTime to end.
const (
	lapTime = 100 * time.Millisecond
	endTime = 700 * time.Millisecond
)

// Launch runs a launch on an executor. It returns when the launch has ended, when a kernel has run
// for Stall without an instruction (fault.Stalled), or soon after ctx is done (Stopped). A launch
// that does not end then is abandoned: its goroutine stays until its kernel issues an instruction.
func (m Limits) Launch(ctx context.Context, e Executor, l *launch.Launch) (*launch.Result, error) {
	watched := *l
	watched.Watch = m.watch()
	return m.run(ctx, watched.Watch, l.World(), func(ctx context.Context) (*launch.Result, error) { return e.Launch(ctx, &watched) })
}

// RunStreams is Launch for the work of streams.
func (m Limits) RunStreams(ctx context.Context, s Streamer, b *launch.Batch) (*launch.Result, error) {
	watched := *b
	watched.Watch = m.watch()
	return m.run(ctx, watched.Watch, 0, func(ctx context.Context) (*launch.Result, error) { return s.RunStreams(ctx, &watched) })
}

func (m Limits) watch() *watch.Watch { return watch.New(watch.Limits{Calls: m.Events, Until: m.Until}) }

// Panicked is the value of a panic in a launch, with the stack of its goroutine.
type Panicked struct {
	Value any
	Stack string
}

func (p *Panicked) String() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// ended is the outcome of a launch.
type ended struct {
	result   *launch.Result
	err      error
	panicked *Panicked
}

// run performs a launch in a goroutine of its own and watches it from this one.
func (m Limits) run(ctx context.Context, w *watch.Watch, world int,
	do func(context.Context) (*launch.Result, error)) (*launch.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	inner := delayed{lasting, ctx}
	end := make(chan ended, 1)
	go func() {
		var e ended
		returned := false
		defer func() {
			if v := recover(); v != nil {
				e.panicked = &Panicked{v, string(debug.Stack())}
			} else if !returned {
				e.err = w.Exited()
			}
			end <- e
		}()
		e.result, e.err = do(inner)
		returned = true
	}()
	var tick <-chan time.Time
	stall := m.stall()
	if stall > 0 {
		t := time.NewTicker(max(stall/looks, 1))
		defer t.Stop()
		tick = t.C
	}
	silent, answers := 0, w.Answers() // looks in a row that found a kernel running without an answer
	for {
		select {
		case e := <-end:
			return m.judge(e, w, world)
		case <-tick:
			if n := w.Ask(); n != answers {
				silent, answers = 0, n
				continue
			}
			s := w.Running()
			if s == nil { // the executor is at work
				silent = 0
				continue
			}
			if silent++; silent > looks {
				if debugged() {
					silent = 0
					continue
				}
				s.For = stall
				w.Abandon()
				return nil, s
			}
		case <-ctx.Done():
			return interrupt(ctx, w, world, cancel, end)
		}
	}
}

// delayed is a context that ends shortly after the outer one, for the same reason.
type delayed struct {
	context.Context
	outside context.Context
}

// Err is nil until the launch is to end.
func (d delayed) Err() error {
	if err := d.Context.Err(); err != nil {
		return cmp.Or(d.outside.Err(), err)
	}
	return nil
}

// looks is the number of questions to a kernel within Stall. A single question can get lost.
const looks = 4

// stall returns the time after which a kernel is reported; 0: never.
func (m Limits) stall() time.Duration {
	switch {
	case m.Stall < 0:
		return 0
	case m.Stall == 0:
		return DefaultStall
	}
	return m.Stall
}

// debugged reports whether a debugger stops this process now and then.
func debugged() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, after, ok := strings.Cut(string(status), "\nTracerPid:")
	return ok && !strings.HasPrefix(strings.TrimSpace(after), "0")
}

// judge returns the outcome of a launch that has ended.
func (m Limits) judge(e ended, w *watch.Watch, world int) (*launch.Result, error) {
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case e.err != nil:
		if stops := w.Stops(); len(stops) > 0 {
			return nil, &Stopped{Err: e.err, Stops: stops, World: world}
		}
		return nil, e.err
	case m.Until > 0 && e.result.End > m.Until:
		return nil, &fault.Limit{Place: fault.Place{Rank: fault.Host, Op: "the launch", Time: e.result.End, Timed: true}, Until: m.Until}
	}
	return e.result, nil
}

// interrupt ends a launch whose context is done. Kernels first note their places.
func interrupt(ctx context.Context, w *watch.Watch, world int, cancel func(), end chan ended) (*launch.Result, error) {
	w.Locate()
	var e ended
	timer := time.NewTimer(lapTime)
	defer timer.Stop()
	select {
	case e = <-end:
	case <-timer.C:
		cancel()
		timer.Reset(endTime)
		select {
		case e = <-end:
		case <-timer.C:
			w.Abandon()
			s := &Stopped{Err: ctx.Err(), World: world, Stops: w.Stops()}
			if r := w.Running(); r != nil {
				s.Running = r
				s.Stops = merge(s.Stops, w.Suspended())
			}
			return nil, s
		}
	}
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case e.err == nil:
		e.err = ctx.Err()
	}
	return nil, &Stopped{Err: e.err, Stops: w.Stops(), World: world}
}

// merge adds the kernels of more ranks, by rank.
func merge(stops, more []watch.Stop) []watch.Stop {
	for _, s := range more {
		if !slices.ContainsFunc(stops, func(o watch.Stop) bool { return o.Rank == s.Rank && o.PE == s.PE && o.Line == s.Line }) {
			stops = append(stops, s)
		}
	}
	slices.SortStableFunc(stops, func(a, b watch.Stop) int { return cmp.Compare(a.Rank, b.Rank) })
	return stops
}
