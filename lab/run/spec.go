package run

import (
	"encoding/json"
	"io"

	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/machine"
	"kernbench/record/cause"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec holds everything that a run depends on. The zero value of each field means the default.
type Spec struct {
	Topology  string   `json:"topology,omitempty"`  // file or preset; the default machine
	CCL       string   `json:"ccl,omitempty"`       // file; the built-in ccl.yaml
	Sets      []string `json:"sets,omitempty"`      // KEY=VALUE over either file
	Tuning    string   `json:"tuning,omitempty"`    // file that kernbench tune wrote, by which the algorithm auto chooses
	Bench     string   `json:"bench,omitempty"`     // see bench.All; the one for what Algorithm performs, else ccl_allreduce
	Algorithm string   `json:"algorithm,omitempty"` // entry of ccl.yaml or algorithm of the library; the bench's own

	// HostProgram runs instead of Bench. It need not be registered.
	HostProgram *bench.Program `json:"-"`

	// Program is a file with the instructions of the ranks, instead of Bench and Algorithm. It also
	// sets Ranks, NElem, DType and Op.
	Program string `json:"program,omitempty"`
	Slots   int    `json:"-"` // of its rings, instead of those that the file states; 0: those

	Ranks   int         `json:"ranks,omitempty"`   // take part: the first in rank order; 0: the number of the bench or of the configuration
	Devices []int       `json:"devices,omitempty"` // take part instead of the first Ranks: places in rank order, ascending
	NElem   int         `json:"n_elem,omitempty"`  // elements per rank; 0: the number of the bench or of the configuration
	DType   dtype.Type  `json:"-"`                 // that of the bench, as a rule f16
	Op      tl.ReduceOp `json:"-"`                 // sum
	Seed    uint64      `json:"seed"`              // of the inputs and of the provenance hashes
	Input   string      `json:"input,omitempty"`   // what ranks contribute: one of bench.InputNames, or a file; "": the input of the bench

	Options map[string]string `json:"options,omitempty"` // of the bench, by name: see bench.Program.Options

	Race       *bool  `json:"race,omitempty"`     // look for hazards; nil: on executors without a clock that can
	VerifyData bool   `json:"verify_data"`        // move bytes, and check provenance and values
	Executor   string `json:"executor,omitempty"` // by its name in package exec; the default for timing
	Fidelity   string `json:"fidelity,omitempty"` // one of the executor's; its default

	// Schedules is the number of further runs with random schedules, numbered from 1, whose results
	// are compared. They move bytes, and so does the run itself. Schedule is that of the run
	// itself, 0 being the executor's own.
	Schedules int    `json:"schedules,omitempty"`
	Schedule  uint64 `json:"schedule,omitempty"`

	Memory unit.Bytes  `json:"-"` // of this computer that the data of a run may take; 0: what is free
	Limits exec.Limits `json:"-"` // of launches that do not end by themselves

	Causes       *cause.Log             `json:"-"` // gets why simulated time passes, of a run without random schedules
	CriticalPath func() []trace.Step    `json:"-"` // of the run that has ended, for its trace
	Alter        func(*machine.Machine) `json:"-"` // changes the machine once it is built, before it is used

	Command    string           `json:"-"`             // the command line of the run: see MadeBy
	TraceFile  string           `json:"-"`             // writes the events of the run: see trace.NewFile
	TraceScope trace.Scope      `json:"-"`             // what the trace has of the run
	TracePlain bool             `json:"-"`             // the trace has no annotations
	Edits      *tl.Edits        `json:"-"`             // changes to kernels that are tried
	Events     trace.Sink       `json:"-"`             // gets the events of the run, without source lines; of an executor with a clock
	CCLTrace   io.Writer        `json:"-"`             // gets one line per send and receive
	Pointers   io.Writer        `json:"-"`             // gets the pointers of all rings as each launch leaves them
	Output     io.Writer        `json:"-"`             // gets the lines that the bench reports, as they come
	Progress   func(p Progress) `json:"-"`             // called with the progress of the run, on the goroutine of Run
	Use        bool             `json:"use,omitempty"` // report what links, engines and rings were in use for
	CalledAs   string           `json:"-"`             // the name of this program in commands that repeat a run; "kernbench"
}

// MarshalJSON writes type and operation by their names.
func (s Spec) MarshalJSON() ([]byte, error) {
	type plain Spec
	named := struct {
		plain
		DType string `json:"dtype,omitempty"`
		Op    string `json:"op"`
	}{plain: plain(s), Op: s.Op.String()}
	if s.DType.Valid() {
		named.DType = s.DType.String()
	}
	return json.Marshal(named)
}

// Progress is the progress of a run.
type Progress struct {
	Phase       string    // "simulate", "explain", "compare", ...
	Done, Total int64     // steps of that phase; Total is 0 if unknown
	Simulated   unit.Time // how far a simulation is; the rest is unknown
}
