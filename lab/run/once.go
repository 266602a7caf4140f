package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"runtime/debug"
	"time"

	"kernbench/bench"
	"kernbench/check/race"
	"kernbench/check/verify"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/internal/outfile"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/record/trace"
	"kernbench/unit"
)

// InternalError is a panic in the tool itself: a defect of it, whatever the input was.
type InternalError struct {
	Value any
	Stack string
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error: %v\n%s", e.Value, e.Stack)
}

// IsInternal reports whether an error is a defect of kernbench.
func IsInternal(err error) bool {
	_, ok := errors.AsType[*InternalError](err)
	return ok
}

// Execution holds the results of one execution of a spec.
type Execution struct {
	Plan     *device.Plan // installed last, or nil
	call     *device.Call // the first collective, ended or not, or nil
	Launches []*device.Launched
	Judged   []Judgement
	values   []bench.Values
	races    *race.Report       // nil: not judged
	passes   int                // passes that the judge of races needed
	more     more               // of other schedules, judged because of atomics
	measured []*device.Launched // launches that count for the program; nil: all
	use      *Use               // nil: not requested
	report   []string
	leaks    []device.Leak
	expected map[*device.CallGroup]*verify.Expected // of collectives that have begun and not been judged
	results  hash.Hash                              // of the results of all collectives
	changed  string                                 // the result that differed when the collective was repeated, or empty
	wall     time.Duration
}

// Pass is one execution of a spec among several.
type Pass struct {
	watch    *watch // judge of races, or nil
	ignored  bool   // the judge takes it that kernels do not act on what atomics return
	explain  bool   // keep source lines and contributor sets, to explain a failure
	Quiet    bool   // write no trace, lines or progress
	Trees    bool   // keep the tree of additions of every element
	schedule uint64 // random schedule; 0: the executor's own

	// Inspect is called with the results of a collective; may be nil.
	Inspect func(data *oplog.Log, c *device.Call) error
}

// history returns the log of accesses for the judge of races, or nil without a judge.
func (p *Pass) history() *history.Log {
	if p.watch == nil {
		return nil
	}
	return p.watch.detector.Log()
}

// fresh returns the function to call for new memory, or nil without a judge of races.
func (p *Pass) fresh() func(mem.Addr, int64) {
	if p.watch == nil {
		return nil
	}
	return p.watch.detector.Fresh
}

// Execute executes a spec. The outcome is as far as the run came.
func (x *Job) Execute(ctx context.Context, p Pass) (out *Execution, err error) {
	out = &Execution{results: sha256.New(), expected: map[*device.CallGroup]*verify.Expected{}}
	if x.Machine == nil {
		return out, errNotLoaded
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *exec.Panicked:
			err = &InternalError{v.Value, v.Stack}
		default:
			err = &InternalError{v, string(debug.Stack())}
		}
	}()
	var data *oplog.Log
	if x.VerifyData {
		data = oplog.New(oplog.Options{
			Seed: x.Seed, Explain: p.explain, Timed: x.row.Can(exec.Clock), PEName: x.Machine.PEName,
			Inline: !x.row.Can(exec.Clock), Audit: p.Trees, Memory: cmp.Or(x.Memory, freeMemory()), Races: x.races(),
		})
		defer data.Close()
	}
	views, file, closeViews, err := x.views(p)
	if err != nil {
		return out, err
	}
	// The trace of a run that failed ends with its fault. That of one that was interrupted is
	// nothing to keep.
	ended := false
	defer func() {
		if cerr := closeViews(ended && (err == nil || fault.Is(err))); err == nil {
			err = cerr
		}
	}()
	usage := x.usage(p)
	executor, err := x.openExecutor(data, views, usage, p)
	if err != nil {
		return out, err
	}
	defer executor.Close()
	dev, err := device.New(device.Config{
		Machine: x.Machine, CCL: x.Entries, Tuning: x.tuning, Executor: executor, Row: x.row, Limits: x.Limits,
		World: x.World(), PEs: x.pes,
		Check:       func(c *device.Call) error { return out.judge(x, p, data, c) },
		Contributed: out.expect(p),
		Fresh:       p.fresh(),
		Given:       x.given,
	})
	if err != nil {
		return out, err
	}
	if p.watch != nil {
		p.watch.dev = dev
	}
	if data != nil {
		data.Names(dev.Region)
	}
	host := bench.NewHost(x.program, dev, bench.Options{
		Algorithm: x.Algorithm, NElem: x.NElem, DType: x.DType, Op: x.Op, Seed: x.Seed, Input: x.input,
		PEs: x.pes, With: x.Options,
	}, func(line string) {
		out.report = append(out.report, line)
		if x.Output != nil && !p.Quiet {
			fmt.Fprintln(x.Output, line)
		}
	})
	start := time.Now()
	err = x.execute(ctx, host)
	if err == nil && data != nil {
		err = data.Flush()
		dev.NameMemory(err)
	}
	out.wall = time.Since(start)
	out.Plan, out.call, out.Launches, out.values = dev.Plan(), dev.FirstCall(), dev.Launches(), host.Values()
	out.measured = host.Measured()
	if err == nil {
		out.leaks, err = dev.ReleaseAll()
	}
	if c, ok := executor.(exec.Counter); ok && usage != nil {
		out.use = x.use(usage, c, out.Launches)
		trace.WriteLinks(file, x.linkLines(c))
	}
	if x.CriticalPath != nil && file != nil {
		trace.WritePath(file, x.CriticalPath())
	}
	ended = true
	return out, err
}

// openExecutor makes the executor of one pass.
func (x *Job) openExecutor(data *oplog.Log, views trace.Sink, usage *trace.Usage, p Pass) (exec.Executor, error) {
	s := exec.Setup{
		Seed: p.schedule,
		Data: data, History: p.history(), Trace: views, Scope: x.TraceScope, Usage: usage, Edits: x.Edits,
		RecordLines: p.explain || p.Trees,
		SecondCore:  !p.Quiet, // a run of its own, not one of many
	}
	if !p.Quiet {
		s.Pointers = x.Pointers // else they have been shown
		s.Causes = x.Causes
	}
	if views != nil && x.TraceFile != "" {
		s.Scope.Classes = !s.Scope.All
		if trace.Annotates(x.TraceFile) {
			s.Scope.Counters = true
			s.RecordLines = s.RecordLines || !x.TracePlain
		}
	}
	phase := "simulate"
	if p.explain {
		phase = "explain"
	}
	if x.Progress != nil && (p.explain || !p.Quiet) {
		s.Progress = func(done, ranks int, now unit.Time) {
			x.Progress(Progress{phase, int64(done), int64(ranks), now})
		}
	}
	return x.Open(s)
}

// usage makes what adds up the use of engines and rings, if it is asked for.
func (x *Job) usage(p Pass) *trace.Usage {
	if !x.Use || p.Quiet {
		return nil
	}
	return trace.NewUsage()
}

// views opens what wants to see the events of the run. There is none in a run that is quiet,
// as while a failure is being explained: what there was to see has been shown.
// The view that writes the trace file, if there is one, gets more when the run has ended.
func (x *Job) views(p Pass) (sink trace.Sink, view trace.Writer, done func(whole bool) error, err error) {
	var file *outfile.File
	if p.Quiet {
		return nil, nil, func(bool) error { return nil }, nil
	}
	var sinks []trace.Sink
	var closers []func() error
	if x.Events != nil {
		sinks = append(sinks, x.Events)
	}
	if x.CCLTrace != nil && x.row.Can(exec.Messages) {
		v := trace.NewCCL(x.CCLTrace, x.Machine.PEName, x.row.Can(exec.Clock))
		sinks, closers = append(sinks, v), append(closers, v.Close)
	}
	if x.TraceFile != "" {
		if err := trace.CheckFile(x.TraceFile); err != nil {
			return nil, nil, nil, err
		}
		f, err := outfile.Create(x.TraceFile)
		if err != nil {
			return nil, nil, nil, err
		}
		v, err := trace.NewFile(x.TraceFile, f, trace.FileOptions{PE: x.Machine.PEName, About: x.about(), Plain: x.TracePlain})
		if err != nil {
			f.Discard()
			return nil, nil, nil, err
		}
		file, sinks, closers = f, append(sinks, v), append(closers, v.Close)
		view = v
	}
	return trace.Tee(sinks...), view, func(whole bool) error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		err := errors.Join(errs...)
		switch {
		case file == nil:
		case whole && err == nil:
			return file.Commit()
		default:
			file.Discard()
		}
		return err
	}, nil
}

// execute runs the host program. An error names the program if the spec does.
func (x *Job) execute(ctx context.Context, h *bench.Host) error {
	err := x.program.Execute(ctx, h)
	if err != nil && x.named {
		return fmt.Errorf("bench %s: %w", x.program.Name, err)
	}
	return err
}
