package run

import (
	"fmt"
	"time"

	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Result holds what came out of one run: every figure that a person reads and a program
// compares. Fields of a kind that the run does not have (time on an executor without a
// clock) are zero, and Timed and DataChecked say so.
type Result struct {
	Spec Spec `json:"spec"`

	Bench      string `json:"bench"`
	Algorithm  string `json:"algorithm,omitempty"`  // as named: an entry of ccl.yaml
	Collective string `json:"collective,omitempty"` // all_reduce, ...
	Topology   string `json:"logical_topology,omitempty"`

	// Collectives counts those that programs of streams performed, several in a launch. Of
	// several kinds, Algorithm and Collective name each once.
	Collectives int `json:"collectives,omitempty"`

	Executor string `json:"executor"`
	Fidelity string `json:"fidelity,omitempty"`
	Machine  string `json:"machine"` // "2 SIPs x 16 cubes x 8 PEs"

	MemoryOrder string `json:"memory_order"` // what the machine promises: put_signal, ...
	Schedule    uint64 `json:"schedule"`     // random schedule; 0: the executor's own

	WorldSize    int        `json:"world_size"`
	ElemsPerRank int        `json:"elements_per_rank"`
	DType        string     `json:"dtype"`
	Op           string     `json:"op,omitempty"`
	BytesPerRank unit.Bytes `json:"bytes_per_rank"`

	RanksOK      int  `json:"ranks_ok"`
	RanksFailed  int  `json:"ranks_failed"`
	RanksChecked bool `json:"ranks_checked"` // false: the data was not checked

	Counted       []*launch.Result `json:"-"`                  // of the launches whose times SimulatedTime adds up
	Timed         bool             `json:"timed"`              // the executor has a clock
	SimulatedTime unit.Time        `json:"simulated_time_ps"`  // of the collective, or of all launches of another bench
	Launch        unit.Time        `json:"launch_overhead_ps"` // of those collectives, in software: in addition to that time
	AlgBW         float64          `json:"algbw_gbs"`          // 1e9 bytes per second
	BusBW         float64          `json:"busbw_gbs"`
	Launches      int              `json:"launches"`
	Messages      int64            `json:"messages"`
	MessageBytes  int64            `json:"message_bytes"`
	Events        int64            `json:"events"`
	Simulation    []string         `json:"simulation,omitempty"`   // modes in which launches were simulated, with the reason: each once
	SlotHazards   int64            `json:"slot_hazards,omitempty"` // reads of a slot whose credit had gone (credit: on_recv)
	Traffic       []Traffic        `json:"traffic"`                // by rank, of all launches

	Use *Use `json:"use,omitempty"` // of links, engines and rings, where it was asked for

	WallTime        time.Duration `json:"wall_time_ns"` // of the bench: tensors, launches, verdicts
	EventsPerSecond float64       `json:"events_per_second"`
	NsPerMessage    float64       `json:"wall_ns_per_message"`

	Class   *Class   `json:"class,omitempty"` // if races were looked for, and the run ended or depends on the schedule
	Hazards []Hazard `json:"hazards"`         // each type of hazard and pair of places once

	Schedules *Schedules `json:"schedules,omitempty"` // where further ones were asked for

	Failures []Failure `json:"failures"` // at most MaxFailures of RanksFailed
	Verdicts []Verdict `json:"verdicts"` // provenance, values, deadlock, race; schedules
	Notes    []string  `json:"notes"`
	Report   []string  `json:"report"` // lines of the bench

	MadeBy MadeBy `json:"made_by"`

	Repairs *Repairs `json:"repairs,omitempty"` // repairs that were tried after a deadlock

	Fault string `json:"fault,omitempty"` // what stopped the run; Run's error has it as a type

	changed bool // it came out differently when it was repeated
}

// Traffic counts what a rank did to the memory of others, and how often it signalled and
// waited.
type Traffic = tl.Traffic

// MaxFailures is the largest number of failing ranks that a Result describes.
const MaxFailures = 5

// OK reports whether the run ended, and nothing that was checked was wrong.
func (r *Result) OK() bool {
	if r.Fault != "" || r.RanksFailed > 0 {
		return false
	}
	for i := range r.Verdicts {
		if r.Verdicts[i].State == Failed {
			return false
		}
	}
	return true
}

// Failure is one rank whose result is wrong.
type Failure struct {
	Collective string `json:"collective,omitempty"` // which one, where a launch performed several
	Rank       int    `json:"rank"`
	PE         string `json:"pe"`
	Index      int    `json:"index"`              // first wrong element
	Elements   int    `json:"elements,omitempty"` // how many are wrong
	Question   string `json:"question"`           // which verdict it falls under
	Got        string `json:"got"`
	Expected   string `json:"expected"`
	Missing    []int  `json:"missing_ranks,omitempty"`    // ranks whose contribution is missing
	Duplicated []int  `json:"duplicated_ranks,omitempty"` // ranks whose contribution is in it more than once
	Times      []int  `json:"duplicated_times,omitempty"` // how often, one for each of those
	Reason     string `json:"reason,omitempty"`           // operation and source line to blame, where known
}

func (f *Failure) String() string {
	s := fmt.Sprintf("rank %d (%s) element %d: got %s, expected %s", f.Rank, f.PE, f.Index, f.Got, f.Expected)
	if f.Collective != "" {
		s = f.Collective + ": " + s
	}
	if f.Reason != "" {
		s += ": " + f.Reason
	}
	return s
}

// State is the answer to one question about a run.
type State string

// The states of a verdict.
const (
	Checked       State = "checked"        // and nothing wrong was found
	Failed        State = "FAILED"         //
	NotChecked    State = "not checked"    // Detail states what to add
	NotApplicable State = "not applicable" // Detail gives the reason
)

// Verdict is the answer of a run to one question, or the reason why there is no answer.
type Verdict struct {
	Question string `json:"question"` // provenance, values, deadlock, race, schedules
	State    State  `json:"state"`
	Detail   string `json:"detail,omitempty"`
}

func (v Verdict) String() string {
	switch {
	case v.Detail == "":
		return fmt.Sprintf("%s: %s", v.Question, v.State)
	case v.State == NotChecked:
		return fmt.Sprintf("%s: %s: %s", v.Question, v.State, v.Detail)
	}
	return fmt.Sprintf("%s: %s (%s)", v.Question, v.State, v.Detail)
}

// Verdict returns the answer to a question, or NotChecked if the run did not ask it.
func (r *Result) Verdict(question string) Verdict {
	for _, v := range r.Verdicts {
		if v.Question == question {
			return v
		}
	}
	return Verdict{Question: question, State: NotChecked}
}

// FirstWrong describes the first mistake that a run found: in a line, or for a hazard in a few.
func FirstWrong(r *Result, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case len(r.Failures) > 0:
		return r.Failures[0].String()
	}
	for _, v := range r.Verdicts {
		if v.State == Failed && v.Question == races && len(r.Hazards) > 0 {
			return v.String() + "\n" + r.Hazards[0].String()
		}
		if v.State == Failed {
			return v.String()
		}
	}
	return "the result is not right"
}
