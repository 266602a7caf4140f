// Package calibrate fits the parameters of a machine to times measured on a real one. It reads the
// table and simulates the algorithms that the library may have run. It returns the nearest machine,
// with the error at sizes that were held out of the fit.
//
// It may import lab/calibrate/fit, lab/run, lab/sweep, lab/limits and packages below them.
// Start at Spec and Run.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/lab/calibrate/fit"
	"kernbench/lab/calibrate/nccl"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/machine"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec names the measured table, the machine to fit, and the options of the fit.
type Spec struct {
	// Base has the unfitted machine, its settings and fidelity, and the ranks if the table does not
	// have them. Its other fields are ignored.
	Base run.Spec

	File       string // with the table
	Collective string // its name, here or in nccl-tests; "": as the table states

	Algorithms    []string // that the library may have run; nil: those that Algorithms returns
	AllAlgorithms bool     // all that support these ranks

	HoldOut HoldOut
	Keep    []string   // parameters that stay as they are: see CalibrateParameters
	Largest unit.Bytes // simulated size; times of larger sizes follow from the two largest simulated

	Progress func(p run.Progress) // may be nil
}

// Calibration is the result of a fit.
type Calibration struct {
	File       string       `json:"file"`
	Form       fit.Form     `json:"form"`
	Header     []fit.Remark `json:"header"` // what the table states about itself
	Collective string       `json:"collective"`
	Type       string       `json:"type"`
	RedOp      string       `json:"redop"` // none where nothing is reduced
	Root       int          `json:"root"`  // -1 where there is none
	Ranks      int          `json:"ranks"`
	InPlace    bool         `json:"in_place"`

	Topology   string     `json:"topology"` // as the user named it
	Machine    string     `json:"machine"`
	Fidelity   string     `json:"fidelity"`
	Algorithms []string   `json:"algorithms"`
	Protocols  []string   `json:"protocols"`
	HoldOut    HoldOut    `json:"hold_out"`
	Largest    unit.Bytes `json:"largest_simulated_bytes"`

	Parameters []FittedParameter `json:"parameters"`
	Rows       []Row             `json:"rows"`

	Before  Errors      `json:"errors_before"` // of the unfitted machine, over fitted and held-out sizes
	Fitted  Errors      `json:"errors_fitted"`
	HeldOut Errors      `json:"errors_held_out"`
	Bands   []ScoreBand `json:"error_bands"` // of all sizes, and of small, middle and large ones

	Excluded Errors `json:"errors_excluded"` // of sizes that the model cannot compute: see Row.Why
	Aside    Errors `json:"errors_aside"`    // the same as Excluded; the former key, kept for one version

	Findings    []string `json:"findings"` // what in the table the model does not explain
	Notes       []string `json:"notes"`
	Rounds      int      `json:"rounds"` // of simulations and fits
	Simulations int      `json:"simulations"`

	MadeBy run.MadeBy `json:"made_by"` // with the unfitted machine

	base conf.Source // topology file; no data: the built-in one
	sets []string    // --set arguments that change the topology

	choices []choice  // of algorithm and protocol, by size
	entries *conf.CCL // settings of the algorithms in this fit
}

// FittedParameter is a key of topology.yaml, before and after.
type FittedParameter struct {
	Name   string   `json:"name"`
	Key    string   `json:"key"`
	Unit   string   `json:"unit"` // ns or GB/s
	Base   float64  `json:"base"`
	Fitted float64  `json:"fitted"`
	Low    *float64 `json:"low"` // lowest value that fits the table; nil: the table gives no lower limit
	High   *float64 `json:"high"`
	Kept   string   `json:"kept,omitempty"` // why it was not fitted

	param modelParam
}

// Role is the use of a size of a table.
type Role string

// The roles.
const (
	ToFit   Role = "fitted"
	ToCheck Role = "held out"
	ToNone  Role = "set aside" // no parameters could explain it
)

// String returns the role as texts have it. JSON and CSV keep "set aside" for an excluded size.
func (r Role) String() string {
	if r == ToNone {
		return "excluded"
	}
	return string(r)
}

// Row is a size of the table.
type Row struct {
	Size         unit.Bytes `json:"size_bytes"`
	Measured     unit.Time  `json:"measured_ps"`
	Simulated    unit.Time  `json:"simulated_ps"`
	Extrapolated bool       `json:"extrapolated"` // from the largest sizes that were simulated
	Error        float64    `json:"error"`        // simulated / measured - 1
	Role         Role       `json:"role"`
	Why          string     `json:"why,omitempty"` // why it is excluded
	Algorithm    string     `json:"algorithm"`     // the fastest in the simulation
	Protocol     string     `json:"protocol"`
	Before       unit.Time  `json:"before_ps"` // on the unfitted machine
}

// Errors summarizes the errors of rows. Mean and Largest are relative errors of simulated times,
// without sign: 0.1 is 10 %.
type Errors struct {
	Sizes   int        `json:"sizes"`
	Mean    float64    `json:"geometric_mean"`
	Largest float64    `json:"largest"`
	At      unit.Bytes `json:"largest_at_bytes"`
}

// Run fits a machine to a table. The error is a mistake in the spec or the table, or the
// interruption by ctx.
func Run(ctx context.Context, s Spec) (*Calibration, error) {
	j, err := RunTables(ctx, s, []string{s.File})
	if err != nil {
		return nil, err
	}
	return j.Tables[0], nil
}

// calibration is a table in a fit in progress, or in a score.
type calibration struct {
	spec       *Spec
	what       *collective.Collective
	table      *fit.Table
	call       collective.Call // without a number of elements
	programs   []libraryProgram
	params     []modelParam // of the machine
	startParam int          // index in params of the start of this collective
	rows       []calibrationRow
	memo       map[simulated]unit.Time // 0: the run did not complete
	failed     map[string]bool         // algorithms whose failure was reported
	nccl       nccl.System             // for a score
	topology   *conf.Topology
	result     *Calibration
}

// libraryProgram is an algorithm with a protocol that the library may have run.
type libraryProgram struct {
	algorithm, protocol string
	apart               bool // can store results apart from its inputs: see sweep.Target.LeavesApart
}

// calibrationRow is a size of the table, with its call and its role in the fit.
type calibrationRow struct {
	fit.Point
	role  Role
	why   string
	elems int // of the call; 0: too large to simulate
}

// planTable reads the table, and lists the programs and sizes to simulate.
func planTable(ctx context.Context, s *Spec) (*calibration, error) {
	data, err := conf.ReadFile(s.File)
	if err != nil {
		return nil, err
	}
	t, err := fit.Parse(s.File, data)
	if err != nil {
		return nil, err
	}
	name := s.Collective
	if name == "" {
		name = t.Collective
	}
	if name == "" {
		return nil, fmt.Errorf("%s does not say what was measured: name the collective (--collective)", s.File)
	}
	what, err := sweep.FindCollective(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.File, err)
	}
	if s.Base.Topology == "" {
		return nil, machineWanted(t)
	}
	s.Base.Executor = exec.Default(exec.Timing).Name
	switch {
	case s.Base.Ranks == 0 && t.Ranks == 0:
		return nil, fmt.Errorf("%s does not say how many ranks took part: name them (--ranks)", s.File)
	case s.Base.Ranks == 0:
		s.Base.Ranks = t.Ranks
	case t.Ranks != 0 && t.Ranks != s.Base.Ranks:
		return nil, fmt.Errorf("%s was measured with %d ranks, not %d", s.File, t.Ranks, s.Base.Ranks)
	}
	c := &calibration{
		spec: s, table: t, memo: map[simulated]unit.Time{}, failed: map[string]bool{},
		what: what,
		call: collective.Call{World: s.Base.Ranks, Type: dtype.F32},
	}
	if err := c.readCall(); err != nil {
		return nil, err
	}
	if err := c.machine(ctx); err != nil {
		return nil, err
	}
	c.collect()
	return c, nil
}

// readCall takes the type, the operation and the root of the call from the table.
func (c *calibration) readCall() (err error) {
	t := c.table
	if t.Type != "" {
		if c.call.Type, err = dtype.Parse(t.Type); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if t.RedOp != "" && t.RedOp != "none" && c.what.Reduces {
		if c.call.Op, err = tl.ParseReduceOp(t.RedOp); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if c.what.Rooted && t.Root >= 0 {
		if c.call.Root = t.Root; t.Root >= c.call.World {
			return fmt.Errorf("%s: root %d: the ranks are 0 to %d", t.Name, t.Root, c.call.World-1)
		}
	}
	return nil
}

// machineWanted returns the error for a table that names no machine. The machine is not guessed.
func machineWanted(t *fit.Table) error {
	hardware := t.Lookup("hardware")
	if hardware == "" {
		hardware = "not given"
	}
	var lines []string
	for _, p := range machine.Presets() {
		lines = append(lines, fmt.Sprintf("  %-16s %s", p.Name, p.Doc))
	}
	return fmt.Errorf("%s: name the machine to fit (--topology PRESET or FILE); hardware in the table: %s. Presets:\n%s",
		t.Name, hardware, strings.Join(lines, "\n"))
}

// machine loads the machine as it is, and finds the parameters and the programs.
func (c *calibration) machine(ctx context.Context) error {
	x, err := sweep.Load(&c.spec.Base, "", nil)
	if few, ok := errors.AsType[*run.TooManyRanks](err); ok && c.table.RanksLine > 0 {
		return fmt.Errorf("%s:%d: %d ranks: machine %s has %s", c.spec.File, c.table.RanksLine, few.Ranks, c.spec.Base.Topology,
			unit.Count(few.Have, "PE"))
	}
	if err != nil {
		return err
	}
	r := &Calibration{
		File: c.spec.File, Form: c.table.Form, Header: list(c.table.Header), Collective: c.what.Name, Type: c.call.Type.String(),
		RedOp: "none", Root: -1, Ranks: c.call.World, InPlace: c.table.InPlace,
		Topology: c.spec.Base.Topology, Machine: x.Machine.Describe(),
		MadeBy: run.NewMadeBy(c.spec.Base.Command, x.Machine.Topology().Fingerprint()), Fidelity: x.AtFidelity(),
		Algorithms: []string{}, Protocols: []string{},
		HoldOut: c.spec.HoldOut, Largest: c.spec.Largest, Findings: []string{}, Notes: list(c.table.Notes),
	}
	if c.what.Reduces {
		r.RedOp = c.call.Op.String()
	}
	if c.what.Rooted {
		r.Root = c.call.Root
	}
	c.result, c.nccl = r, ncclSystem(x.Machine, c.call.World)
	files, err := machine.ReadSource(c.spec.Base.Topology)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		r.base = files[0]
	}
	r.entries = x.Entries
	if r.sets, _, err = conf.SplitSets(c.spec.Base.Sets); err != nil {
		return err
	}
	c.topology = x.Machine.Topology()
	if err := c.findParams(c.what.Name); err != nil {
		return err
	}
	return c.library(ctx, x)
}

// findParams finds the parameters of the machine that tables of some collectives depend on.
func (c *calibration) findParams(collectives ...string) (err error) {
	if c.params, err = modelParams(c.topology, collectives, c.spec.Keep); err != nil {
		return err
	}
	c.startParam = max(0, slices.IndexFunc(c.params, func(p modelParam) bool { return p.collective == c.what.Name }))
	return nil
}

// library finds the programs that support these ranks.
func (c *calibration) library(ctx context.Context, x *run.Job) error {
	names, asked := c.spec.Algorithms, len(c.spec.Algorithms) > 0
	switch {
	case c.spec.AllAlgorithms && asked:
		return fmt.Errorf("found both a list of algorithms (%s) and all: give one of the two", strings.Join(names, ", "))
	case c.spec.AllAlgorithms:
		names = sweep.AlgorithmsOf(c.what.Name)
	case !asked:
		names = Algorithms(c.what, x.Machine.Topology().Software().NCCL, c.nccl.Nodes, sweep.DefaultAlgorithm(x.Entries, c.what))
	}
	c.result.Protocols = protocolsOf(x.Machine.Topology())
	for _, name := range names {
		t, err := sweep.NewTarget(&c.spec.Base, c.what, name, nil)
		if err == nil {
			_, err = t.Small()
		}
		switch {
		case err != nil && asked:
			return err
		case err != nil:
			c.note("%s is left out: %v", name, err)
			continue
		}
		c.result.Algorithms = append(c.result.Algorithms, name)
		apart, err := t.LeavesApart(ctx)
		if err != nil {
			return err
		}
		for _, p := range c.result.Protocols {
			if c.has(t.Plan.Algorithm, p) {
				c.programs = append(c.programs, libraryProgram{name, p, apart})
			}
		}
	}
	if len(c.programs) == 0 {
		return fmt.Errorf("no algorithm of %s supports %d ranks on this machine: %s", c.what.Name, c.call.World,
			strings.Join(c.result.Notes, "; "))
	}
	return nil
}

// has reports whether a library has an algorithm with a protocol. With switches that reduce, NCCL
// has Simple only, within nodes and between them (src/graph/tuning.cc). RCCL has plans for 8 GPUs
// that access the memory of other GPUs, with LL and Simple (ROCm/rccl:
// tools/msccl-algorithms/allreduce-allpairs-8n-*).
func (c *calibration) has(a *algorithm.Algorithm, protocol string) bool {
	switch {
	case a.Multimem || a.Window != nil && slices.Contains(nccl.Generations(), c.nccl.Generation):
		return protocol == "simple"
	case a.Window != nil:
		return protocol != "ll128"
	}
	return true
}

// note adds a note to the result, unless it is already there.
func (c *calibration) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.result.Notes, text) {
		c.result.Notes = append(c.result.Notes, text)
	}
}

// collect finds the sizes of the table that are valid for the call, with their elements.
func (c *calibration) collect() {
	small := 0
	for _, p := range c.table.Points {
		row := calibrationRow{Point: p, role: ToFit}
		if p.Size <= c.spec.Largest {
			if _, row.elems = sweep.Counts(c.what, c.call, p.Size); row.elems == 0 {
				small++
				continue
			}
		}
		c.rows = append(c.rows, row)
	}
	if small > 0 {
		c.note("%s: too small for one element of %v on each of %d ranks", unit.Count(small, "size"), c.call.Type, c.call.World)
	}
}

// split divides the sizes into those that are fitted and those that test the result.
func (c *calibration) split() error {
	for i := range c.rows {
		if c.spec.HoldOut.holds(i, c.rows[i].Size) {
			c.rows[i].role = ToCheck
		}
	}
	// Fitted sizes alone decide which of them are excluded, so the fit does not depend on others.
	var all, fitted []fit.Point
	for _, r := range c.rows {
		if all = append(all, r.Point); r.role == ToFit {
			fitted = append(fitted, r.Point)
		}
	}
	whyFitted, whyAll := fit.Excluded(fitted), fit.Excluded(all)
	k, left := 0, 0
	for i := range c.rows {
		r := &c.rows[i]
		why := whyAll[i]
		if r.role == ToFit {
			why, k = whyFitted[k], k+1
		}
		if why != "" {
			r.role, r.why = ToNone, why
		}
		if r.role == ToFit {
			left++
		}
	}
	if left < 3 {
		return fmt.Errorf("%s: %s left to fit with --hold-out %v: at least 3 are needed",
			c.spec.File, unit.Count(left, "size"), c.spec.HoldOut)
	}
	return nil
}

func list[T any](s []T) []T { return append([]T{}, s...) }
