package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kernbench/selfbench"
)

// Speed prints what was measured of kernbench, with a line for each figure. CPU time and memory
// have a line only with the first of their row, unless they have a limit of their own.
func Speed(w io.Writer, t *selfbench.Table) error {
	table := speedTable(t)
	if err := table.Write(w); err != nil {
		return err
	}
	return speedFoot(w, t, "")
}

// SpeedMarkdown prints the same for a page.
func SpeedMarkdown(w io.Writer, t *selfbench.Table) error {
	table := speedTable(t)
	if err := table.Markdown(w); err != nil {
		return err
	}
	if err := speedFoot(w, t, "\n"); err != nil {
		return err
	}
	_, err := io.WriteString(w, madeByMarkdown(t.MadeBy))
	return err
}

func speedTable(t *selfbench.Table) *Table {
	out := &Table{Head: []string{"row", "measured", ">median", ">spread", ">must", "reached", ">aim", "reached"}}
	if t.Compared != "" {
		out.Columns(">was", ">now/was")
	}
	out.Columns(">user CPU", ">peak memory")
	for i := range t.Rows {
		r := &t.Rows[i]
		for j := range r.Figures {
			f := &r.Figures[j]
			if excluded := j > 0 && slices.Contains([]string{"user CPU", "peak memory", "per message"},
				f.What); !excluded || f.Must != nil || f.Aim != nil {
				out.Add(speedCells(t, r, f, j == 0)...)
			}
		}
	}
	return out
}

// speedCells returns the cells of a figure's line.
func speedCells(t *selfbench.Table, r *selfbench.Row, f *selfbench.Figure, first bool) []string {
	cells := []string{"", f.What, "-", ""}
	if len(f.Values) > 0 {
		cells[2] = amount(f.Unit, f.Median)
	}
	if len(f.Values) > 1 {
		cells[3] = fmt.Sprintf("%.0f %%", 100*f.Spread)
	}
	if first {
		cells[0] = r.Name
	}
	for _, target := range []*selfbench.Target{f.Must, f.Aim} {
		if target == nil {
			cells = append(cells, "", "")
			continue
		}
		cells = append(cells, goal(f.Unit, target), map[bool]string{true: "yes", false: "NO"}[target.Reached])
	}
	if t.Compared != "" {
		switch {
		case r.Only != "":
			cells = append(cells, "", "")
		case f.Was == nil:
			cells = append(cells, "-", "")
		default:
			cells = append(cells, amount(f.Unit, *f.Was), "")
			if f.Ratio != nil {
				cells[len(cells)-1] = fmt.Sprintf("%.2f", *f.Ratio)
			}
		}
	}
	if first {
		for _, what := range []string{"user CPU", "peak memory"} {
			cell := ""
			if f := r.Figure(what); f != nil && f.Median > 0 {
				cell = amount(f.Unit, f.Median)
			}
			cells = append(cells, cell)
		}
	}
	return cells
}

// goal prints the value that a figure should reach.
func goal(u selfbench.Unit, t *selfbench.Target) string {
	is := map[string]string{"<=": "≤", ">=": "≥"}[t.Is]
	if is == "" {
		is = t.Is
	}
	v, unit := scaled(u, t.Value)
	return strings.TrimSpace(fmt.Sprintf("%s %.3g %s", is, v, unit))
}

// amount prints a figure with its unit.
func amount(u selfbench.Unit, v float64) string {
	if u == selfbench.Times {
		return fmt.Sprintf("%.2f", v)
	}
	v, unit := scaled(u, v)
	return strings.TrimSpace(significant(v) + " " + unit)
}

// scaled returns a figure in the most readable unit.
func scaled(u selfbench.Unit, v float64) (float64, string) {
	type scale struct {
		from float64
		name string
	}
	var scales []scale
	switch u {
	case selfbench.Seconds:
		scales = []scale{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}
	case selfbench.Bytes:
		scales = []scale{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
	default:
		return v, ""
	}
	for _, s := range scales[:len(scales)-1] {
		if v >= s.from {
			return v / s.from, s.name
		}
	}
	last := scales[len(scales)-1]
	return v / last.from, last.name
}

// speedFoot prints the lines below the table: notes of rows, how many targets are reached, and the
// place and time of the measurement.
func speedFoot(w io.Writer, t *selfbench.Table, gap string) error {
	var b strings.Builder
	for i := range t.Rows {
		r := &t.Rows[i]
		switch {
		case r.Only == selfbench.Was:
			fmt.Fprintf(&b, "note: %s: only in %s\n", r.Name, t.Compared)
		case r.Only == selfbench.Now:
			fmt.Fprintf(&b, "note: %s: not in %s\n", r.Name, t.Compared)
		}
		if r.Note != "" && r.Only != selfbench.Was {
			fmt.Fprintf(&b, "note: %s: %s\n", r.Name, r.Note)
		}
	}
	if reached, of := t.Reached(); of > 0 {
		fmt.Fprintf(&b, "%d of %s reached; medians of %s, spread from the least to the most over the median\n",
			reached, plural(int64(of), "figure that must be", "figures that must be"), plural(int64(t.Runs), "run", "runs"))
	} else {
		fmt.Fprintf(&b, "medians of %s, spread from the least to the most over the median\n", plural(int64(t.Runs), "run", "runs"))
	}
	b.WriteString(whereAndWhen(&t.Origin))
	if t.Before != nil {
		fmt.Fprintf(&b, "%s: %s", t.Compared, whereAndWhen(t.Before))
	}
	_, err := io.WriteString(w, "\n"+strings.ReplaceAll(b.String(), "\n", gap+"\n"))
	return err
}

func whereAndWhen(o *selfbench.Origin) string {
	m := &o.Machine
	cpu := m.CPU
	if cpu == "" {
		cpu = m.Arch
	}
	memory := ""
	if m.Memory > 0 {
		memory = ", " + amount(selfbench.Bytes, float64(m.Memory))
	}
	return fmt.Sprintf("kernbench %s, %s, %s of %s%s, %s\n", o.Kernbench, m.Go,
		plural(int64(m.Cores), "core", "cores"), cpu, memory, o.Date.Format("2006-01-02 15:04 MST"))
}

// SpeedRows lists the rows that there are.
func SpeedRows(w io.Writer, rows []selfbench.Row) error {
	t := Table{Head: []string{"row", "work", "must", "command"}}
	for i := range rows {
		r := &rows[i]
		var must []string
		for _, f := range r.Figures {
			if f.Must != nil {
				must = append(must, f.What+" "+goal(f.Unit, f.Must))
			}
		}
		t.Add(r.Name, r.Work, strings.Join(must, "; "), r.Command)
	}
	return t.Write(w)
}
