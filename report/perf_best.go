package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"kernbench/lab/perf"
	"kernbench/lab/sweep"
)

// bestLines prints a line for each call that several rows measured: the fastest row, and its lead.
// Properties that are the same in all calls are left out.
func bestLines(b *bytes.Buffer, s *perf.Sweep) error {
	if len(s.Best) == 0 {
		return nil
	}
	columns := []struct {
		head string
		of   func(*perf.Best) string
	}{
		{">ranks", func(r *perf.Best) string { return fmt.Sprint(r.Ranks) }},
		{"type", func(r *perf.Best) string { return ncclType(r.Type) }},
		{"redop", func(r *perf.Best) string { return r.RedOp }},
		{">root", func(r *perf.Best) string { return fmt.Sprint(r.Root) }},
	}
	var shown []func(*perf.Best) string
	t := Table{Head: []string{"best", ">size"}}
	for _, c := range columns {
		if slices.ContainsFunc(s.Best, func(r perf.Best) bool { return c.of(&r) != c.of(&s.Best[0]) }) {
			t.Columns(c.head)
			shown = append(shown, c.of)
		}
	}
	t.Columns("algorithm", ">time", ">busbw GB/s", ">next takes", "next")
	for i := range s.Best {
		r := &s.Best[i]
		cells := []string{"best", r.Size.String()}
		for _, of := range shown {
			cells = append(cells, of(r))
		}
		times := ""
		if r.Next != "" {
			times = fmt.Sprintf("%.2f ×", r.NextTimes)
		}
		t.Add(append(cells, sweep.Named(r.Algorithm, r.Settings), r.Time.String(), significant(r.BusBW), times, r.Next)...)
	}
	var table bytes.Buffer
	if err := t.Write(&table); err != nil {
		return err
	}
	lines := strings.SplitAfter(table.String(), "\n")
	lines[0] = strings.Replace(lines[0], "best", "    ", 1)
	for _, line := range lines {
		if line != "" {
			b.WriteString("# " + line)
		}
	}
	return nil
}
