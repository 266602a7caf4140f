package report

import (
	"fmt"
	"io"
	"strconv"

	"kernbench/lab/probe"
)

// Probe prints the measurements of a machine, next to published figures if there are any.
func Probe(w io.Writer, rows []probe.Row) error {
	known := false
	for i := range rows {
		known = known || rows[i].Published > 0
	}
	t := Table{Head: []string{"reading", ">bytes each", ">time", ">GB/s"}}
	if known {
		t.Columns(">published", ">off by")
	}
	t.Columns("placement")
	for i := range rows {
		r := &rows[i]
		cells := []string{r.Case, strconv.FormatInt(r.Bytes, 10), r.Time.String(), significant(r.GBs)}
		switch {
		case r.Published > 0:
			cells = append(cells, strconv.FormatFloat(r.Published, 'f', -1, 64)+"ns", fmt.Sprintf("%+.1f %%", r.Deviation))
		case known:
			cells = append(cells, "", "")
		}
		t.Add(append(cells, r.Placement)...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	for i := range rows {
		if r := &rows[i]; r.Note != "" {
			if _, err := fmt.Fprintf(w, "\nnote: %s: %s\n", r.Case, r.Note); err != nil {
				return err
			}
		}
	}
	return nil
}
