package calibrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// choice is the fastest program for calls of a size or more, up to the size of the next choice.
type choice struct {
	from                unit.Bytes // the least size of a call, as nccl-tests defines it
	algorithm, protocol string
	instead             []string // other algorithms, the fastest first, up to one that refuses no call
}

// choices returns the fastest program of each row. Adjacent rows with the same program are one
// choice.
func (c *calibration) choices(values []float64) []choice {
	var all []choice
	for i := range c.rows {
		_, k := c.fastest(values, i)
		g := &c.programs[k]
		if n := len(all); n > 0 && all[n-1].algorithm == g.algorithm && all[n-1].protocol == g.protocol {
			continue
		}
		one := choice{algorithm: g.algorithm, protocol: g.protocol, instead: c.instead(values, i, k)}
		if len(all) > 0 {
			call := c.call
			_, call.Elems = sweep.Counts(c.what, call, c.rows[i].Size)
			one.from = c.what.Bytes(call)
		}
		all = append(all, one)
	}
	return all
}

// instead lists the algorithms that run at a row if the chosen program refuses a call.
func (c *calibration) instead(values []float64, row, chosen int) []string {
	var names []string
	if takesAll(c.programs[chosen].algorithm) {
		return names
	}
	order := sweep.NumbersBelow(len(c.programs))
	order = slices.DeleteFunc(order, func(k int) bool { return !(c.time(values, k, row) > 0) }) // NaN: no time
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.time(values, a, row), c.time(values, b, row)) })
	for _, k := range order {
		name := c.programs[k].algorithm
		if name == c.programs[chosen].algorithm || slices.Contains(names, name) {
			continue
		}
		if names = append(names, name); takesAll(name) {
			break
		}
	}
	return names
}

// takesAll reports whether an algorithm of the library refuses no call.
func takesAll(name string) bool {
	a, err := algorithm.Lookup(name)
	return err == nil && !a.Limited()
}

// choices returns the choices of all tables as a YAML list.
func (j *Joint) choices() (string, error) {
	text, err := j.machine("[]") // choices are no part of the fingerprint
	if err != nil {
		return "", err
	}
	fitted, err := conf.LoadTopology([]conf.Source{{Name: "the fitted machine", Data: text}}, nil)
	if err != nil {
		return "", err
	}
	plain, err := fitted.LoadCCL(nil, nil)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range j.Tables {
		c.write(&b, fitted.Fingerprint(), plain)
	}
	return b.String(), nil
}

// write adds the choices of a table, as an element of a YAML list. plain has the settings that
// algorithms have without a file.
func (c *Calibration) write(b *strings.Builder, fingerprint string, plain *conf.CCL) {
	fmt.Fprintf(b, "  - topology: calibrated\n    fingerprint: %q\n    fidelity: %s\n    collective: %s\n    ranks: %d\n    type: %s\n",
		fingerprint, c.Fidelity, c.Collective, c.Ranks, c.Type)
	if c.Rows[len(c.Rows)-1].Extrapolated {
		fmt.Fprintf(b, "    simulate_to: %d # %v\n", int64(c.Largest), c.Largest)
	}
	b.WriteString("    rows:\n")
	for i := range c.choices {
		one := &c.choices[i]
		fmt.Fprintf(b, "      - from: %d # %v\n        use: %s\n", int64(one.from), one.from, one.algorithm)
		entry, base := c.entries.Merge(one.algorithm), plain.Merge(one.algorithm)
		with := entry.Beyond(&base)
		if with.Protocol = nil; len(c.Protocols) > 1 {
			with.Protocol = &one.protocol
		}
		var sets []string
		for _, s := range with.Sets() {
			sets = append(sets, s.Key+": "+s.Value)
		}
		if len(sets) > 0 {
			fmt.Fprintf(b, "        with: {%s}\n", strings.Join(sets, ", "))
		}
		if len(one.instead) > 0 {
			fmt.Fprintf(b, "        else: [%s]\n", strings.Join(one.instead, ", "))
		}
	}
}
