package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kernbench/lab/calibrate"
	"kernbench/unit"
)

// Score prints measured tables next to the times of a machine, and how far off those are.
func Score(w io.Writer, s *calibrate.Score) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %s, fidelity %s, as it is\n", s.Topology, s.Machine, s.Fidelity)
	for i := range s.Tables {
		if err := tableScore(&b, &s.Tables[i]); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func tableScore(b *bytes.Buffer, t *calibrate.TableScore) error {
	fmt.Fprintf(b, "\n%s of %d ranks, %s, %s, as measured in %s\n", t.Collective, t.Ranks, t.Type, resultsPlace(t.InPlace), t.File)
	for _, r := range t.Header {
		if r.Key == "hardware" || r.Key == "source" {
			fmt.Fprintf(b, "%s: %s\n", r.Key, r.Value)
		}
	}
	b.WriteByte('\n')
	rows := scoreRows(t)
	if err := rows.Write(b); err != nil {
		return err
	}
	b.WriteByte('\n')
	sums := scoreBands(t)
	if err := sums.Write(b); err != nil {
		return err
	}
	if len(t.Switches) > 0 {
		b.WriteByte('\n')
		if err := switchPoints(t).Write(b); err != nil {
			return err
		}
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
	return nil
}

// switchPoints prints the size from which each program is the fastest, next to that of NCCL's
// model.
func switchPoints(t *calibrate.TableScore) *Table {
	all := &Table{Head: []string{"program", ">fastest from", ">NCCL's model from", ">ratio", "and at smaller sizes"}}
	for i := range t.Switches {
		p := &t.Switches[i]
		ours, theirs, ratio := "never", "never", ""
		if p.From != nil {
			ours = size(int64(*p.From))
		}
		if p.NCCL != nil {
			theirs = size(int64(*p.NCCL))
		}
		if p.From != nil && p.NCCL != nil {
			ratio = fmt.Sprintf("%.3g", float64(*p.From)/float64(*p.NCCL))
		}
		var before []string
		for _, r := range p.Before {
			span := size(int64(r.From))
			if r.To > r.From {
				span += " to " + size(int64(r.To))
			}
			before = append(before, span)
		}
		all.Add(p.Algorithm+" "+p.Protocol, ours, theirs, ratio, strings.Join(before, ", "))
	}
	return all
}

// scoreRows prints measured times next to those of the machine and of NCCL's model.
func scoreRows(t *calibrate.TableScore) *Table {
	rows := &Table{Head: []string{">size", ">measured µs", ">simulated µs", ">error", "algorithm", "protocol",
		">NCCL's model µs", ">error", "algorithm", "protocol", ""}}
	for i := range t.Rows {
		r := &t.Rows[i]
		simulated, note := inMicros(r.Simulated), ""
		if r.Extrapolated {
			simulated = "~" + simulated
		}
		if r.Outlier {
			note = "outlier of the table"
		}
		cells := []string{size(int64(r.Size)), inMicros(r.Measured), simulated, percent(r.Error), r.Algorithm, r.Protocol}
		if n := r.NCCL; n != nil {
			cells = append(cells, inMicros(n.Time), percent(n.Error), n.Algorithm, n.Protocol, note)
		} else {
			cells = append(cells, "", "", "", "", note)
		}
		rows.Add(cells...)
	}
	return rows
}

// scoreBands prints the errors of all sizes, and of each band.
func scoreBands(t *calibrate.TableScore) *Table {
	sums := &Table{Head: []string{"error over", ">sizes", ">median", ">worst", "at", ">NCCL's median", ">worst", "at"}}
	for i := range t.Bands {
		band := &t.Bands[i]
		if band.Machine.Sizes == 0 {
			continue
		}
		cells := append([]string{bandName(band), count(int64(band.Machine.Sizes))}, deviation(&band.Machine)...)
		if band.NCCL != nil {
			cells = append(cells, deviation(band.NCCL)...)
		} else {
			cells = append(cells, "", "", "")
		}
		sums.Add(cells...)
	}
	return sums
}

func deviation(d *calibrate.Deviation) []string {
	return []string{fmt.Sprintf("%.1f %%", d.Median*100), percent(d.Worst), size(int64(d.At))}
}

func bandName(b *calibrate.ScoreBand) string {
	switch {
	case b.From == 0 && b.To == 0:
		return "all sizes"
	case b.From == 0:
		return "below " + size(int64(b.To))
	case b.To == 0:
		return "above " + size(int64(b.From-1))
	}
	return size(int64(b.From)) + " to " + size(int64(b.To-1))
}

// ScoreCSV prints the sizes of a score, a line for each, with all digits.
func ScoreCSV(w io.Writer, s *calibrate.Score) error {
	out := csv.NewWriter(w)
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	micros := func(t unit.Time) string { return number(t.Ns() / 1e3) }
	out.Write([]string{
		"topology", "file", "collective", "ranks", "type", "size_bytes", "measured_us", "simulated_us",
		"extrapolated", "error", "algorithm", "protocol", "outlier",
		"nccl_us", "nccl_error", "nccl_algorithm", "nccl_protocol",
	})
	for i := range s.Tables {
		t := &s.Tables[i]
		for k := range t.Rows {
			r := &t.Rows[k]
			record := []string{
				s.Topology, t.File, t.Collective, strconv.Itoa(t.Ranks), t.Type, strconv.FormatInt(int64(r.Size), 10),
				micros(r.Measured), micros(r.Simulated),
				strconv.FormatBool(r.Extrapolated), number(r.Error), r.Algorithm, r.Protocol, strconv.FormatBool(r.Outlier),
			}
			if n := r.NCCL; n != nil {
				record = append(record, micros(n.Time), number(n.Error), n.Algorithm, n.Protocol)
			} else {
				record = append(record, "", "", "", "")
			}
			out.Write(record)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return csvFoot(w, nil, s.MadeBy)
}
