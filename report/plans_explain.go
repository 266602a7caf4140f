package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"kernbench/lab/plans"
)

// ExplainedPlan prints what Plan prints, and also operations, waits, ranks, and the gain of
// changes. Each table has at most top rows.
func ExplainedPlan(top int) func(w io.Writer, r *plans.Result) error {
	return func(w io.Writer, r *plans.Result) error {
		var b bytes.Buffer
		err := errors.Join(planHead(&b, r), performed(&b, r), costs(&b, r), planPath(&b, r), planMore(&b, r, top),
			planLinks(&b, r), planChanges(&b, r, top))
		if err != nil {
			return err
		}
		_, err = w.Write(b.Bytes())
		return err
	}
}

// planMore prints operations and waits on the critical path, and the ranks that end last.
func planMore(w io.Writer, r *plans.Result, top int) error {
	if r.Result == nil {
		return nil
	}
	ops := Table{Head: []string{"operations on it", ">slices", ">time", ">share"}}
	for _, op := range r.Ops {
		ops.Add(op.Name, strconv.Itoa(op.Count), op.Time.String(), timeShare(op.Time, r.Until))
	}
	waits := Table{Head: []string{"longest waits on it", "for", "of", ">time", ">share"}}
	for _, x := range r.Waits {
		waits.Add(x.Where, x.For, x.Of, x.Time.String(), timeShare(x.Time, r.Until))
	}
	at := make([]int, len(r.Ranks))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.Ranks[b], r.Ranks[a]) })
	ranks := Table{Head: []string{"ranks that end last", ">end"}}
	for _, rank := range at[:min(top, len(at))] {
		ranks.Add(strconv.Itoa(rank), r.Ranks[rank].String())
	}
	return errors.Join(below(w, &ops, len(r.Ops)), below(w, &waits, len(r.Waits)), below(w, &ranks, len(at)))
}

// planChanges prints the changes and the time that each saves.
func planChanges(w io.Writer, r *plans.Result, top int) error {
	t := Table{Head: []string{"what if", ">time", ">saved", ">%", "flags"}}
	for _, c := range r.Changes[:min(top, len(r.Changes))] {
		if c.Error != "" {
			t.Add(c.What, "-", "-", "-", c.Error)
			continue
		}
		flags := c.Flags
		if flags == "" {
			flags = "(in the file)"
		}
		t.Add(c.What, c.Time.String(), c.Saved.String(),
			strconv.FormatFloat(100*float64(c.Saved)/float64(max(r.Time, 1)), 'f', 1, 64), flags)
	}
	if err := below(w, &t, len(r.Changes)); err != nil {
		return err
	}
	if more := len(r.Changes) - top; more > 0 {
		_, err := fmt.Fprintf(w, "%d more changes save less\n", more)
		return err
	}
	return nil
}
