package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kernbench/conf"
)

// Option is an option of one program. Options has those of all programs.
type Option struct {
	Name    string // of its flag, without dashes
	Default string
	Help    string // a phrase
	Kind    OptionKind
	Words   []string // the values of a Word
	Min     int      // of a Number
	Max     int      // of a Number; 0: as large as an int32
}

// OptionKind is the form of an option's value.
type OptionKind uint8

// The kinds.
const (
	Word    OptionKind = iota // one of Words
	Number                    // Min to Max
	Switch                    // true or false
	Extents                   // ROWSxCOLS, each at least 1
)

// Allowed returns a phrase with the allowed values.
func (o *Option) Allowed() string {
	switch o.Kind {
	case Word:
		return strings.Join(o.Words, "|")
	case Number:
		return fmt.Sprintf("%d to %d", o.Min, o.most())
	case Switch:
		return "true|false"
	}
	return "ROWSxCOLS"
}

func (o *Option) most() int {
	if o.Max == 0 {
		return math.MaxInt32
	}
	return o.Max
}

// Check returns what is wrong with a value.
func (o *Option) Check(value string) error {
	switch o.Kind {
	case Word:
		if slices.Contains(o.Words, value) {
			return nil
		}
		if near := conf.Nearest(value, o.Words); near != "" {
			return fmt.Errorf("--%s %s: want one of %s; did you mean %q?", o.Name, value, strings.Join(o.Words, ", "), near)
		}
		return fmt.Errorf("--%s %s: want one of %s", o.Name, value, strings.Join(o.Words, ", "))
	case Number:
		if n, err := strconv.Atoi(value); err != nil || n < o.Min || n > o.most() {
			return fmt.Errorf("--%s %s: want a number from %d to %d", o.Name, value, o.Min, o.most())
		}
	case Switch:
		if _, err := strconv.ParseBool(value); err != nil {
			return fmt.Errorf("--%s %s: want true or false", o.Name, value)
		}
	case Extents:
		if _, _, ok := extents(value); !ok {
			return fmt.Errorf("--%s %s: want rows and columns, such as 256x64, each at least 1", o.Name, value)
		}
	}
	return nil
}

func extents(s string) (rows, cols int, ok bool) {
	r, c, _ := strings.Cut(s, "x")
	a, err := strconv.ParseInt(r, 10, 32)
	b, err2 := strconv.ParseInt(c, 10, 32)
	return int(a), int(b), err == nil && err2 == nil && a > 0 && b > 0
}

// option finds one of the program's options.
func (p *Program) option(name string) *Option {
	for i := range p.Options {
		if p.Options[i].Name == name {
			return &p.Options[i]
		}
	}
	return nil
}

// CheckOptions returns an error for an option that the program does not have, or for a value that
// is not allowed.
func (p *Program) CheckOptions(with map[string]string) error {
	names := make([]string, 0, len(with))
	for name := range with {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o := p.option(name)
		if o == nil {
			return p.noOption(name)
		}
		if err := o.Check(with[name]); err != nil {
			return err
		}
	}
	return nil
}

// noOption returns an error with the benches that have an option which p does not have.
func (p *Program) noOption(name string) error {
	var have, all []string
	for _, other := range rows {
		if other.option(name) != nil {
			have = append(have, other.Name)
		}
	}
	if len(have) > 0 {
		verb := "has"
		if len(have) > 1 {
			verb = "have"
		}
		return fmt.Errorf("bench %s has no option --%s: %s %s it", p.Name, name, strings.Join(have, ", "), verb)
	}
	for i := range p.Options {
		all = append(all, p.Options[i].Name)
	}
	switch near := conf.Nearest(name, all); {
	case near != "":
		return fmt.Errorf("bench %s has no option --%s; did you mean --%s?", p.Name, name, near)
	case len(all) > 0:
		return fmt.Errorf("bench %s has no option --%s, but --%s", p.Name, name, strings.Join(all, ", --"))
	}
	return fmt.Errorf("bench %s has no option --%s: it has none", p.Name, name)
}

// value returns the chosen value of an option, or its default. A name that the program does not
// declare is a defect of the program.
func (h *Host) value(name string, k OptionKind) string {
	o := h.program.option(name)
	if o == nil || o.Kind != k {
		panic(fmt.Sprintf("bench: %s declares no option %q of this kind", h.program.Name, name))
	}
	if v, ok := h.With[name]; ok {
		return v
	}
	return o.Default
}

// Chosen reports whether a value was chosen for an option.
func (h *Host) Chosen(name string) bool {
	_, ok := h.With[name]
	return ok
}

// Word returns the value of an option of kind Word.
func (h *Host) Word(name string) string { return h.value(name, Word) }

// Number returns the value of an option of kind Number.
func (h *Host) Number(name string) int {
	n, _ := strconv.Atoi(h.value(name, Number)) // Execute has checked it
	return n
}

// Switch reports whether an option of kind Switch is set.
func (h *Host) Switch(name string) bool {
	on, _ := strconv.ParseBool(h.value(name, Switch))
	return on
}

// Extents returns the value of an option of kind Extents.
func (h *Host) Extents(name string) (rows, cols int) {
	rows, cols, _ = extents(h.value(name, Extents))
	return rows, cols
}
