package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kernbench/bench"
	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/tl"

	"github.com/spf13/pflag"
)

// word is a flag whose value is one of a few.
type word struct {
	value  *string
	known  []string
	kind   string
	advice func(string) string // about an unknown word, or ""; may be nil
}

func newWord(to *string, initial, kind string, known ...string) *word {
	*to = initial
	return &word{value: to, known: known, kind: kind}
}

func (w *word) String() string { return *w.value }
func (w *word) Type() string   { return w.kind }

func (w *word) Set(s string) error {
	for _, k := range w.known {
		if s == k {
			*w.value = s
			return nil
		}
	}
	if w.advice != nil && w.advice(s) != "" {
		return errors.New(w.advice(s))
	}
	all := "want one of " + strings.Join(w.known, ", ")
	if near := conf.Nearest(s, w.known); near != "" {
		return fmt.Errorf("%s; did you mean %q?", all, near)
	}
	return errors.New(all)
}

// parsed is a flag whose value has a parser and a text of its own.
type parsed[T fmt.Stringer] struct {
	to    *T
	parse func(string) (T, error)
	kind  string
	empty T // prints as nothing
}

func (p *parsed[T]) String() string {
	if p.to == nil || any(*p.to) == any(p.empty) {
		return ""
	}
	return (*p.to).String()
}

func (p *parsed[T]) Type() string { return p.kind }

func (p *parsed[T]) Set(s string) error {
	v, err := p.parse(s)
	if err == nil {
		*p.to = v
	}
	return err
}

// count is a flag with a number of at least one; 0 means not given.
type count int

func (c *count) Type() string { return "N" }

func (c *count) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.Itoa(int(*c))
}

func (c *count) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("want a number from 1 to %d", math.MaxInt32)
	}
	*c = count(n)
	return nil
}

// countTo is a flag with a number from 1 to most.
type countTo struct {
	n    *int
	most int
}

func (c *countTo) Type() string { return "N" }

func (c *countTo) String() string {
	if c.n == nil {
		return ""
	}
	return (*count)(c.n).String()
}

func (c *countTo) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > c.most {
		return fmt.Errorf("want a number from 1 to %d", c.most)
	}
	*c.n = n
	return nil
}

// rankFlag is a flag with one rank. Without a rank it is nil until it is set.
type rankFlag struct{ rank *int }

func (r *rankFlag) Type() string { return "R" }

func (r *rankFlag) String() string {
	if r.rank == nil {
		return ""
	}
	return strconv.Itoa(*r.rank)
}

func (r *rankFlag) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return errors.New("want one rank, from 0 on")
	}
	if r.rank == nil {
		r.rank = new(int)
	}
	*r.rank = int(n)
	return nil
}

// deviceList is a flag with places in the machine's rank order, and ranges of them.
type deviceList []int

func (l *deviceList) Type() string   { return "LIST" }
func (l *deviceList) String() string { return (*rankList)(l).String() }

func (l *deviceList) Set(s string) error {
	const most = 1 << 24 // the most ranks of a configuration
	list, err := parseList(s, 0, most)
	if err != nil {
		return fmt.Errorf("%w, want numbers from 0 and ranges of them, such as 0-3 or 0,2,5-7", err)
	}
	*l = list
	return nil
}

// benchOption is a flag of an option that some benches have. The bench checks its value.
type benchOption struct {
	to   *map[string]string
	name string
	kind string // of the value, for help
}

func (c *benchOption) Type() string { return c.kind }

func (c *benchOption) String() string {
	if c.to == nil {
		return ""
	}
	return (*c.to)[c.name]
}

func (c *benchOption) Set(s string) error {
	if *c.to == nil {
		*c.to = map[string]string{}
	}
	(*c.to)[c.name] = s
	return nil
}

// optionKinds are the names of option values in the help.
var optionKinds = map[bench.OptionKind]string{bench.Word: "WORD", bench.Number: "N", bench.Switch: "bool", bench.Extents: "ROWSxCOLS"}

// optionFlags returns the options that some bench has. The help describes those of one bench: see
// benchHelp. It is an error if a user's bench has an option with the name of a flag of all benches.
func optionFlags(f *pflag.FlagSet, s *run.Spec) error {
	for _, p := range bench.All() {
		for i := range p.Options {
			o := &p.Options[i]
			flag := f.Lookup(o.Name)
			if flag == nil {
				flag = f.VarPF(&benchOption{to: &s.Options, name: o.Name, kind: optionKinds[o.Kind]}, o.Name, "", optionUsage(o))
			}
			if _, own := flag.Value.(*benchOption); !own {
				return fmt.Errorf("bench %s has an option --%s, which is a flag of every bench", p.Name, o.Name)
			}
			if o.Kind == bench.Switch {
				flag.NoOptDefVal = "true"
			}
		}
	}
	return nil
}

// maybe is a switch that is true, false, or not given.
type maybe struct{ to **bool }

func (m maybe) Type() string { return "bool" }

func (m maybe) String() string {
	if m.to == nil || *m.to == nil {
		return ""
	}
	return strconv.FormatBool(**m.to)
}

func (m maybe) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("want true or false")
	}
	*m.to = &on
	return nil
}

// seed is a flag with a seed, in decimal or as 0x....
type seed uint64

func (n *seed) Type() string { return "NUMBER" }

func (n *seed) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*n), 10)
}

func (n *seed) Set(s string) error {
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return errors.New("want a number from 0 to 2^64-1")
	}
	*n = seed(v)
	return nil
}

// machineFlags adds the flags of every verb that builds a machine.
func machineFlags(f *pflag.FlagSet, s *run.Spec) {
	f.StringVar(&s.Topology, "topology", "", "machine: a topology.yaml `FILE`, or a preset (kernbench list presets)")
	f.StringVar(&s.CCL, "ccl", "", "settings of algorithms: a ccl.yaml `FILE` that overrides the built-in one")
	setFlags(f, &s.Sets, "a key of topology.yaml or ccl.yaml")
}

// setFlags adds flags that change keys. what describes the files that have the keys.
func setFlags(f *pflag.FlagSet, to *[]string, what string) {
	f.Var((*settings)(to), "set", "`KEY=VALUE` changes "+what+", such as system.sips.count=8 (repeatable)")
	f.Var(&nodeCount{to: to}, "nodes",
		"`N` nodes like the machine, joined by the network in system.nodes; short for --set system.nodes.count=N")
	f.Var(&launchMode{to: to}, "launch",
		"collectives start from a stream, or as parts of a graph; short for --set software.starts.graph=true")
}

// launchMode is a flag that abbreviates a setting of the machine.
type launchMode struct {
	to   *[]string
	mode string
}

func (l *launchMode) Type() string   { return "stream|graph" }
func (l *launchMode) String() string { return l.mode }

func (l *launchMode) Set(s string) error {
	if s != "stream" && s != "graph" {
		return errors.New("want stream or graph")
	}
	l.mode = s
	*l.to = append(*l.to, "software.starts.graph="+strconv.FormatBool(s == "graph"))
	return nil
}

// settings is a flag that adds its value to a list. Slice flags of pflag cut a value at its commas,
// and KEY=[1, 2] has some; array flags drop what others have added before.
type settings []string

func (s *settings) Type() string   { return "stringArray" }
func (s *settings) String() string { return "" }

func (s *settings) Set(value string) error {
	*s = append(*s, value)
	return nil
}

// Append, Replace and GetSlice make it a pflag.SliceValue, from which --against takes the values.
func (s *settings) Append(value string) error { return s.Set(value) }

func (s *settings) Replace(values []string) error {
	*s = values
	return nil
}

func (s *settings) GetSlice() []string { return *s }

// nodeCount is a flag that abbreviates a setting of the machine.
type nodeCount struct {
	to *[]string
	n  count
}

func (c *nodeCount) Type() string   { return "N" }
func (c *nodeCount) String() string { return c.n.String() }

func (c *nodeCount) Set(s string) error {
	if err := c.n.Set(s); err != nil {
		return err
	}
	*c.to = append(*c.to, "system.nodes.count="+c.n.String())
	return nil
}

// tuningFlag is for verbs that may run auto.
func tuningFlag(f *pflag.FlagSet, s *run.Spec) {
	f.StringVar(&s.Tuning, "tuning", "",
		"tuning table for the algorithm auto: a `FILE` that --table of kernbench tune or calibrate wrote")
}

// workFlags adds the flags of every verb that runs a collective.
func workFlags(f *pflag.FlagSet, s *run.Spec) {
	f.StringVar(&s.Algorithm, "algorithm", "", "`NAME` of an algorithm or of an entry of ccl.yaml (kernbench list algorithms), or auto")
	tuningFlag(f, s)
	f.Var((*count)(&s.Ranks), "ranks",
		"number of ranks, on the first PEs of the machine (default: from the bench or ccl.yaml, else all PEs)")
	f.Var((*count)(&s.NElem), "n-elem", "elements per rank (default: from the bench or ccl.yaml)")
	f.Var(&parsed[dtype.Type]{to: &s.DType, parse: dtype.Parse, kind: "TYPE"}, "dtype",
		"element type: "+join(dtype.Types())+" (default: from the bench, mostly f16)")
	// sum is the zero operation, and worth showing: the help prints it through the text.
	f.Var(&parsed[tl.ReduceOp]{to: &s.Op, parse: tl.ParseReduceOp, kind: "OP"}, "op", "reduction: "+join(tl.ReduceOps())+" (default sum)")
	seedFlag(f, s)
	f.StringVar(&s.Input, "input", "",
		"inputs of the ranks: random (by --seed), rank (rank r holds r+1), ones, index (element i is i), or a `FILE` of numbers, rank by rank (default: from the bench, mostly random)")
}

func seedFlag(f *pflag.FlagSet, s *run.Spec) {
	f.Var((*seed)(&s.Seed), "seed", "seed of the inputs")
}

func benchFlag(f *pflag.FlagSet, s *run.Spec) {
	f.StringVar(&s.Bench, "bench", "",
		"`NAME` of a host program (kernbench list benches; default: the one for the collective of --algorithm, else ccl_allreduce)")
}

func verifyFlag(f *pflag.FlagSet, s *run.Spec) {
	f.BoolVar(&s.VerifyData, "verify-data", false, "move the bytes too, and check the result of every rank by provenance and by value")
}

func formatFlag(f *pflag.FlagSet, to *string) {
	f.Var(newWord(to, "text", "FORMAT", "text", "json"), "format", "text or json")
}

func join[T fmt.Stringer](list []T) string {
	s := make([]string, len(list))
	for i, v := range list {
		s[i] = v.String()
	}
	return strings.Join(s, ", ")
}
