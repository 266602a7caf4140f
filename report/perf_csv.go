package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// PerfCSV prints a sweep with a line for each row. The settings come first. A field is empty if it
// does not apply: no clock, not checked, or no such placement.
type PerfCSV struct {
	W io.Writer
}

// Begin prints the line of headings. It is always the same, except for the varied keys and for
// bounds, if requested.
func (c *PerfCSV) Begin(s *perf.Sweep) error {
	head := []string{"collective", "ranks", "algorithm"}
	for _, v := range s.Varied {
		head = append(head, v.Key)
	}
	head = append(head, "type", "redop", "root", "size_bytes", "count")
	for _, place := range []string{"out_of_place", "in_place"} {
		head = append(head, place+"_time_us", place+"_algbw_gbs", place+"_busbw_gbs", place+"_wrong")
	}
	head = append(head, "launch_us")
	if s.Bound {
		head = append(head, boundNames...)
	}
	return c.line(append(head, "note"))
}

// Row prints a row.
func (c *PerfCSV) Row(s *perf.Sweep, r *perf.Row) error {
	cells := []string{s.Collective, strconv.Itoa(r.Ranks), r.Algorithm}
	for _, set := range r.Settings {
		cells = append(cells, set.Value)
	}
	cells = append(cells, r.Type, r.RedOp, strconv.Itoa(r.Root), strconv.FormatInt(int64(r.Size), 10), strconv.Itoa(r.Count))
	for _, p := range []*sweep.Placement{r.OutOfPlace, r.InPlace} {
		four := make([]string, 4)
		if p != nil && p.Error == "" && s.Timed {
			for i, v := range []float64{float64(p.Time) / 1e6, p.AlgBW, p.BusBW} {
				four[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		if p != nil && p.Wrong != nil {
			four[3] = strconv.FormatInt(*p.Wrong, 10)
		}
		cells = append(cells, four...)
	}
	launch := ""
	if s.Timed {
		launch = strconv.FormatFloat(float64(r.Launch)/1e6, 'g', -1, 64)
	}
	cells = append(cells, launch)
	if s.Bound {
		cells = append(cells, boundFields(r.Bound)...)
	}
	return c.line(append(cells, remark(r)))
}

// digits prints all digits of a number, or nothing.
func digits(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// End prints the facts about the whole sweep, as comments. It prints no sums, which a reader can
// compute.
func (c *PerfCSV) End(s *perf.Sweep) error { return csvFoot(c.W, s.Notes, s.MadeBy) }

// csvFoot prints notes and the origin of the figures as comments of a CSV file, which begin with #.
func csvFoot(w io.Writer, notes []string, p run.MadeBy) error {
	var b bytes.Buffer
	laterNotes(&b, notes, 0)
	for _, l := range p.Lines() {
		b.WriteString("# " + l + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (c *PerfCSV) line(cells []string) error {
	w := csv.NewWriter(c.W)
	if err := w.Write(cells); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// PerfJSON prints a sweep as one object, when it has ended.
type PerfJSON struct {
	W io.Writer
}

// Begin prints nothing yet.
func (PerfJSON) Begin(*perf.Sweep) error { return nil }

// Row prints nothing yet.
func (PerfJSON) Row(*perf.Sweep, *perf.Row) error { return nil }

// End prints all.
func (j PerfJSON) End(s *perf.Sweep) error { return JSON(j.W, s) }
