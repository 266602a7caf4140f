package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kernbench/machine"
	"kernbench/machine/draw"
	"kernbench/unit"
)

// Topology draws a machine as text: each of its networks once, then the rates and latencies of its
// links and memories.
func Topology(w io.Writer, d *draw.Drawing) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s, %s in all\n", d.Name, d.Machine, plural(int64(d.PEs), "PE", "PEs"))
	for i := range d.Stages {
		s := &d.Stages[i]
		fmt.Fprintf(&b, "\n%s\n", draw.TitleOf(s))
		for _, line := range draw.Sketch(s) {
			b.WriteString("  " + strings.TrimRight(line, " ") + "\n")
		}
		if s.Switches != nil {
			fmt.Fprintf(&b, "  %s\n", s.Switches.Text())
		}
	}
	links := linksOf(d)
	memories := Table{Head: []string{"memory", ">each", ">number", ">in all", ">GB/s each", ">access"}}
	for _, m := range d.Memories {
		memories.Add(m.Name, size(int64(m.Each)), count(int64(m.Count)), size(int64(m.Each)*int64(m.Count)),
			rateCell(m.Rate), m.Delay.String())
	}
	for _, t := range []*Table{links, &memories} {
		b.WriteByte('\n')
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b, "\n%s, one for each direction\n", plural(int64(d.Links), "link", "links"))
	if s := d.Bisection; s != nil {
		fmt.Fprintf(&b, "bisection: %v each way between %s and the rest, by %s\n", s.Rate,
			plural(int64(s.Ranks), "PE", "PEs"), few(s.Links))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// linksOf prints a line for each kind of link. The known properties have columns of their own.
func linksOf(d *draw.Drawing) *Table {
	t := &Table{Head: []string{"where", "link", ">GB/s", ">delay", ">links"}}
	lines := slices.ContainsFunc(d.Kinds, func(k draw.LinkKind) bool { return k.Line > 0 })
	if lines {
		t.Columns(">line GB/s", ">of line")
	}
	for i := range d.Kinds {
		k := &d.Kinds[i]
		cells := []string{k.Stage, k.Name, ratesOf(k), k.Delay.String(), count(int64(k.Links))}
		if k.Line > 0 {
			cells = append(cells, rateCell(k.Line), shareOf(k.Share()))
		}
		t.Add(cells...)
	}
	return t
}

// ratesOf prints the rate of a link, or of parallel links.
func ratesOf(k *draw.LinkKind) string {
	if k.Parallel > 1 {
		return fmt.Sprintf("%d × %s", k.Parallel, rateCell(k.Rate))
	}
	return rateCell(k.Rate)
}

func rateCell(r unit.Rate) string { return strconv.FormatFloat(r.GBs(), 'f', -1, 64) }

func shareOf(f float64) string { return strconv.FormatFloat(100*f, 'f', 1, 64) + "%" }

// Validity prints for each file whether it describes a machine, and its errors if not.
func Validity(w io.Writer, all []machine.Validity) error {
	var b bytes.Buffer
	for i := range all {
		v := &all[i]
		if v.OK {
			fmt.Fprintf(&b, "%s: ok, %s\n", v.File, v.Machine)
		}
		for _, f := range v.Faults {
			fmt.Fprintln(&b, f.Text)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
