package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"kernbench/lab/run"
	"kernbench/lab/tune"
)

// Tuned prints the results of a sweep.
func Tuned(w io.Writer, t *tune.Tuned) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "run %d: %s, %s of them found in the database, %s", t.Run,
		plural(int64(t.Points), "point", "points"), count(int64(t.Found)), plural(int64(t.Simulated), "simulation", "simulations"))
	for _, more := range []struct {
		n    int
		what string
	}{{t.Failed, "failed"}, {t.Estimated, "too large and estimated"}} {
		if more.n > 0 {
			fmt.Fprintf(&b, ", %s %s", count(int64(more.n)), more.what)
		}
	}
	b.WriteString("\n")
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, n := range t.Wrong {
		fmt.Fprintf(&b, "WRONG, and not timed: %s\n", n)
	}
	if len(t.Groups) > 0 {
		b.WriteString("\n")
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return Best(w, t.Groups)
}

// Best prints the best algorithm of every size, a table for each group.
func Best(w io.Writer, groups []*tune.Group) error {
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, heading(g))
		if err := bestTable(g).Write(w); err != nil {
			return err
		}
		if far := estimates(g); far != "" {
			fmt.Fprintln(w, far)
		}
		if err := autoTable(w, g); err != nil {
			return err
		}
	}
	return nil
}

// autoTable prints the loss of auto without a tuning table, where it was measured.
func autoTable(w io.Writer, g *tune.Group) error {
	t := &Table{Head: []string{">size", "auto", "protocol", "settings", ">time", ">regret"}}
	var worst *tune.Row
	for i := range g.Rows {
		r := &g.Rows[i]
		if r.Auto == nil {
			continue
		}
		if worst == nil || r.Auto.Regret > worst.Auto.Regret {
			worst = r
		}
		mark := ""
		if r.Auto.Estimated {
			mark = "~"
		}
		t.Add(size(int64(r.Size)), r.Auto.Algorithm, cmp.Or(r.Auto.Protocol, "as configured"), cmp.Or(r.Auto.Settings, "as configured"),
			mark+inUnit(int64(r.Auto.Time)), share(r.Auto.Regret))
	}
	if worst == nil {
		return nil
	}
	fmt.Fprintln(w)
	if err := t.Write(w); err != nil {
		return err
	}
	if worst.Auto.Regret < 0 {
		_, err := fmt.Fprintln(w, "auto without a table loses nothing: its choices are faster than all that was measured")
		return err
	}
	_, err := fmt.Fprintf(w, "auto without a table loses at most %s, at %v\n", share(worst.Auto.Regret), worst.Size)
	return err
}

// BestMarkdown prints the same as Markdown.
func BestMarkdown(w io.Writer, groups []*tune.Group, from run.MadeBy) error {
	var b bytes.Buffer
	for i, g := range groups {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n\n", heading(g))
		t := bestTable(g)
		if err := t.Markdown(&b); err != nil {
			return err
		}
		if far := estimates(g); far != "" {
			fmt.Fprintf(&b, "\n%s\n", far)
		}
	}
	b.WriteString("\n" + madeByMarkdown(from))
	_, err := w.Write(b.Bytes())
	return err
}

func heading(g *tune.Group) string {
	s := fmt.Sprintf("%s of %s on %s (%s), %s", g.Collective, plural(int64(g.Ranks), "rank", "ranks"), g.Topology, g.Machine, g.Type)
	if g.Op != "none" && g.Op != "sum" {
		s += " " + g.Op
	}
	if g.Root > 0 {
		s += fmt.Sprintf(", root %d", g.Root)
	}
	return s + ", fidelity " + g.Fidelity
}

// bestTable has the best of all with the limit of the hardware, and the best with settings as
// configured with the limit of these settings.
func bestTable(g *tune.Group) *Table {
	t := &Table{Head: []string{
		">size", "best", "settings", ">time", ">hardware bound", ">ratio", "limit",
		"as configured", ">time", ">its bound", ">ratio", "runner-up", ">behind",
	}}
	for i := range g.Rows {
		r := &g.Rows[i]
		cells := []string{size(int64(r.Size)), r.Best.Algorithm, settings(r.Best), pointTime(r.Best)}
		if bound := r.Best.Bound; bound != nil {
			cells = append(cells, inUnit(int64(bound.Hardware)), ratio(r.Best, int64(bound.Hardware)), bound.HardwareLimit)
		} else {
			cells = append(cells, "-", "-", "-")
		}
		if c := r.Configured; c != nil {
			cells = append(cells, c.Algorithm, pointTime(c))
			if c.Bound != nil {
				cells = append(cells, inUnit(int64(c.Bound.Configured)), ratio(c, int64(c.Bound.Configured)))
			} else {
				cells = append(cells, "-", "-")
			}
		} else {
			cells = append(cells, "-", "-", "-", "-")
		}
		if r.RunnerUp != nil {
			cells = append(cells, r.RunnerUp.Algorithm, share(float64(r.RunnerUp.Time-r.Best.Time)/float64(max(1, r.Best.Time))))
		}
		t.Add(cells...)
	}
	return t
}

func settings(p *tune.Point) string {
	if p.Settings == "" {
		return "as configured"
	}
	return p.Settings
}

// pointTime prints a time, with a mark if it was not measured.
func pointTime(p *tune.Point) string {
	if p.Estimated {
		return "~" + inUnit(int64(p.Time))
	}
	return inUnit(int64(p.Time))
}

// inUnit prints a time to four digits.
func inUnit(ps int64) string {
	for _, u := range []struct {
		ps   float64
		name string
	}{{1e9, "ms"}, {1e6, "µs"}} {
		if f := float64(ps) / u.ps; f >= 0.9995 {
			return strconv.FormatFloat(f, 'f', max(0, 3-int(math.Floor(math.Log10(f)))), 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(float64(ps)/1e3, 'f', 1, 64) + " ns"
}

func ratio(p *tune.Point, bound int64) string {
	if bound <= 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(p.Time)/float64(bound), 'f', 2, 64)
}

func share(f float64) string { return strconv.FormatFloat(100*f, 'f', 1, 64) + "%" }

// estimates writes the errors of estimates, where known.
func estimates(g *tune.Group) string {
	worst, any := 0.0, false
	for i := range g.Rows {
		if p := g.Rows[i].Best; p.Estimated && p.EstimateError != nil {
			any = true
			worst = max(worst, max(*p.EstimateError, -*p.EstimateError))
		}
	}
	if !any {
		return ""
	}
	return fmt.Sprintf("~ is estimated from smaller sizes; the largest that was measured is estimated from those before it to within %s",
		share(worst))
}

// BestCSV prints a line for each size of each group.
func BestCSV(w io.Writer, groups []*tune.Group, from run.MadeBy) error {
	c := csv.NewWriter(w)
	c.Write([]string{
		"topology", "fidelity", "collective", "ranks", "type", "op", "root", "size_bytes", "algorithm", "settings",
		"time_us", "estimated", "hardware_bound_us", "hardware_limit",
		"configured_algorithm", "configured_time_us", "configured_bound_us", "configured_limit", "runner_up", "runner_up_time_us", "regret",
	})
	for _, g := range groups {
		for i := range g.Rows {
			r := &g.Rows[i]
			cells := []string{
				g.Topology, g.Fidelity, g.Collective, strconv.Itoa(g.Ranks), g.Type, g.Op, strconv.Itoa(g.Root),
				strconv.FormatInt(int64(r.Size), 10),
				r.Best.Algorithm, r.Best.Settings, inUs(int64(r.Best.Time)), strconv.FormatBool(r.Best.Estimated), "",
				"", "", "", "", "", "", "", digits(r.Regret),
			}
			if b := r.Best.Bound; b != nil {
				cells[12], cells[13] = inUs(int64(b.Hardware)), b.HardwareLimit
			}
			if p := r.Configured; p != nil {
				cells[14], cells[15] = p.Algorithm, inUs(int64(p.Time))
				if p.Bound != nil {
					cells[16], cells[17] = inUs(int64(p.Bound.Configured)), p.Bound.ConfiguredLimit
				}
			}
			if p := r.RunnerUp; p != nil {
				cells[18], cells[19] = p.Algorithm, inUs(int64(p.Time))
			}
			c.Write(cells)
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return csvFoot(w, nil, from)
}

func inUs(ps int64) string { return strconv.FormatFloat(float64(ps)/1e6, 'g', -1, 64) }
