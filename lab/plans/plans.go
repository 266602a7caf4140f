package plans

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kernbench/collective"
	"kernbench/conf"
	"kernbench/frontend"
	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
	"kernbench/frontend/timing"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/unit"
)

// Spec is the program to time, and the machine.
type Spec struct {
	File     string
	Topology string
	Sets     []string
	Options  frontend.Options
	Detail   *timing.Detail // nil: that of timing.Run
	Protocol *plan.Protocol // instead of the program's own
	InPlace  *bool          // nil: the placement of the program, out of place if it has both
	Command  string
}

// Loaded is a program that has been read and judged, and a machine.
type Loaded struct {
	Verdict *frontend.Verdict
	machine *machine.Machine
	spec    Spec
	inPlace bool
	fastest map[string]string // algorithms of collectives, by their common properties
}

// Foreign reports whether a file is of a format of another tool.
func Foreign(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return err == nil && info.IsDir()
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := f.Read(head)
	return frontend.DialectOf(head[:n]) != nil
}

// InPlaceOfAlgorithm reports whether a word in the place of an algorithm is a program of another
// tool. It is a file, or a folder that is written as a path. A folder may have an algorithm's name.
func InPlaceOfAlgorithm(word string) bool {
	if info, err := os.Stat(word); err != nil || info.IsDir() && !strings.ContainsRune(filepath.ToSlash(word), '/') {
		return false
	}
	return Foreign(word)
}

// Load reads and judges the program, and builds the machine. A program that cannot be read, or is
// ill-formed, has no time.
func Load(s Spec) (*Loaded, error) {
	sources, _, err := frontend.Find(s.File)
	if err != nil {
		return nil, err
	}
	switch len(sources) {
	case 1:
	case 0:
		return nil, fmt.Errorf("%s is a folder without programs, want a program file", s.File)
	default:
		return nil, fmt.Errorf("%s is a folder with %d programs, want one of them, such as %s", s.File, len(sources), sources[0].Name)
	}
	topo, err := topology(s.Topology, s.Sets)
	if err != nil {
		return nil, err
	}
	s.Options.SMs = topo.PE().SMs
	l := &Loaded{spec: s, Verdict: frontend.Judge(&sources[0], s.Options)}
	p := l.Verdict.Program
	if p == nil {
		return l, firstOf(s.File, l.Verdict.Findings)
	}
	l.inPlace = p.Modes[0]
	if s.InPlace != nil {
		l.inPlace = *s.InPlace
	}
	l.machine, err = machine.Build(topo)
	return l, err
}

// firstOf returns the first finding as an error, with the number of the others.
func firstOf(file string, all []plan.Finding) error {
	if len(all) == 1 {
		return errors.New(all[0].String())
	}
	return fmt.Errorf("%v\n  and %d more: kernbench import %s", all[0], len(all)-1, file)
}

// Multiprocessors returns the number in a GPU of a machine; 0: unknown.
func Multiprocessors(name string, sets []string) (int, error) {
	topo, err := topology(name, sets)
	if err != nil {
		return 0, err
	}
	return topo.PE().SMs, nil
}

// topology reads the machine.
func topology(name string, sets []string) (*conf.Topology, error) {
	sets, err := machine.TopologySets(sets)
	if err != nil {
		return nil, err
	}
	files, err := machine.ReadSource(name)
	if err != nil {
		return nil, err
	}
	return conf.LoadTopology(files, sets)
}

// build makes the machine again, for other settings.
func (l *Loaded) build() error {
	topo, err := topology(l.spec.Topology, l.spec.Sets)
	if err != nil {
		return err
	}
	l.machine, err = machine.Build(topo)
	return err
}

// Result is the time of one call.
type Result struct {
	File           string         `json:"file"`
	Dialect        string         `json:"dialect"`
	Name           string         `json:"name"`
	Collective     string         `json:"collective"`
	Machine        string         `json:"machine"`
	World          int            `json:"ranks"`
	InPlace        bool           `json:"in_place"`
	Protocol       string         `json:"protocol"`
	Bytes          unit.Bytes     `json:"bytes"`
	Rounds         int            `json:"rounds"`
	Messages       int            `json:"messages"` // of all rounds
	Network        bool           `json:"network"`  // channels leave the innermost level of the machine's network
	AlgBW          float64        `json:"algbw_gbs"`
	BusBW          float64        `json:"busbw_gbs"`         // 0: the collective has no factor
	Outside        string         `json:"outside,omitempty"` // the limit of the file that excludes the size
	Crowded        string         `json:"crowded,omitempty"` // frontend.Crowded: more thread blocks than multiprocessors
	Deadlock       *judge.Stuck   `json:"deadlock,omitempty"`
	Verdicts       []plan.Verdict `json:"verdicts"`
	Model          timing.Model   `json:"model"`
	Performed      []Performed    `json:"collectives,omitempty"` // without an algorithm in the program
	Changes        []Change       `json:"changes,omitempty"`     // of --what-if
	MadeBy         run.MadeBy     `json:"made_by"`
	*timing.Result                // nil with a deadlock
}

// Note returns a remark about the call for a table.
func (r *Result) Note() string {
	switch {
	case r.Deadlock == nil:
		return r.Outside
	case r.Outside == "":
		return "hangs"
	}
	return "hangs; " + r.Outside
}

// SizeError is the reason why a program has no plan for a size.
type SizeError struct{ Reason string }

func (e *SizeError) Error() string { return e.Reason }

// Machine describes the machine.
func (l *Loaded) Machine() string { return l.machine.Describe() }

// Crowded warns of more thread blocks of a rank than the machine's GPUs have multiprocessors; "" if
// there are no more.
func (l *Loaded) Crowded() string {
	return frontend.Crowded(l.Verdict.Program, l.machine.Topology().PE().SMs)
}

// In returns the same program, called in place or out of place.
func (l *Loaded) In(inPlace bool) *Loaded {
	other := *l
	other.inPlace = inPlace
	return &other
}

// HangError is the error of a call that does not end.
type HangError struct{ Stuck *judge.Stuck }

func (e *HangError) Error() string { return "deadlock: " + e.Stuck.String() }

// Hangs returns the deadlock of a call as an error.
func (r *Result) Hangs() error { return &HangError{r.Deadlock} }

// Only returns the size of the calls of a program whose files have it, and true. The size is 0 if
// the files do not determine it.
func (l *Loaded) Only() (unit.Bytes, bool) {
	p := l.Verdict.Program
	return unit.Bytes(p.MaxBytes), p.Fixed || p.MinBytes > 0 && p.MinBytes == p.MaxBytes
}

// Time times a call whose larger one of a rank's input and output has some bytes. With 0 it takes
// the size of the files. The result of a call that hangs has a deadlock instead of a time.
func (l *Loaded) Time(ctx context.Context, bytes unit.Bytes) (*Result, error) {
	p := l.Verdict.Program
	pl, broken := p.Plan(plan.Call{Bytes: int64(bytes), InPlace: l.inPlace, Depth: l.spec.Options.Depth,
		Root: l.spec.Options.Root, Want: l.spec.Options.Want, Protocol: l.spec.Protocol})
	if len(broken) > 0 {
		return nil, &SizeError{broken[0].String()}
	}
	if pl == nil {
		return nil, fmt.Errorf("%s has no plan for %v", l.spec.File, bytes)
	}
	r := &Result{
		File: l.spec.File, Dialect: p.Dialect, Name: p.Name, Collective: p.Collective, Machine: l.machine.Describe(), World: p.World,
		InPlace: l.inPlace, Protocol: pl.Protocol.String(), Bytes: bytes, Rounds: len(pl.Cell), Messages: pl.Messages() * len(pl.Cell),
		Crowded: l.Crowded(), Verdicts: l.Verdict.Verdicts, Model: l.model(pl.Protocol),
		MadeBy: run.NewMadeBy(l.spec.Command, l.machine.Topology().Fingerprint()),
	}
	switch size := int64(bytes); {
	case p.Fixed || size == 0:
	case size < p.MinBytes:
		r.Outside = fmt.Sprintf("below minBytes %d: no runtime takes it", p.MinBytes)
	case p.MaxBytes > 0 && size > p.MaxBytes:
		r.Outside = fmt.Sprintf("above maxBytes %d: no runtime takes it", p.MaxBytes)
	}
	if l.spec.Options.Depth == 0 {
		var network bool
		if pl, network = pl.OverNetwork(func(a, b int) bool {
			return max(a, b) < l.machine.NumPEs() &&
				l.machine.Between(a, b) > 0
		}); network {
			r.Model.Flag += r.Model.Fence
			r.Network = true
		}
	}
	if r.Deadlock = judge.Finishes(pl); r.Deadlock != nil {
		return r, nil
	}
	var err error
	if r.Performed, err = l.perform(ctx, pl); err != nil {
		return nil, err
	}
	detail := timing.Detail{Rows: 5, Rank: plan.None}
	if l.spec.Detail != nil {
		detail = *l.spec.Detail
	}
	if r.Result, err = timing.Explain(pl, l.machine, r.Model, detail); err != nil {
		return nil, err
	}
	if ns := r.Time.Ns(); ns > 0 && bytes > 0 {
		r.AlgBW = float64(bytes) / ns
	}
	if co, err := collective.Lookup(p.Collective); err == nil && co.BusFactor != nil {
		r.BusBW = r.AlgBW * co.BusFactor(p.World)
	}
	return r, nil
}

// model returns the costs of a protocol on the machine, as far as its file has them.
func (l *Loaded) model(p plan.Protocol) timing.Model {
	m := timing.Defaults(p)
	name := [...]string{"simple", "ll", "ll128"}[p]
	topo := l.machine.Topology()
	sw := topo.Software()
	c := sw.Protocol(name)
	for _, x := range []struct {
		name string
		to   *unit.Time
		has  unit.Time
	}{
		{"launch", &m.Launch, c.Launch}, {"latency", &m.Latency, c.Latency}, {"issue", &m.Issue, sw.Blocks.Issue},
		{"slice", &m.Slice, sw.Blocks.Slice}, {"flag", &m.Flag, sw.Blocks.Flag}, {"fence", &m.Fence, sw.Blocks.Fence},
	} {
		if x.has > 0 {
			*x.to = x.has
			m.Known(x.name)
		}
	}
	for _, x := range []struct {
		name string
		to   *unit.Rate
		has  unit.Rate
	}{{"copy", &m.Copy, sw.Blocks.Copy}, {"reduce", &m.Reduce, sw.Blocks.Reduce}} {
		if x.has > 0 {
			*x.to = x.has
			m.Known(x.name)
		}
	}
	if c.Efficiency > 0 && c.Efficiency < m.Efficiency {
		m.Efficiency = c.Efficiency
	}
	if hops := topo.Latencies(name, conf.OnRings); c.Latency > 0 && len(hops) > 1 {
		m.Hops = hops
	}
	return m
}
