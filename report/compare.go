package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"kernbench/lab/compare"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Comparison prints runs of one spec as a table: with different algorithms, or with different
// rings, whose common settings come first. There is a table for each number of elements.
func Comparison(w io.Writer, rows []compare.Row) error {
	for from, to := 0, 0; from < len(rows); from = to {
		for to = from; to < len(rows) && rows[to].Elems == rows[from].Elems; {
			to++
		}
		if from > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := comparison(w, rows[from:to]); err != nil {
			return err
		}
	}
	return nil
}

// comparison prints runs with one number of elements.
func comparison(w io.Writer, rows []compare.Row) error {
	algorithms := len(rows) > 0 && rows[0].Algorithm != ""
	var b bytes.Buffer
	for _, row := range rows {
		if row.Result != nil && row.Error == "" {
			r := *row.Result
			if algorithms {
				r.Algorithm = ""
			}
			subject(&b, &r)
			b.WriteByte('\n')
			break
		}
	}
	head, names := []string{"buffer_kind", "backpressure"}, func(row *compare.Row) []string {
		return []string{row.BufferKind, row.Backpressure}
	}
	if algorithms {
		head, names = []string{"algorithm"}, func(row *compare.Row) []string { return []string{row.Algorithm} }
	}
	head = append(head, ">simulated time", ">algbw GB/s", ">busbw GB/s")
	if algorithms {
		head = append(head, ">most bytes of a rank", ">× the fastest")
	}
	t := Table{Head: append(head, "result")}
	best := fastest(rows)
	for i := range rows {
		row := &rows[i]
		r, cells := row.Result, names(row)
		if p := row.Program; p != nil && row.Error == "" {
			times := ""
			if best > 0 && p.OK {
				times = fmt.Sprintf("%.2f", float64(p.Time)/float64(best))
			}
			t.Add(append(cells, p.Time.String(), significant(p.AlgBW), significant(p.BusBW), "", times, p.Verdict)...)
			continue
		}
		if row.Error != "" || r == nil {
			first, _, _ := strings.Cut(row.Error, "\n")
			for len(cells) < len(t.Head)-1 {
				cells = append(cells, "")
			}
			t.Add(append(cells, first)...)
			continue
		}
		cells = append(cells, r.SimulatedTime.String(), significant(r.AlgBW), significant(r.BusBW))
		if algorithms {
			times := ""
			if best > 0 && r.OK() {
				times = fmt.Sprintf("%.2f", float64(r.SimulatedTime)/float64(best))
			}
			cells = append(cells, size(mostMoved(r)), times)
		}
		t.Add(append(cells, outcome(r))...)
	}
	if err := t.Write(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// fastest returns the shortest time of the runs that are not wrong.
func fastest(rows []compare.Row) unit.Time {
	best := unit.Time(0)
	for _, row := range rows {
		if r := row.Result; row.Error == "" && r != nil && r.OK() && (best == 0 || r.SimulatedTime < best) {
			best = r.SimulatedTime
		}
		if p := row.Program; p != nil && row.Error == "" && p.OK && (best == 0 || p.Time < best) {
			best = p.Time
		}
	}
	return best
}

// mostMoved returns the most bytes that a rank sent, read and wrote.
func mostMoved(r *run.Result) int64 {
	most := int64(0)
	for i := range r.Traffic {
		most = max(most, r.Traffic[i].Remote())
	}
	return most
}

// outcome returns a result's verdict in one word.
func outcome(r *run.Result) string {
	switch {
	case !r.RanksChecked && r.OK():
		return "not checked"
	case r.OK():
		return "OK"
	}
	return fmt.Sprintf("FAIL (%d of %d ranks)", r.RanksFailed, r.WorldSize)
}
