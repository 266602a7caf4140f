package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kernbench/lab/perf"
)

// NumericsTable prints rounding errors, row by row.
type NumericsTable struct {
	W io.Writer

	wide  []int // the columns after those of every row
	noted int   // notes that are printed
}

// numericsForm is the columns that every row has.
const numericsForm = "%12s  %12s  %5s  %5s  %4s  %7s  %8s  %8s  %8s  %6s  %8s  %8s  %6s  %6s  %4s  %8s  %10s"

// Begin prints the lines above the rows.
func (t *NumericsTable) Begin(n *perf.Rounding) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight("# "+fmt.Sprintf(format, args...), " ") + "\n")
	}
	line("Rounding in %s, against exact sums: inputs %s, seed %d", n.Collective, strings.Join(n.Inputs, ", "), n.Seed)
	line(" %s", participants(n.Ranks, n.Machine, n.Executor, n.Fidelity))
	for _, note := range n.Notes {
		line("note: %s", note)
	}
	t.noted = len(n.Notes)
	line("")
	head := []string{"algorithm"}
	t.wide = []int{widest("algorithm", n.Algorithms)}
	if len(n.Inputs) > 1 {
		head, t.wide = append(head, "inputs"), append(t.wide, widest("inputs", n.Inputs))
	}
	for _, v := range n.Varied {
		head, t.wide = append(head, v.Key), append(t.wide, widest(v.Key, v.Values))
	}
	cells := func(behind string, texts ...any) {
		b.WriteString("#" + strings.TrimRight(fmt.Sprintf(numericsForm, texts...)[1:]+behind, " ") + "\n")
	}
	cells(t.cells(head), "size", "count", "type", "redop", "root", "height", "max ulp", "mean ulp", "bound", "within",
		"overflow", "stalled", "ranks", "chunks", "bits", "time", "moved")
	cells("", "(B)", "(elements)", "", "", "", "", "", "", "(ulp)", "", "", "", "", "", "", "(us)", "(B)")
	_, err := io.WriteString(t.W, b.String())
	return err
}

func widest(name string, cells []string) int {
	wide := utf8.RuneCountInString(name)
	for _, c := range cells {
		wide = max(wide, utf8.RuneCountInString(c))
	}
	return wide
}

func (t *NumericsTable) cells(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		b.WriteString("  " + text + strings.Repeat(" ", max(0, t.wide[i]-utf8.RuneCountInString(text))))
	}
	return b.String()
}

// Row prints a row, and below it where a sum overflowed first. If more than one in a hundred
// additions stall, it also prints where one did.
func (t *NumericsTable) Row(n *perf.Rounding, r *perf.RoundingRow) error {
	behind := []string{r.Algorithm}
	if len(n.Inputs) > 1 {
		behind = append(behind, r.Inputs)
	}
	for _, set := range r.Settings {
		behind = append(behind, set.Value)
	}
	cells := []any{strconv.FormatInt(int64(r.Size), 10), strconv.Itoa(r.Count), r.Type, r.RedOp, strconv.Itoa(r.Root)}
	var below string
	if f := r.RoundingFound; f == nil {
		for range 12 {
			cells = append(cells, "N/A")
		}
	} else {
		within := "yes"
		if !f.Within() {
			within = "NO"
		}
		time := "-"
		if n.Timed {
			time = fitting(f.Time.Ns()/1e3, 8)
		}
		most, mean, bound := ulps(f.MaxULP), ulps(f.MeanULP), ulps(f.BoundULP)
		if f.Overflow == f.Elements { // no element has an error
			most, mean, bound = "-", "-", "-"
		}
		cells = append(cells, heights(f), most, mean, bound, within,
			strconv.FormatInt(f.Overflow, 10), stalled(f), sameOrNot(f.RanksAgree), sameOrNot(f.ChunkingAgrees), f.Bits,
			time, strconv.FormatInt(f.Moved, 10))
		if f.FirstOverflow != nil {
			below += fmt.Sprintf("#   overflows first: element %d of %v\n", f.FirstOverflow.Element, f.FirstOverflow)
		}
		if f.Stalled > f.Additions/100 { // the place of a few hardly matters
			below += fmt.Sprintf("#   stalls first: element %d of %v\n", f.FirstStalled.Element, f.FirstStalled)
		}
	}
	text := fmt.Sprintf(numericsForm, cells...) + t.cells(behind)
	if note, _, _ := strings.Cut(r.Note, "\n"); note != "" {
		text += "  # " + note
	}
	_, err := io.WriteString(t.W, strings.TrimRight(text, " ")+"\n"+below)
	return err
}

// heights prints the heights of all trees: one number, or a range.
func heights(f *perf.RoundingFound) string {
	if f.MinHeight == f.MaxHeight {
		return strconv.Itoa(int(f.MaxHeight))
	}
	return fmt.Sprintf("%d-%d", f.MinHeight, f.MaxHeight)
}

// ulps prints a number of units in the last place.
func ulps(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.01:
		return strconv.FormatFloat(v, 'e', 1, 64)
	case v >= 1e5 || math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return fitting(v, 8)
}

// stalled prints the share of additions that changed nothing.
func stalled(f *perf.RoundingFound) string {
	if f.Stalled == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f%%", 100*float64(f.Stalled)/float64(f.Additions))
}

func sameOrNot(same *bool) string {
	switch {
	case same == nil:
		return "-"
	case *same:
		return "same"
	}
	return "differ"
}

// End prints the lines below the rows.
func (t *NumericsTable) End(n *perf.Rounding) error {
	var b strings.Builder
	laterNotes(&b, n.Notes, t.noted)
	beyond, found, narrow, chunks := int64(0), false, false, []string{}
	for i := range n.Rows {
		r := &n.Rows[i]
		narrow = narrow || r.Type == "bf16" || r.Type == "f16"
		if r.RoundingFound == nil {
			continue
		}
		found, beyond = true, beyond+r.Beyond
		for _, c := range r.Chunkings[1:] {
			if text := chunking(&c); c.Error == "" && !slices.Contains(chunks, text) {
				chunks = append(chunks, text)
			}
		}
	}
	switch {
	case beyond > 0:
		fmt.Fprintf(&b, "# Results beyond their bound : %d FAILED\n", beyond)
	case found:
		fmt.Fprintln(&b, "# Results beyond their bound : 0 OK")
	default:
		fmt.Fprintln(&b, "# Results beyond their bound : N/A")
	}
	if len(chunks) > 0 {
		fmt.Fprintf(&b, "# chunks: compared, on common elements, with: %s\n", strings.Join(chunks, "; "))
	}
	varied := false
	for _, v := range n.Varied {
		varied = varied || v.Key == "accumulate" || strings.HasSuffix(v.Key, ".accumulate")
	}
	if narrow && !varied {
		fmt.Fprintln(&b, "# to compare with partial sums in f32: --vary accumulate=same,f32")
	}
	if left := n.Planned - len(n.Rows); left > 0 {
		fmt.Fprintf(&b, "# interrupted: %s not examined\n", plural(int64(left), "row", "rows"))
	}
	_, err := io.WriteString(t.W, b.String())
	return err
}

// chunking describes how a row cuts its sums, without the numbers, which differ from row to row.
func chunking(c *perf.Chunking) string {
	switch c.Name {
	case "count/2":
		return "half the elements"
	case "count-1":
		return "one element less"
	case "slots":
		return "twice the slots of half the size"
	}
	return "another " + c.Name
}
