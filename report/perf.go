package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kernbench/lab/perf"
	"kernbench/lab/sweep"
)

// PerfTable prints a sweep row by row, in the format of nccl-tests. Columns that nccl-tests does
// not have follow its own: they are the extra columns.
type PerfTable struct {
	W         io.Writer
	Algorithm bool // print the column of algorithms, even with only one algorithm

	wide  []int // widths of the extra columns
	noted int   // number of notes already printed
}

// Begin prints the lines above the rows.
func (t *PerfTable) Begin(s *perf.Sweep) error {
	var b bytes.Buffer
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight("# "+fmt.Sprintf(format, args...), " ") + "\n")
	}
	line("Collective test starting: %s", s.Collective)
	step := fmt.Sprintf("%d(factor)", s.Factor)
	if s.Step > 0 {
		step = fmt.Sprintf("%d(bytes)", int64(s.Step))
	}
	check := 0
	if s.Check {
		check = 1
	}
	line("minBytes %d maxBytes %d step: %s warmup iters: %d iters: %d validation: %d",
		int64(s.Min), int64(s.Max), step, s.Warmup, s.Iterations, check)
	line("")
	line("Using devices")
	line(" %s", participants(s.Ranks, s.Machine, s.Executor, s.Fidelity))
	for _, n := range s.Notes {
		line("note: %s", n)
	}
	t.noted = len(s.Notes)
	line("")
	const five, four = "%10s  %12s  %8s  %6s  %6s", "  %7s  %6s  %6s  %6s"
	line(five+"           out-of-place                       in-place", "", "", "", "", "")
	extra := t.columns(s)
	line(five+four+four+"%s", "size", "count", "type", "redop", "root",
		"time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong", extra)
	line(five+four+four+"%s", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "", t.units(s))
	_, err := t.W.Write(b.Bytes())
	return err
}

// participants describes the ranks and the machine of a sweep. Ranks are 0 if rows differ.
func participants(ranks int, machine, executor, fidelity string) string {
	if fidelity != "" {
		executor += ", fidelity " + fidelity
	}
	label := plural(int64(ranks), "rank", "ranks")
	if ranks == 0 {
		label = "ranks"
	}
	return fmt.Sprintf("%s on %s (%s)", label, machine, executor)
}

// columns chooses the extra columns, and returns the line of their headings.
func (t *PerfTable) columns(s *perf.Sweep) string {
	t.wide = nil
	var head []string
	column := func(name string, cells []string) {
		head = append(head, name)
		wide := utf8.RuneCountInString(name)
		for _, c := range cells {
			wide = max(wide, utf8.RuneCountInString(c))
		}
		t.wide = append(t.wide, wide)
	}
	if t.Algorithm = t.Algorithm || len(s.Algorithms) > 1; t.Algorithm {
		column("algorithm", s.Algorithms)
	}
	if len(s.RanksList) > 0 {
		column("ranks", []string{strconv.Itoa(slices.Max(s.RanksList))})
	}
	for _, v := range s.Varied {
		column(v.Key, v.Values)
	}
	if s.Bound {
		column(headsOfBound, nil)
	}
	return t.cells(head)
}

// units returns the line below the headings: the units of the extra columns that have any.
func (t *PerfTable) units(s *perf.Sweep) string {
	below := make([]string, len(t.wide))
	if s.Bound {
		below[len(below)-1] = unitsOfBound
	}
	return t.cells(below)
}

func (t *PerfTable) cells(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		b.WriteString("  " + text + strings.Repeat(" ", max(0, t.wide[i]-utf8.RuneCountInString(text))))
	}
	return b.String()
}

// Row prints a row.
func (t *PerfTable) Row(s *perf.Sweep, r *perf.Row) error {
	var extra []string
	if t.Algorithm {
		extra = append(extra, r.Algorithm)
	}
	if len(s.RanksList) > 0 {
		extra = append(extra, strconv.Itoa(r.Ranks))
	}
	for _, set := range r.Settings {
		extra = append(extra, set.Value)
	}
	if s.Bound {
		extra = append(extra, boundCells(r.Bound))
	}
	text := fmt.Sprintf("%12d  %12d  %8s  %6s  %6d", int64(r.Size), r.Count, ncclType(r.Type), r.RedOp, r.Root) +
		placement(s, r.OutOfPlace) + placement(s, r.InPlace) + t.cells(extra)
	if note := remark(r); note != "" {
		text += "  # " + note
	}
	_, err := io.WriteString(t.W, strings.TrimRight(text, " ")+"\n")
	return err
}

// placement returns the four columns of a placement: time, algbw, busbw and #wrong.
func placement(s *perf.Sweep, p *sweep.Placement) string {
	const form = "  %7s  %6s  %6s  %6s"
	if p == nil || p.Error != "" {
		return fmt.Sprintf(form, "N/A", "N/A", "N/A", "N/A")
	}
	wrong := "N/A"
	if p.Wrong != nil {
		wrong = strconv.FormatInt(*p.Wrong, 10)
	}
	if !s.Timed {
		return fmt.Sprintf(form, "-", "-", "-", wrong)
	}
	return fmt.Sprintf(form, fitting(p.Time.Ns()/1e3, 7), fitting(p.AlgBW, 6), fitting(p.BusBW, 6), wrong)
}

// fitting formats a number as nccl-tests does. It has two decimals if they fit in width, else
// fewer, else an exponent.
func fitting(v float64, width int) string {
	for places := 2; places >= 0; places-- {
		if s := strconv.FormatFloat(v, 'f', places, 64); len(s) <= width {
			return s
		}
	}
	return strconv.FormatFloat(v, 'e', width-6, 64)
}

// remark returns a line about a row: its error, else its note.
func remark(r *perf.Row) string {
	text := r.Note
	for _, p := range r.Placements() {
		if p.Error != "" {
			text = p.Error
			break
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// End prints the lines below the rows.
func (t *PerfTable) End(s *perf.Sweep) error {
	var b bytes.Buffer
	laterNotes(&b, s.Notes, t.noted)
	if err := bestLines(&b, s); err != nil {
		return err
	}
	switch {
	case s.Wrong > 0:
		fmt.Fprintf(&b, "# Out of bounds values : %d FAILED\n", s.Wrong)
	case s.Checked:
		fmt.Fprintln(&b, "# Out of bounds values : 0 OK")
	default:
		fmt.Fprintln(&b, "# Out of bounds values : N/A")
	}
	busbw := "-"
	if s.Timed {
		busbw = fmt.Sprintf("%g", rounded(s.AvgBusBW))
	}
	fmt.Fprintf(&b, "# Avg bus bandwidth    : %s\n#\n", busbw)
	if n := s.Planned - len(s.Rows); n > 0 {
		fmt.Fprintf(&b, "# Collective test interrupted: %s, %s not measured\n", s.Collective, plural(int64(n), "row", "rows"))
	} else {
		fmt.Fprintf(&b, "# Collective test concluded: %s\n", s.Collective)
	}
	_, err := t.W.Write(b.Bytes())
	return err
}

// laterNotes prints all notes after the first ones, as comments: first is how many to skip.
func laterNotes(w io.Writer, notes []string, first int) {
	for _, n := range notes[min(first, len(notes)):] {
		fmt.Fprintf(w, "# note: %s\n", n)
	}
}

// rounded returns v with six significant digits.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return v
}
