package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Explain returns a printer of where the time of a run went: tables of at most top rows.
func Explain(top int) func(io.Writer, *explain.Report) error {
	return func(w io.Writer, r *explain.Report) error {
		b := bufio.NewWriter(w)
		explained(b, r, top)
		return b.Flush()
	}
}

func explained(b *bufio.Writer, r *explain.Report, top int) {
	what := r.Bench
	if r.Algorithm != "" {
		what = r.Algorithm
	}
	field(b, "explained", "%s on %d ranks, %v per rank, %s", what, r.WorldSize, r.Bytes, r.Machine)
	field(b, "simulated time", "%v", r.SimulatedTime)
	if r.Launch > 0 {
		field(b, "launch", "%v before it, in software", r.Launch)
	}
	if r.Rank != nil {
		field(b, "end", "of rank %d", *r.Rank)
	}
	if r.Explained+r.LeftOver != r.Time() {
		field(b, "between", "%v and %v", r.From, r.Until)
	}
	field(b, "critical path", "%v, %d ps left over", r.Explained, int64(r.LeftOver))
	fmt.Fprintln(b)
	shareTable(b, "reason", r.Reasons, top, false)
	shareTable(b, "line", r.Lines, top, true)
	shareTable(b, "resource class", r.Classes, top, false)
	if len(r.Story) > 0 {
		fmt.Fprintf(b, "waits on the path, the longest of each kind:\n")
	}
	for i, s := range r.Story {
		if i == top {
			fmt.Fprintf(b, "  and %d more kinds\n", len(r.Story)-top)
			break
		}
		fmt.Fprintf(b, "  %v: %s", s.Since, s.Text)
		if s.Count > 1 {
			fmt.Fprintf(b, " (%d such waits, %v)", s.Count, s.Total)
		}
		fmt.Fprintln(b)
	}
	if len(r.Story) > 0 {
		fmt.Fprintln(b)
	}
	if g := r.Gap; g != nil {
		bound := "bound"
		if g.Binding != "" {
			bound += " (" + string(g.Binding) + ")"
		}
		fmt.Fprintf(b, "%s %v, %s %% of the time", bound, g.Bound, oneDecimal(g.Percent))
		sum := g.Bound
		for _, t := range g.Terms {
			fmt.Fprintf(b, "\n  + %-14s %v", t.Reason, t.Time)
			sum += t.Time
		}
		fmt.Fprintf(b, "\n  = %v\n", sum)
	}
	if s := r.Slots; s != nil {
		fmt.Fprintf(b,
			"rings: %d slots × messages of %v / a round trip of %v = %.4g GB/s, and the path carries %.4g GB/s: %d slots fill it\n",
			s.Have, unit.Bytes(s.Message), s.RoundTrip, float64(s.Carry())/1e9, float64(s.Path)/1e9, s.Enough)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
	changes(b, r.Changes, top)
}

// changes prints the changes that were tried, the best first.
func changes(b *bufio.Writer, all []explain.Change, top int) {
	if len(all) == 0 {
		return
	}
	t := Table{Head: []string{"what if", ">time", ">saved", ">%", ">blame", "largest reason then", "flags"}}
	anomalies, failed := 0, 0
	for i, c := range all {
		switch {
		case c.Error != "":
			failed++
			continue
		case c.Anomaly:
			anomalies++
		}
		if i >= max(top, 1) {
			continue
		}
		blame := ""
		if c.Bounded {
			blame = c.Blame.String()
		}
		if c.Anomaly {
			blame += " *"
		}
		t.Add(c.Name, (c.Time + c.Launch).String(), c.Saved.String(), oneDecimal(c.Percent), blame, c.Next, c.Flags)
	}
	fmt.Fprintln(b)
	t.Write(b) // to a buffer, whose Flush returns errors
	if tried := len(all) - failed; tried > top {
		fmt.Fprintf(b, "%d more changes save less\n", tried-top)
	}
	if anomalies > 0 {
		fmt.Fprintf(b, "* %d of %d changes save more than their blame: messages or kernels meet in another order\n",
			anomalies, len(all)-failed)
	}
	for _, c := range all {
		if c.Error != "" {
			fmt.Fprintf(b, "not tried: %s: %s\n", c.Name, strings.TrimPrefix(c.Error, "--set: "))
		}
	}
}

func oneDecimal(f float64) string { return fmt.Sprintf("%.1f", f) }

// shareTable prints the largest shares, and the rest in one row.
func shareTable(b *bufio.Writer, head string, all []explain.Share, top int, ranks bool) {
	if len(all) == 0 {
		return
	}
	t := Table{Head: []string{head, ">time", ">%"}}
	if ranks {
		t.Columns(">ranks")
	}
	var rest unit.Time
	var percent float64
	for i, s := range all {
		if i >= top {
			rest += s.Time
			percent += s.Percent
			continue
		}
		row := []string{s.Name, s.Time.String(), oneDecimal(s.Percent)}
		if ranks {
			row = append(row, fmt.Sprint(s.Ranks))
		}
		t.Add(row...)
	}
	if len(all) > top {
		t.Add(fmt.Sprintf("%d others", len(all)-top), rest.String(), oneDecimal(percent))
	}
	t.Write(b) // to a buffer, whose Flush returns errors
	fmt.Fprintln(b)
}

// Explained is a run with its explanation, for JSON: the fields of the result, and one more.
type Explained struct {
	Result      *run.Result
	Explanation *explain.Report
}

// MarshalJSON writes the result as JSON does, and the explanation.
func (e Explained) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		result
		Explanation *explain.Report `json:"explanation"`
	}{withVerdict(e.Result), e.Explanation})
}

// Compared returns a printer of two runs side by side: tables of at most top rows.
func Compared(top int) func(io.Writer, *explain.Comparison) error {
	return func(w io.Writer, c *explain.Comparison) error {
		b := bufio.NewWriter(w)
		side := func(name string, s *explain.Side) {
			field(b, name, "%v: %s on %d ranks (%s)", s.SimulatedTime+s.Launch, s.Algorithm, s.WorldSize, s.Name)
		}
		side("before", &c.Before)
		side("after", &c.After)
		field(b, "change", "%s, %+.1f %%", signed(c.Change), c.Percent)
		if c.Tolerance != nil {
			verdict := "within"
			if c.Slower {
				verdict = "slower than"
			}
			field(b, "tolerance", "%s %v %%", verdict, *c.Tolerance)
		}
		fmt.Fprintln(b)
		deltaTable(b, "reason", c.Reasons, top)
		deltaTable(b, "line", c.Lines, top)
		deltaTable(b, "step", c.Steps, top)
		deltaTable(b, "resource class", c.Classes, top)
		deltaTable(b, "resource", c.Resources, top)
		for _, n := range c.Notes {
			fmt.Fprintf(b, "note: %s\n", n)
		}
		return b.Flush()
	}
}

func signed(ps int64) string {
	if ps < 0 {
		return unit.Time(ps).String()
	}
	return "+" + unit.Time(ps).String()
}

// deltaTable prints the largest changes, and the rest in one row. It leaves out what has not
// changed.
func deltaTable(b *bufio.Writer, head string, all []explain.Delta, top int) {
	t := Table{Head: []string{head, ">before", ">after", ">change"}}
	var rest explain.Delta
	others := 0
	for i, d := range all {
		switch {
		case d.Change == 0:
		case i < top:
			t.Add(d.Name, d.Before.String(), d.After.String(), signed(d.Change))
		default:
			others++
			rest.Before += d.Before
			rest.After += d.After
			rest.Change += d.Change
		}
	}
	if others > 0 {
		t.Add(fmt.Sprintf("%d others", others), rest.Before.String(), rest.After.String(), signed(rest.Change))
	}
	if len(t.Rows) > 0 {
		t.Write(b) // to a buffer, whose Flush returns errors
		fmt.Fprintln(b)
	}
}
