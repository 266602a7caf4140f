package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kernbench/lab/plans"
	"kernbench/unit"
)

// Plan prints the time of a call of another tool's program, and where the time went.
func Plan(w io.Writer, r *plans.Result) error {
	var b bytes.Buffer
	if err := errors.Join(planHead(&b, r), performed(&b, r), costs(&b, r), planPath(&b, r), planLinks(&b, r)); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// planHead prints the program and the call.
func planHead(w io.Writer, r *plans.Result) error {
	t := Table{Head: []string{"program", r.File}}
	t.Add("name", r.Name)
	t.Add("format", r.Dialect)
	t.Add("collective", fmt.Sprintf("%s, %d ranks, %s", r.Collective, r.World, placeWord(r.InPlace)))
	t.Add("machine", r.Machine)
	var words []string
	for _, v := range r.Verdicts {
		words = append(words, v.String())
	}
	t.Add("verdict", strings.Join(words, ", "))
	size := "size unknown"
	if r.Bytes > 0 {
		size = r.Bytes.String()
	}
	t.Add("call", fmt.Sprintf("%s, %s, %d rounds, %d messages", size, r.Protocol, r.Rounds, r.Messages))
	if r.Outside != "" {
		t.Add("range", r.Outside)
	}
	if r.Crowded != "" {
		t.Add("warning", r.Crowded)
	}
	if r.Result == nil {
		t.Add("simulated time", "none: "+r.Deadlock.String())
		return t.Write(w)
	}
	t.Add("simulated time", r.Time.String())
	if r.Bytes > 0 {
		t.Add("bandwidth", bandwidths(r))
	}
	return t.Write(w)
}

// performed lists the collectives that the library performs for the program.
func performed(w io.Writer, r *plans.Result) error {
	t := Table{Head: []string{"collective nodes", ">ranks", ">bytes", ">calls", "the library's fastest", ">time of each"}}
	for _, p := range r.Performed {
		t.Add(p.Collective, strconv.Itoa(len(p.Ranks)), strconv.FormatInt(int64(p.Bytes), 10), strconv.Itoa(p.Calls),
			p.Algorithm, p.Time.String())
	}
	return below(w, &t, len(r.Performed))
}

// planPath prints where the time of the critical path went.
func planPath(w io.Writer, r *plans.Result) error {
	if r.Result == nil {
		return nil
	}
	path := Table{Head: []string{"critical path", ">time", ">share"}}
	for _, s := range r.Path {
		path.Add(s.What, s.Time.String(), timeShare(s.Time, r.Until))
	}
	steps := Table{Head: []string{"longest steps on it", ">time", ">share"}}
	for _, s := range r.Steps {
		steps.Add(s.Where, s.Time.String(), timeShare(s.Time, r.Until))
	}
	return errors.Join(below(w, &path, len(r.Path)), below(w, &steps, len(r.Steps)))
}

func planLinks(w io.Writer, r *plans.Result) error {
	if r.Result == nil {
		return nil
	}
	t := Table{Head: []string{"busiest links", ">busy", ">share"}}
	for _, l := range r.Links {
		t.Add(l.Name, l.Busy.String(), timeShare(l.Busy, r.Time))
	}
	return below(w, &t, len(r.Links))
}

// below prints an empty line and a table, if the table has rows.
func below(w io.Writer, t *Table, rows int) error {
	if rows == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return t.Write(w)
}

// costs prints the times of the parts of a step, and marks estimates.
func costs(w io.Writer, r *plans.Result) error {
	if r.Result == nil {
		return nil
	}
	m := &r.Model
	t := Table{Head: []string{"costs", ">value", "from"}}
	add := func(name, what, value string) {
		from := "the machine"
		if slices.Contains(m.Guessed, name) {
			from = "a guess"
		}
		t.Add(what, value, from)
	}
	add("launch", "launch", m.Launch.String())
	add("issue", "start of a step", m.Issue.String())
	add("slice", "start of a slice", m.Slice.String())
	add("flag", "flag of another block", m.Flag.String())
	if r.Network {
		add("fence", "of it the fence, for channels over a network", m.Fence.String())
	}
	add("latency", "latency of a message", m.Latency.String())
	add("copy", "a block copies", m.Copy.String())
	add("reduce", "a block adds", m.Reduce.String())
	return below(w, &t, 1)
}

func placeWord(inPlace bool) string {
	if inPlace {
		return "in place"
	}
	return "out of place"
}

func bandwidths(r *plans.Result) string {
	text := fmt.Sprintf("algbw %.2f GB/s", r.AlgBW)
	if r.BusBW > 0 {
		text += fmt.Sprintf(", busbw %.2f GB/s", r.BusBW)
	}
	return text
}

func timeShare(part, of unit.Time) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(of, 1)), 'f', 1, 64) + " %"
}

// PlanSweep prints the times of a program for several sizes of call.
func PlanSweep(w io.Writer, rows []*plans.Result) error {
	t := Table{Head: []string{">bytes", ">time", ">algbw GB/s", ">busbw GB/s", ">rounds", ">messages", "note"}}
	for _, r := range rows {
		cells := []string{strconv.FormatInt(int64(r.Bytes), 10), "-", "-", "-", strconv.Itoa(r.Rounds), strconv.Itoa(r.Messages)}
		if r.Result != nil {
			cells[1], cells[2] = r.Time.String(), strconv.FormatFloat(r.AlgBW, 'f', 2, 64)
			if r.BusBW > 0 {
				cells[3] = strconv.FormatFloat(r.BusBW, 'f', 2, 64)
			}
		}
		if note := r.Note(); note != "" {
			cells = append(cells, note)
		}
		t.Add(cells...)
	}
	return t.Write(w)
}

// PlanCSV prints the same as comma-separated values.
func PlanCSV(w io.Writer, rows []*plans.Result) error {
	c := csv.NewWriter(w)
	c.Write([]string{"file", "collective", "ranks", "in_place", "bytes", "time_ps", "algbw_gbs", "busbw_gbs", "rounds", "messages"})
	for _, r := range rows {
		time, alg, bus := "", "", ""
		if r.Result != nil {
			time = strconv.FormatInt(int64(r.Time), 10)
			alg, bus = strconv.FormatFloat(r.AlgBW, 'g', -1, 64), strconv.FormatFloat(r.BusBW, 'g', -1, 64)
		}
		c.Write([]string{r.File, r.Collective, strconv.Itoa(r.World), strconv.FormatBool(r.InPlace), strconv.FormatInt(int64(r.Bytes), 10),
			time, alg, bus, strconv.Itoa(r.Rounds), strconv.Itoa(r.Messages)})
	}
	c.Flush()
	return c.Error()
}
