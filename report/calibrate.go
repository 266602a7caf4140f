package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"kernbench/lab/calibrate"
	"kernbench/unit"
)

// Calibration prints what a machine was fitted to, size by size, with what, and how near it came.
func Calibration(w io.Writer, c *calibrate.Calibration) error {
	var b bytes.Buffer
	if err := fittedSizes(&b, c); err != nil {
		return err
	}
	if err := parameters(&b, c.Parameters); err != nil {
		return err
	}
	b.WriteByte('\n')
	if err := fittedErrors(&b, c); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Joint prints a fit to several tables, and the parameters that they share. The errors on each
// table of a fit to the others come last.
func Joint(w io.Writer, j *calibrate.Joint) error {
	var b bytes.Buffer
	for _, c := range j.Tables {
		if err := fittedSizes(&b, c); err != nil {
			return err
		}
		if err := fittedErrors(&b, c); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	if err := parameters(&b, j.Parameters); err != nil {
		return err
	}
	b.WriteByte('\n')
	t := Table{Head: []string{"error of a fit without the table", "over", ">sizes", ">median", ">worst", "at"}}
	for i := range j.LeftOut {
		name := j.LeftOut[i].File
		for k := range j.LeftOut[i].Bands {
			if band := &j.LeftOut[i].Bands[k]; band.Machine.Sizes > 0 {
				t.Add(append([]string{name, bandName(band), count(int64(band.Machine.Sizes))}, deviation(&band.Machine)...)...)
				name = ""
			}
		}
	}
	if err := t.Write(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// fittedSizes returns the sizes of a table, below what it is of.
func fittedSizes(b *bytes.Buffer, c *calibrate.Calibration) error {
	fmt.Fprintf(b, "%s of %d ranks, %s, %s, as measured in %s\n", c.Collective, c.Ranks, c.Type, resultsPlace(c.InPlace), c.File)
	for _, r := range c.Header {
		if r.Key == "hardware" || r.Key == "source" {
			fmt.Fprintf(b, "%s: %s\n", r.Key, r.Value)
		}
	}
	fmt.Fprintf(b, "fitted to %s, %s, fidelity %s; held out: %s\n\n", c.Topology, c.Machine, c.Fidelity, heldOut(c.HoldOut))

	t := Table{Head: []string{">size", ">measured µs", ">simulated µs", ">error", "size was", "algorithm", "protocol"}}
	for i := range c.Rows {
		r := &c.Rows[i]
		simulated := inMicros(r.Simulated)
		if r.Extrapolated {
			simulated = "~" + simulated
		}
		role := r.Role.String()
		if r.Why != "" {
			role += ": " + r.Why
		}
		t.Add(size(int64(r.Size)), inMicros(r.Measured), simulated, percent(r.Error), role, r.Algorithm, r.Protocol)
	}
	if err := t.Write(b); err != nil {
		return err
	}
	b.WriteByte('\n')
	return nil
}

// fittedErrors sums up the errors of a table, by what its sizes were for, and by their bands.
func fittedErrors(b *bytes.Buffer, c *calibrate.Calibration) error {
	e := Table{Head: []string{"error over", ">sizes", ">geometric mean", ">largest", "at"}}
	for _, one := range []struct {
		name string
		*calibrate.Errors
	}{{"fitted sizes", &c.Fitted}, {"held-out sizes", &c.HeldOut}, {"excluded sizes", &c.Excluded},
		{"fitted and held out, on the machine as it was", &c.Before}} {
		if one.Sizes > 0 {
			e.Add(one.name, count(int64(one.Sizes)), fmt.Sprintf("%.1f %%", one.Mean*100),
				fmt.Sprintf("%.1f %%", one.Largest*100), size(int64(one.At)))
		}
	}
	if err := e.Write(b); err != nil {
		return err
	}
	b.WriteByte('\n')
	bands := Table{Head: []string{"error over", ">sizes", ">median", ">worst", "at"}}
	for i := range c.Bands {
		if band := &c.Bands[i]; band.Machine.Sizes > 0 {
			bands.Add(append([]string{bandName(band), count(int64(band.Machine.Sizes))}, deviation(&band.Machine)...)...)
		}
	}
	if err := bands.Write(b); err != nil {
		return err
	}
	if len(c.Findings)+len(c.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, f := range c.Findings {
		fmt.Fprintf(b, "not explained: %s\n", f)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
	return nil
}

// parameters returns the keys of the machine, before and after.
func parameters(w io.Writer, all []calibrate.FittedParameter) error {
	t := Table{Head: []string{"parameter", "key", ">before", ">fitted", "unit", "could be"}}
	for i := range all {
		p := &all[i]
		span := "" // its uncertainty
		switch {
		case p.Kept != "":
			span = "kept: " + p.Kept
		case p.Low != nil && p.High != nil:
			span = significant(*p.Low) + " to " + significant(*p.High)
		case p.Low != nil:
			span = significant(*p.Low) + " and more"
		case p.High != nil:
			span = significant(*p.High) + " and less"
		default:
			span = "ten times more or less: the table hardly tells"
		}
		t.Add(p.Name, p.Key, plain(p.Base), plain(p.Fitted), p.Unit, span)
	}
	return t.Write(w)
}

// plain prints a parameter with four digits or more.
func plain(f float64) string {
	if f >= 1000 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.4g", f)
}

func heldOut(h calibrate.HoldOut) string {
	switch {
	case h.Every > 0:
		return fmt.Sprintf("one size of %d", h.Every)
	case h.Above > 0:
		return "sizes above " + size(int64(h.Above))
	case h.Below > 0:
		return "sizes below " + size(int64(h.Below))
	}
	return "none"
}

func percent(f float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", f*100), "-0.0 ", "+0.0 ", 1)
}

func inMicros(t unit.Time) string { return significant(t.Ns() / 1e3) }
