package sweep

import (
	"context"
	"runtime"
	"slices"

	"kernbench/collective"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Case is one run: a call of a collective with results in one of the two places.
type Case struct {
	Messages, Events int64 // of the simulation, when it has ended

	Row     int      // for the owner of the list of jobs
	Job     *run.Job // with everything that the run needs
	What    *collective.Collective
	Call    collective.Call
	InPlace bool
	Bytes   unit.Bytes // of data that it moves; 0: none
	Length  int64      // estimated cost of the run, relative to others; 0: unknown
	Launch  unit.Time  // in software
}

// Placement is the result of a run, out of place or in place.
type Placement struct {
	Time  unit.Time `json:"time_ps"`   // simulated, including the Launch of the row
	AlgBW float64   `json:"algbw_gbs"` // 1e9 bytes per second
	BusBW float64   `json:"busbw_gbs"`
	Wrong *int64    `json:"wrong"` // elements of all ranks; nil: not checked

	Error string `json:"error,omitempty"` // why it did not end
	Err   error  `json:"-"`               // the same as a type
}

// SideBySide executes runs in parallel, as many as processors and the memory for data allow. The
// first processor takes them in order, so the first results come early. The others take the longest
// run that is left, so no long run remains alone at the end. SideBySide calls ended for each run
// when it has ended, on the goroutine of the caller, except for runs that ctx stopped.
func SideBySide(ctx context.Context, jobs []*Case, memory unit.Bytes, ended func(*Case, *Placement)) {
	type end struct {
		job *Case
		as  *Placement
	}
	left := slices.Clone(jobs)
	var inOrder *Case // of the first processor
	running, inUse := 0, unit.Bytes(0)
	ends := make(chan end)
	for {
		for ctx.Err() == nil && len(left) > 0 && running < runtime.GOMAXPROCS(0) {
			at := 0
			if inOrder != nil {
				at = longest(left, memory-inUse)
			} else if running > 0 && inUse+left[0].Bytes > memory {
				at = none
			}
			if at == none {
				break
			}
			j := left[at]
			if inOrder == nil {
				inOrder = j
			}
			left = slices.Delete(left, at, at+1)
			running, inUse = running+1, inUse+j.Bytes
			go func() { ends <- end{j, j.Run(ctx)} }()
		}
		if running == 0 {
			return
		}
		e := <-ends
		if e.job == inOrder {
			inOrder = nil
		}
		running, inUse = running-1, inUse-e.job.Bytes
		if e.as.Err == nil || ctx.Err() == nil {
			ended(e.job, e.as)
		}
		if fault.IsStalled(e.as.Err) {
			left = nil // its goroutine still runs, and further runs would add theirs
		}
	}
}

// none is the index of no job.
const none = -1

// longest returns the index of the longest job whose data fit into memory, the first of several.
func longest(jobs []*Case, space unit.Bytes) int {
	at := none
	for i, j := range jobs {
		if j.Bytes <= space && (at == none || j.Length > jobs[at].Length) {
			at = i
		}
	}
	return at
}

// Again returns the command that reproduces a wrong result: the default run of an algorithm, with
// root 0 and results in place, if possible.
func (j *Case) Again() string {
	if j.Call.Root != 0 || j.InPlace && j.What.InPlace != nil || !j.InPlace && FitsInPlace(j.What, j.Call) {
		return ""
	}
	x := *j.Job
	x.Ranks = j.Call.World
	return "again: " + x.Reproduce()
}

// Rate computes the bandwidths of a run from its time.
func (at *Placement) Rate(j *Case) {
	if at.Time > 0 {
		at.AlgBW = float64(j.What.Bytes(j.Call)) / at.Time.Ns()
		at.BusBW = at.AlgBW * j.What.BusFactor(j.Call.World)
	}
}

// Run makes one run.
func (j *Case) Run(ctx context.Context) *Placement {
	out, err := j.Job.Execute(ctx, run.Pass{Quiet: true})
	at := &Placement{Err: err}
	if err != nil {
		at.Error = err.Error()
		return at
	}
	at.Time = out.Launches[0].Result.Duration() + j.Launch
	if j.Job.Row().Can(exec.Clock) {
		at.Rate(j)
	}
	j.Messages, j.Events = out.Launches[0].Result.Messages, out.Launches[0].Result.Events
	if j.Job.VerifyData {
		wrong := int64(0)
		for _, v := range out.Judged[0].Verdicts {
			wrong += int64(v.Wrong)
		}
		at.Wrong = &wrong
	}
	return at
}
