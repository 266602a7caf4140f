package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kernbench/device"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// Run executes a spec and judges the results. The error is the reason why the run did not end. It
// is a mistake in the spec, which leaves the Result empty, or a fault of the kernel, of a type of
// package fault. A run that ends with wrong data returns no error; Result.OK reports false.
//
// If there is a failure, the run is executed a second time to find its place. It then keeps source
// lines and the set of contributors of every element. A run is a pure function of its spec. The
// figures are those of the first.
func Run(ctx context.Context, s Spec) (*Result, error) {
	x, err := Load(s)
	if err != nil {
		return nil, err
	}
	return x.Run(ctx)
}

func (x *Job) Run(ctx context.Context) (*Result, error) {
	if x.Machine == nil {
		return nil, errNotLoaded
	}
	first, err := x.first(ctx)
	r, ferr := x.result(first, first, err), err
	if fault.Is(err) && !Endless(err) || err == nil && first.Wrong() {
		r, ferr = x.explain(ctx, first, err)
	}
	if x.Schedules == 0 || Endless(ferr) || IsInternal(ferr) || ferr != nil && !fault.Is(ferr) {
		return r, ferr
	}
	if err := x.schedules(ctx, r, first, err); err != nil {
		return r, errors.Join(ferr, err)
	}
	return r, ferr
}

// explain executes a run that went wrong a second time, to say where. The findings of the first run
// remain: a kernel that is not a function of its arguments may do better when run again.
func (x *Job) explain(ctx context.Context, first *Execution, err error) (*Result, error) {
	var second *Execution
	var again error
	if ctx.Err() == nil {
		second, again = x.Execute(ctx, Pass{explain: true, Quiet: true, schedule: x.Schedule})
		second.races, second.passes, second.more = first.races, first.passes, first.more
	}
	switch {
	case ctx.Err() != nil:
		return x.result(first, first, err), err
	case IsInternal(again):
		return x.result(first, first, err), errors.Join(err, again)
	}
	if first.changed == "" {
		first.changed = first.differs(err, second, again)
	}
	switch {
	case fault.Is(err) && fault.Is(again):
		return x.result(first, second, again), again
	case err == nil && again == nil && second.Wrong():
		return x.result(first, second, nil), nil
	}
	return x.result(first, first, err), err
}

// Endless reports whether a kernel was stopped that did not end. Its place is known: another run
// would take as long and tell nothing more.
func Endless(err error) bool { return fault.IsStalled(err) || isLimit(err) }

func isLimit(err error) bool {
	_, ok := errors.AsType[*fault.Limit](err)
	return ok
}

// result returns the Result: figures from first, verdicts from explained, which is the execution
// that explains a failure, or first itself.
func (x *Job) result(first, explained *Execution, err error) *Result {
	r := &Result{
		Spec: x.Spec, Bench: x.program.Name, Executor: x.Executor, Fidelity: x.fidelity,
		Machine: x.Machine.Describe(), MadeBy: x.madeBy(),
		DType: x.DType.String(), Timed: x.row.Can(exec.Clock), WallTime: first.wall,
		MemoryOrder: x.order.String(), Schedule: x.Schedule, Use: first.use,
		Launches: len(first.Launches), Report: first.report, Failures: []Failure{}, Notes: []string{},
	}
	if r.Report == nil {
		r.Report = []string{}
	}
	if err != nil {
		r.Fault = err.Error()
	}
	x.collective(r, first)
	for _, l := range first.Launches {
		r.WorldSize = max(r.WorldSize, l.World)
		r.Events += l.Result.Events // of the tool's work
		if m := l.Result.Mode; m != "" && !slices.Contains(r.Simulation, m) {
			r.Simulation = append(r.Simulation, m)
		}
		if first.measured != nil && !slices.Contains(first.measured, l) {
			continue
		}
		r.Messages += l.Result.Messages
		r.MessageBytes += l.Result.Bytes
		r.SlotHazards += l.Result.Hazards
		r.count(l.Result.Traffic)
		// Beside a collective other launches do not count. Without one all of them do, whether
		// or not the program has a plan.
		if first.Plan == nil || first.call == nil || len(l.Calls) > 0 || first.measured != nil {
			r.SimulatedTime += l.Result.Duration()
			r.Counted = append(r.Counted, &l.Result)
			if r.Timed {
				r.Launch += Overhead(l)
			}
		}
	}
	if p := first.Plan; p != nil {
		r.WorldSize = p.World
		for _, j := range first.Judged { // a bench may have used plans of several sizes
			r.WorldSize = max(r.WorldSize, j.call.Plan.World)
		}
	}
	if r.WorldSize == 0 {
		r.WorldSize = len(x.pes) // the requested ranks, if no launch took place
	}
	x.bandwidth(r, first)
	if sec := first.wall.Seconds(); sec > 0 && r.Events > 0 {
		r.EventsPerSecond = float64(r.Events) / sec
	}
	if r.Messages > 0 {
		r.NsPerMessage = float64(first.wall.Nanoseconds()) / float64(r.Messages)
	}
	x.verdicts(r, explained, err)
	x.notes(r, first, explained)
	if first.changed != "" {
		r.differently(first.changed)
	}
	return r
}

// count adds the traffic of one launch to that of the others, rank by rank.
func (r *Result) count(traffic []Traffic) {
	for _, t := range traffic {
		for len(r.Traffic) <= t.Rank {
			r.Traffic = append(r.Traffic, Traffic{Rank: len(r.Traffic)})
		}
		r.Traffic[t.Rank].Add(t)
	}
}

// collective describes the performed collective as it was launched, which a program may have chosen
// otherwise than its options say.
func (x *Job) collective(r *Result, out *Execution) {
	if p := out.Plan; p != nil {
		r.Algorithm, r.Collective = p.Name, p.Algorithm.Collective
		if HasRings(p) {
			r.Topology = p.Topology.Name
		}
	}
	if out.call == nil {
		return
	}
	c := out.call.Groups[0].Call
	r.DType, r.ElemsPerRank = c.Type.String(), out.call.ElemsPerRank()
	r.BytesPerRank = unit.Bytes(r.ElemsPerRank) * unit.Bytes(c.Type.Size())
	if out.call.Collective.Reduces {
		r.Op = c.Op.String()
	}
	x.turns(r, out)
}

// HasRings reports whether some rank of a plan has a neighbour.
func HasRings(p *device.Plan) bool {
	return p != nil && slices.ContainsFunc(p.Wiring, func(w tl.Wiring) bool { return len(w.Out) > 0 })
}

// bandwidth is that of the collectives: bytes of a rank over simulated time, and times the
// bus factor. A launch that performed several took its time once. Where a program measures
// launches that perform collectives, only these count.
func (x *Job) bandwidth(r *Result, out *Execution) {
	with := performing(out.Launches)
	launches := with
	if out.measured != nil {
		launches = out.measured
		if own := performing(out.measured); len(own) > 0 {
			with = own
		}
	}
	var took unit.Time
	for _, l := range launches {
		took += l.Result.Duration()
	}
	if took <= 0 {
		return
	}
	var bytes unit.Bytes
	var bus float64
	for _, l := range with {
		for _, c := range l.Calls {
			for _, g := range c.Groups {
				n := c.Collective.Bytes(g.Call)
				bytes += n
				bus += float64(n) * c.Collective.BusFactor(c.Plan.World)
			}
		}
	}
	r.AlgBW, r.BusBW = float64(bytes)/took.Ns(), bus/took.Ns()
}

// performing returns those launches that performed collectives.
func performing(launches []*device.Launched) []*device.Launched {
	return slices.DeleteFunc(slices.Clone(launches), func(l *device.Launched) bool { return len(l.Calls) == 0 })
}

// notes adds remarks that a user did not ask for but needs.
func (x *Job) notes(r *Result, first, explained *Execution) {
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	x.noteAuto(first.Plan, note)
	if s := &x.TraceScope; x.TraceFile != "" && r.WorldSize > trace.ManyRanks && !s.All && s.Ranks == nil {
		note("the trace shows one rank of each class, or %d ranks if there are no classes: --trace-ranks all shows all %d",
			trace.Some, r.WorldSize)
	}
	if traced := x.TraceScope.Ranks; len(traced) > 0 && traced[len(traced)-1] >= r.WorldSize { // a configured world
		note("the trace has no rank %d: the ranks are 0 to %d", traced[len(traced)-1], r.WorldSize-1)
	}
	if len(first.Judged) > 0 {
		x.traffic(first, note)
	}
	distinct, differing := 0, 0
	for _, j := range explained.Judged {
		for _, v := range j.Verdicts {
			if v.DifferingRanks > 0 {
				distinct, differing = max(distinct, v.DistinctResults), differing+v.DifferingRanks
			}
		}
	}
	if differing > 0 && !explained.Wrong() { // else they differ for a worse reason
		note("ranks differ bitwise: %d different results, %d ranks hold another than rank 0, because each adds in another order and %s rounds",
			distinct, differing, r.DType)
	}
	if r.SlotHazards > 0 {
		note("%d reads of a ring slot whose credit had gone (credit: on_recv): the sender may have been writing there", r.SlotHazards)
	}
	if err := x.row.Needs(exec.Messages); err != nil && x.CCLTrace != nil {
		note("no CCL trace: %v", err)
	}
	if x.order == mem.Sequential {
		note("memory_order: %v takes every remote operation as done before the next one begins: it hides missing fences and barriers, which show on the machines that do not",
			x.order)
	}
	if len(first.measured) > 0 && len(performing(first.measured)) == 0 && len(first.Judged) > 0 {
		note("time, bandwidth and traffic are those of the bench's own launches, not of %s", first.Judged[0].call.Plan.Name)
	}
	for _, l := range first.leaks {
		size := ""
		if l.Bytes > 0 {
			size = fmt.Sprintf(" (%v)", l.Bytes)
		}
		note("the bench did not free %s%s", l.Name, size)
	}
}

// traffic compares the bytes that crossed with those that had to.
func (x *Job) traffic(out *Execution, note func(string, ...any)) {
	var moved int64
	var need unit.Bytes
	for _, l := range performing(out.Launches) {
		moved += l.Result.Bytes
	}
	for _, j := range out.Judged {
		for _, g := range j.call.Groups {
			need += j.call.Collective.Demand(g.Call)
		}
	}
	if need <= 0 || moved <= int64(need) {
		return
	}
	c := out.Judged[0].call
	ratio := float64(moved) / float64(need)
	how := fmt.Sprintf("%.4g", ratio)
	if c.Plan.World > 2 && moved*2 == int64(need)*int64(c.Plan.World) {
		how = fmt.Sprintf("N/2 = %.4g", ratio)
	}
	note("%s moves %s times the bytes that %s needs, %v instead of %v%s", c.Plan.Name, how, c.Collective.Name,
		unit.Bytes(moved), need, better(c))
}

// better names what moves fewer bytes.
func better(c *device.Call) string {
	least := c.Collective.Least
	if least == "" || c.Plan.Algorithm.Name == least || c.Groups[0].Call.Op > tl.Avg {
		return ""
	}
	return "; the chunked form, " + least + ", moves no more than that"
}
