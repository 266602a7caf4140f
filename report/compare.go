package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"kernbench/lab"
)

// Comparison prints the runs of one spec with different rings as a table, below what they
// have in common.
func Comparison(w io.Writer, rows []lab.CompareRow) error {
	var b bytes.Buffer
	for _, row := range rows {
		if row.Result != nil && row.Error == "" {
			subject(&b, row.Result)
			b.WriteByte('\n')
			break
		}
	}
	t := Table{Head: []string{"buffer_kind", "backpressure", ">simulated time", ">algbw GB/s", ">busbw GB/s", "result"}}
	for _, row := range rows {
		r := row.Result
		switch {
		case row.Error != "" || r == nil:
			first, _, _ := strings.Cut(row.Error, "\n")
			t.Add(row.BufferKind, row.Backpressure, "", "", "", first)
		default:
			t.Add(row.BufferKind, row.Backpressure, r.SimulatedTime.String(), significant(r.AlgBW), significant(r.BusBW), outcome(r))
		}
	}
	if err := t.Write(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// outcome is a result's verdicts in a word.
func outcome(r *lab.Result) string {
	switch {
	case !r.RanksChecked && r.OK():
		return "not checked"
	case r.OK():
		return "OK"
	}
	return fmt.Sprintf("FAIL (%d of %d ranks)", r.RanksFailed, r.WorldSize)
}
