package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"kernbench/lab/run"
	"kernbench/lab/tune"
)

// Runs lists sweeps.
func Runs(w io.Writer, runs []tune.RunRecord) error {
	t := Table{Head: []string{">run", "started", ">took", ">points", "machines", "collectives", "fidelity", "measured by", "command"}}
	for i := range runs {
		r := &runs[i]
		took := "unfinished"
		if !r.Finished.IsZero() {
			took = r.Finished.Sub(r.Started).String()
		}
		t.Add(strconv.FormatInt(r.ID, 10), r.Started.Format(time.DateTime), took, count(int64(r.Points)),
			r.Topologies, r.Collectives, r.Fidelity, r.Program, r.Command)
	}
	return t.Write(w)
}

// Points lists the points of a sweep.
func Points(w io.Writer, x *tune.RunPoints) error {
	t := Table{Head: []string{"machine", "collective", ">ranks", "type", ">size", "algorithm", "settings", ">time",
		">messages", ">events", "what went wrong"}}
	for i := range x.Points {
		p := &x.Points[i]
		took := pointTime(p)
		if p.Error != "" {
			took = "-"
		}
		t.Add(p.Topology, p.Collective, strconv.Itoa(p.Ranks), p.Type, size(int64(p.Size)), p.Algorithm, settings(p),
			took, count(p.Messages), count(p.Events), line(p.Error))
	}
	return t.Write(w)
}

// line returns the first line of a text.
func line(text string) string {
	for i, c := range text {
		if c == '\n' {
			return text[:i]
		}
	}
	return text
}

// PointsCSV lists the points of a sweep as CSV.
func PointsCSV(w io.Writer, x *tune.RunPoints, from run.MadeBy) error {
	c := csv.NewWriter(w)
	c.Write([]string{"topology", "fidelity", "collective", "ranks", "type", "op", "root", "size_bytes", "algorithm",
		"settings", "in_place", "time_ps", "estimated", "messages", "events", "error"})
	for i := range x.Points {
		p := &x.Points[i]
		took := strconv.FormatInt(int64(p.Time), 10)
		if p.Error != "" {
			took = ""
		}
		c.Write([]string{
			p.Topology, p.Fidelity, p.Collective, strconv.Itoa(p.Ranks), p.Type, p.Op, strconv.Itoa(p.Root),
			strconv.FormatInt(int64(p.Size), 10), p.Algorithm, p.Settings,
			strconv.FormatBool(p.InPlace), took, strconv.FormatBool(p.Estimated), strconv.FormatInt(p.Messages, 10),
			strconv.FormatInt(p.Events, 10), line(p.Error),
		})
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return csvFoot(w, nil, from)
}

// Crossovers lists the sizes from which on another choice is the best.
func Crossovers(w io.Writer, groups []*tune.Group) error {
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, heading(g))
		t := Table{Head: []string{">from", ">to", "best", "settings", ">regret between sizes"}}
		for k := range g.Ranges {
			r := &g.Ranges[k]
			to, regret, with := "", "-", r.Settings
			if r.To > 0 {
				to = size(int64(r.To))
			}
			if r.Regret != nil {
				regret = share(*r.Regret)
			}
			if with == "" {
				with = "as configured"
			}
			t.Add(size(int64(r.From)), to, r.Algorithm, with, regret)
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// CrossoversCSV lists the same as CSV.
func CrossoversCSV(w io.Writer, groups []*tune.Group, from run.MadeBy) error {
	c := csv.NewWriter(w)
	c.Write([]string{"topology", "fidelity", "collective", "ranks", "type", "op", "root", "from_bytes", "to_bytes",
		"algorithm", "settings", "regret"})
	for _, g := range groups {
		for i := range g.Ranges {
			r := &g.Ranges[i]
			to := ""
			if r.To > 0 {
				to = strconv.FormatInt(int64(r.To), 10)
			}
			c.Write([]string{
				g.Topology, g.Fidelity, g.Collective, strconv.Itoa(g.Ranks), g.Type, g.Op, strconv.Itoa(g.Root),
				strconv.FormatInt(int64(r.From), 10), to, r.Algorithm, r.Settings, digits(r.Regret),
			})
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return csvFoot(w, nil, from)
}

// Diff lists the points whose time differs.
func Diff(w io.Writer, d *tune.Diff) error {
	var b bytes.Buffer
	t := Table{Head: []string{"machine", "collective", ">ranks", "type", ">size", "algorithm", "settings", ">was", ">is", ">by ps", ">by"}}
	for i := range d.Changed {
		c := &d.Changed[i]
		p := &c.Was
		was, is, by, rel := pointTime(&c.Was), pointTime(&c.Is), fmt.Sprintf("%+d", int64(c.By)), "-"
		switch {
		case c.Was.Error != "":
			was, by = "failed", "-"
		case c.Is.Error != "":
			is, by = "failed", "-"
		case c.Was.Time > 0:
			rel = fmt.Sprintf("%+.2f%%", 100*float64(c.By)/float64(c.Was.Time))
		}
		t.Add(p.Topology, p.Collective, strconv.Itoa(p.Ranks), p.Type, size(int64(p.Size)), p.Algorithm, settings(p), was, is, by, rel)
	}
	if len(t.Rows) > 0 {
		if err := t.Write(&b); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s the same, %d faster, %d slower; %d only in run %d, %d only in run %d\n",
		plural(int64(d.Same), "point", "points"), d.Faster, d.Slower, len(d.OnlyA), d.A, len(d.OnlyB), d.B)
	_, err := w.Write(b.Bytes())
	return err
}

// DiffCSV lists the same as CSV.
func DiffCSV(w io.Writer, d *tune.Diff, from run.MadeBy) error {
	c := csv.NewWriter(w)
	c.Write([]string{"topology", "fidelity", "collective", "ranks", "type", "size_bytes", "algorithm", "settings",
		"was_ps", "is_ps", "by_ps"})
	add := func(p, was, is *tune.Point) {
		cell := func(p *tune.Point) string {
			if p == nil || p.Error != "" {
				return ""
			}
			return strconv.FormatInt(int64(p.Time), 10)
		}
		by := ""
		if cell(was) != "" && cell(is) != "" {
			by = strconv.FormatInt(int64(is.Time-was.Time), 10)
		}
		c.Write([]string{p.Topology, p.Fidelity, p.Collective, strconv.Itoa(p.Ranks), p.Type,
			strconv.FormatInt(int64(p.Size), 10), p.Algorithm, p.Settings, cell(was), cell(is), by})
	}
	for i := range d.Changed {
		add(&d.Changed[i].Was, &d.Changed[i].Was, &d.Changed[i].Is)
	}
	for i := range d.OnlyA {
		add(&d.OnlyA[i], &d.OnlyA[i], nil)
	}
	for i := range d.OnlyB {
		add(&d.OnlyB[i], nil, &d.OnlyB[i])
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return csvFoot(w, nil, from)
}
