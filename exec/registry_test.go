package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "kernbench/internal/fewcollections"
	"kernbench/record/oplog"
	"kernbench/tl/launch"
)

// empty gives a test a registry without rows.
func empty(t *testing.T) {
	before := rows
	rows = nil
	t.Cleanup(func() { rows = before })
}

// bare is an executor without streams.
type bare struct{}

func (bare) Launch(context.Context, *launch.Launch) (*launch.Result, error) {
	return &launch.Result{}, nil
}
func (bare) Data() *oplog.Log { return nil }
func (bare) Close()           {}

// row returns the smallest row that can be registered, with some capabilities.
func row(name string, cs ...Capability) Row {
	return Row{Name: name, Capabilities: cs, New: func(Setup) (Executor, error) { return bare{}, nil }}
}

func TestRegisterRefuses(t *testing.T) {
	empty(t)
	taken := row("taken", Clock)
	taken.Default = Timing
	Register(taken)
	slot := []Fidelity{{Name: "slot"}}
	for _, c := range []struct {
		name   string
		row    Row
		change func(*Row)
		want   string
	}{
		{"no name", row(""), nil, "must consist of"},
		{"a name with a space", row("a b"), nil, "must consist of"},
		{"a name that looks like a flag", row("-p"), nil, "must consist of"},
		{"a name with capitals", row("Sim"), nil, "must consist of"},
		{"a name of all that may be in it", row("0az9_-"), func(r *Row) { r.New = nil }, "needs a constructor"},
		{"no constructor", row("x"), func(r *Row) { r.New = nil }, "needs a constructor"},
		{"a name twice", row("taken"), nil, "another row has this name"},
		{"a purpose twice", row("x", Clock), func(r *Row) { r.Default = Timing }, `"taken" is the default for timing`},
		{"checking without data", row("x", Clock), func(r *Row) { r.Default = Checking }, "moves no bytes"},
		{"a network without fidelities", row("x", Network), nil, "if and only if"},
		{"fidelities without a network", row("x"), func(r *Row) { r.Fidelities = slot }, "if and only if"},
		{"an unknown default fidelity", row("x", Network),
			func(r *Row) { r.Fidelities, r.DefaultFidelity = slot, "flit" }, `"flit" is not among`},
		{"a trace without a clock", row("x", Trace), nil, "needs the capability clock"},
		{"a trace without messages", row("x", Clock, Trace), nil, "needs the capability messages"},
		{"tasks without streams", row("x", Tasks), nil, "needs the capability streams"},
	} {
		if c.change != nil {
			c.change(&c.row)
		}
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), c.want) {
					t.Errorf("%s: panic %v, want %q", c.name, v, c.want)
				}
			}()
			Register(c.row)
		}()
	}
	if got := Names(); !slices.Equal(got, []string{"taken"}) {
		t.Errorf("rows %q are registered", got)
	}
}

// A platform of PTO's examples is no executor. The error names those that stand for it.
func TestAdvice(t *testing.T) {
	empty(t)
	clock, data := row("clocked", Clock), row("checked", Data)
	clock.Default, data.Default = Timing, Checking
	Register(clock)
	Register(data)
	for _, name := range []string{"a2a3sim", "a2a3", "a5sim", "a5"} {
		if _, err := Lookup(name); err == nil ||
			!strings.Contains(err.Error(), "platform of PTO: use clocked for timing, or checked for checking") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Lookup("a3"); err == nil || !strings.Contains(err.Error(), "want one of clocked, checked") {
		t.Errorf("a3: %v", err)
	}
}

// A default for timing has a clock, whoever is registered.
func TestDefaultForTimingHasAClock(t *testing.T) {
	empty(t)
	r := row("x")
	r.Default = Timing
	defer func() {
		if v := fmt.Sprint(recover()); !strings.Contains(v, "has no clock") {
			t.Errorf("panic %v", v)
		}
	}()
	Register(r)
}

func TestDefaultsComeFirst(t *testing.T) {
	empty(t)
	checking, timing := row("a", Data), row("z", Clock)
	checking.Default, timing.Default = Checking, Timing
	for _, r := range []Row{row("m"), checking, row("b"), timing} {
		Register(r)
	}
	if got := Names(); !slices.Equal(got, []string{"z", "a", "b", "m"}) {
		t.Errorf("order %q", got)
	}
	if got := Default(Checking).Name; got != "a" {
		t.Errorf("the default for checking is %s", got)
	}
	if _, err := Lookup("c"); err == nil || err.Error() != `unknown executor "c": want one of z, a, b, m` {
		t.Errorf("Lookup of an unknown name: %v", err)
	}
	if r, err := Lookup("m"); err != nil || r.Name != "m" {
		t.Errorf("Lookup(m) = %+v, %v", r, err)
	}
}

func TestNoDefault(t *testing.T) {
	empty(t)
	Register(row("x", Clock))
	defer func() {
		if v := fmt.Sprint(recover()); !strings.Contains(v, "default for timing") {
			t.Errorf("panic %v", v)
		}
	}()
	Default(Timing)
}

func TestMissingNamesWhatIsMissing(t *testing.T) {
	r := row("x", Clock, Data)
	if err := r.Needs(Clock, Data); err != nil {
		t.Error(err)
	}
	err := r.Needs(Clock, Trace, Streams)
	missing, ok := errors.AsType[*Missing](err)
	if !ok || missing.Executor != "x" || !slices.Equal(missing.Capabilities, []Capability{Trace, Streams}) {
		t.Fatalf("%+v", err)
	}
	if got := err.Error(); got != "the executor x has no trace and no streams" {
		t.Error(got)
	}
}

// Each capability has a name and a text of its own.
func TestCapabilitiesHaveNames(t *testing.T) {
	seen := map[string]Capability{}
	for _, c := range Capabilities() {
		for _, text := range []string{c.String(), (&Missing{Executor: "x", Capabilities: []Capability{c}}).Error()} {
			if other, twice := seen[text]; twice || text == "" || strings.HasSuffix(text, " ") {
				t.Errorf("capabilities %d and %d: %q", other, c, text)
			}
			seen[text] = c
		}
	}
}

func TestFidelity(t *testing.T) {
	r := row("x", Network)
	r.Fidelities, r.DefaultFidelity = []Fidelity{{Name: "ideal"}, {Name: "slot"}}, "slot"
	without := row("y")
	for _, c := range []struct {
		row             *Row
		asked, got, err string
	}{
		{&r, "", "slot", ""},
		{&r, "ideal", "ideal", ""},
		{&r, "flit", "", `unknown fidelity "flit": want one of ideal, slot`},
		{&without, "", "", ""},
		{&without, "ideal", "", "fidelity ideal: the executor y has no network"},
	} {
		got, err := c.row.Fidelity(c.asked)
		if got != c.got || c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%s, fidelity %q: %q, %v", c.row.Name, c.asked, got, err)
		}
	}
}

func TestOpen(t *testing.T) {
	r := row("x")
	if e, err := r.Open(Setup{}); err != nil || e == nil {
		t.Errorf("%v, %v", e, err)
	}
	failed := errors.New("no memory left")
	r.New = func(Setup) (Executor, error) { return nil, failed }
	if _, err := r.Open(Setup{}); !errors.Is(err, failed) || !strings.Contains(err.Error(), "executor x") {
		t.Error(err)
	}
	r = row("x", Streams)
	defer func() {
		if v := fmt.Sprint(recover()); !strings.Contains(v, "has no RunStreams") {
			t.Errorf("panic %v", v)
		}
	}()
	_, err := r.Open(Setup{})
	t.Errorf("a row with streams opened what has none: %v", err)
}

// Features that an executor "has" are one list; others follow.
func TestMissingListsFeatures(t *testing.T) {
	e := Missing{Executor: "x", Capabilities: []Capability{Clock, Data, Trace, Network}}
	if got, want := e.Error(), "the executor x has no clock, no trace and no network and moves no bytes"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
