package exec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Row is an executor with the properties by which it is chosen.
type Row struct {
	Name    string
	Summary string // a few words for help and listings

	// Default is the purpose for which this executor is the default.
	Default Purpose

	Capabilities []Capability

	// Fidelities are the levels of detail of an executor with the capability Network, and
	// DefaultFidelity is the name of one of them.
	Fidelities      []Fidelity
	DefaultFidelity string

	// New makes an executor. It does not own the values in Setup.
	New func(s Setup) (Executor, error)
}

// Fidelity is a level of detail of a network model.
type Fidelity struct {
	Name    string
	Summary string // a few words; may be empty
}

// Purpose is the purpose of a run.
type Purpose uint8

// The purposes.
const (
	noPurpose Purpose = iota
	Timing            // how long something takes
	Checking          // whether something is right
)

var purposes = [...]string{"", "timing", "checking"}

func (p Purpose) String() string { return purposes[p] }

// needs are the capabilities that the default for a purpose must have.
var needs = [...][]Capability{noPurpose: nil, Timing: {Clock}, Checking: {Data}}

var rows []*Row

// isName reports whether a name needs no quotes on a command line.
func isName(name string) bool {
	for i, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', (c == '_' || c == '-') && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// Register adds an executor. It panics if the row has no proper name or no constructor, or if its
// name or purpose is taken. It also panics if its fields contradict each other. All are defects of
// the program.
func Register(r Row) *Row {
	if err := r.check(); err != nil {
		panic(fmt.Sprintf("exec: row %q: %v", r.Name, err))
	}
	rows = append(rows, &r)
	slices.SortFunc(rows, inOrder)
	return &r
}

// check returns what is wrong with a row before it is registered.
func (r *Row) check() error {
	switch {
	case !isName(r.Name):
		return errors.New("the name must consist of lower-case letters, digits, _ and -")
	case r.New == nil:
		return errors.New("the row needs a constructor")
	case r.Can(Network) != (len(r.Fidelities) > 0):
		return errors.New("a row has fidelities if and only if it has the capability network")
	case r.Can(Network) && !r.has(r.DefaultFidelity):
		return fmt.Errorf("the default fidelity %q is not among its fidelities", r.DefaultFidelity)
	case r.Can(Trace) && !r.Can(Clock):
		return errors.New("the events of a trace have times: the row needs the capability clock")
	case r.Can(Trace) && !r.Can(Messages):
		return errors.New("a trace has sends and receives: the row needs the capability messages")
	case r.Can(Tasks) && !r.Can(Streams):
		return errors.New("programs on streams post tasks: the row needs the capability streams")
	}
	for _, o := range rows {
		if o.Name == r.Name {
			return errors.New("another row has this name")
		}
		if r.Default != noPurpose && o.Default == r.Default {
			return fmt.Errorf("the row %q is the default for %v", o.Name, r.Default)
		}
	}
	return r.Needs(needs[r.Default]...)
}

// inOrder compares rows: the defaults come first, the others follow by name.
func inOrder(a, b *Row) int {
	place := func(r *Row) Purpose {
		if r.Default == noPurpose {
			return Purpose(len(purposes))
		}
		return r.Default
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a.Name, b.Name))
}

// All lists the executors: the defaults first, then the others by name.
func All() []*Row { return slices.Clone(rows) }

// Names lists the names of executors in the order of All.
func Names() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names
}

// Lookup returns the executor called name. The error for an unknown name lists all.
func Lookup(name string) (*Row, error) {
	for _, r := range rows {
		if r.Name == name {
			return r, nil
		}
	}
	if advice := Advice(name); advice != "" {
		return nil, fmt.Errorf("unknown executor %q: %s", name, advice)
	}
	return nil, fmt.Errorf("unknown executor %q: want one of %s", name, strings.Join(Names(), ", "))
}

// platforms are the platforms of PTO's examples. Users of these examples give them as executors.
var platforms = []string{"a2a3sim", "a2a3", "a5sim", "a5"}

// Advice returns which executors stand for a platform of PTO's examples, "" for other words.
func Advice(name string) string {
	if !slices.Contains(platforms, name) {
		return ""
	}
	var uses []string
	for _, r := range rows {
		if r.Default != noPurpose {
			uses = append(uses, fmt.Sprintf("%s for %v", r.Name, r.Default))
		}
	}
	return "it is a platform of PTO: use " + strings.Join(uses, ", or ")
}

// Default returns the executor that serves a purpose where none is named. It panics if none is
// registered for it: the program must import one.
func Default(p Purpose) *Row {
	for _, r := range rows {
		if p != noPurpose && r.Default == p {
			return r
		}
	}
	panic(fmt.Sprintf("exec: no executor is registered as the default for %v", p))
}

// Can reports whether the executor has a capability.
func (r *Row) Can(c Capability) bool { return slices.Contains(r.Capabilities, c) }

// Needs returns nil if the executor has all of the capabilities, else a Missing that names those it
// lacks.
func (r *Row) Needs(cs ...Capability) error {
	var lacks []Capability
	for _, c := range cs {
		if !r.Can(c) {
			lacks = append(lacks, c)
		}
	}
	if lacks == nil {
		return nil
	}
	m := &Missing{Executor: r.Name, Capabilities: lacks}
	for _, other := range rows {
		if !slices.ContainsFunc(cs, func(c Capability) bool { return !other.Can(c) }) {
			m.Instead = append(m.Instead, other.Name)
		}
	}
	return m
}

// Fidelity returns the fidelity called name; "" is the default.
func (r *Row) Fidelity(name string) (string, error) {
	if name == "" {
		return r.DefaultFidelity, nil
	}
	if err := r.Needs(Network); err != nil {
		return "", fmt.Errorf("fidelity %s: %w", name, err)
	}
	if !r.has(name) {
		var known []string
		for _, f := range r.Fidelities {
			known = append(known, f.Name)
		}
		return "", fmt.Errorf("unknown fidelity %q: want one of %s", name, strings.Join(known, ", "))
	}
	return name, nil
}

func (r *Row) has(fidelity string) bool {
	return slices.ContainsFunc(r.Fidelities, func(f Fidelity) bool { return f.Name == fidelity })
}

// Open makes an executor. It panics if the executor is no Streamer though its row has the
// capability Streams: that is a defect of the row.
func (r *Row) Open(s Setup) (Executor, error) {
	x, err := r.New(s)
	if err != nil {
		return nil, fmt.Errorf("executor %s: %w", r.Name, err)
	}
	if _, ok := x.(Streamer); r.Can(Streams) && !ok {
		panic(fmt.Sprintf("exec: row %q has the capability streams, but %T has no RunStreams", r.Name, x))
	}
	return x, nil
}
