package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"kernbench/lab/perf"
)

// NumericsCSV prints a line for each row.
type NumericsCSV struct {
	W io.Writer
}

// Begin prints the line of headings.
func (c *NumericsCSV) Begin(n *perf.Rounding) error {
	head := []string{"collective", "ranks", "algorithm"}
	for _, v := range n.Varied {
		head = append(head, v.Key)
	}
	return c.line(append(head, "inputs", "type", "redop", "root", "size_bytes", "count",
		"min_height", "height", "max_ulp", "mean_ulp", "bound_ulp", "of_bound", "beyond_bound", "max_condition",
		"overflow", "additions", "stalled", "ranks_agree", "chunking_agrees", "bits", "hash", "time_us", "moved_bytes", "note"))
}

// Row prints a row.
func (c *NumericsCSV) Row(n *perf.Rounding, r *perf.RoundingRow) error {
	cells := []string{n.Collective, strconv.Itoa(r.Ranks), r.Algorithm}
	for _, set := range r.Settings {
		cells = append(cells, set.Value)
	}
	cells = append(cells, r.Inputs, r.Type, r.RedOp, strconv.Itoa(r.Root), strconv.FormatInt(int64(r.Size), 10), strconv.Itoa(r.Count))
	found := make([]string, 17)
	if f := r.RoundingFound; f != nil {
		whole := func(v int64) string { return strconv.FormatInt(v, 10) }
		real := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		truth := func(v *bool) string {
			if v == nil {
				return ""
			}
			return strconv.FormatBool(*v)
		}
		time := ""
		if n.Timed {
			time = real(float64(f.Time) / 1e6)
		}
		found = []string{
			whole(int64(f.MinHeight)), whole(int64(f.MaxHeight)), real(f.MaxULP), real(f.MeanULP), real(f.BoundULP), real(f.OfBound),
			whole(f.Beyond), real(f.Condition), whole(f.Overflow), whole(f.Additions), whole(f.Stalled),
			truth(f.RanksAgree), truth(f.ChunkingAgrees), f.Bits, f.Hash, time, whole(f.Moved),
		}
	}
	note, _, _ := strings.Cut(r.Note, "\n")
	return c.line(append(append(cells, found...), note))
}

// End prints the facts about the whole table, as comments.
func (c *NumericsCSV) End(n *perf.Rounding) error { return csvFoot(c.W, n.Notes, n.MadeBy) }

func (c *NumericsCSV) line(cells []string) error {
	w := csv.NewWriter(c.W)
	if err := w.Write(cells); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// NumericsJSON prints all rows as one object, when they are complete.
type NumericsJSON struct {
	W io.Writer
}

// Begin prints nothing yet.
func (NumericsJSON) Begin(*perf.Rounding) error { return nil }

// Row prints nothing yet.
func (NumericsJSON) Row(*perf.Rounding, *perf.RoundingRow) error { return nil }

// End prints all.
func (j NumericsJSON) End(n *perf.Rounding) error { return JSON(j.W, n) }
