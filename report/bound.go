package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"kernbench/lab/limits"
)

// Bound prints the limits of a collective, with a row for each size. Below it prints the cause of
// each limit at the largest size.
func Bound(w io.Writer, l *limits.Limits) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s of %d ranks", l.Collective, l.Ranks)
	if l.Root >= 0 {
		fmt.Fprintf(&b, " from or to rank %d", l.Root)
	}
	fmt.Fprintf(&b, " on %s, fidelity %s, %s\n", l.Machine, l.Fidelity, l.Type)
	if l.OfAlgorithm() {
		fmt.Fprintf(&b, "as configured for %s\n", l.Algorithm)
	}
	if l.Reduces || l.Copies {
		fmt.Fprintf(&b, "switches reduce: %s; switches copy: %s\n", yesNo(l.Reduces), yesNo(l.Copies))
	}
	if l.Launch > 0 {
		fmt.Fprintf(&b, "starting the collective takes %v of software time, not included below\n", l.Launch)
	}
	if len(l.Rows) == 0 {
		_, err := w.Write(b.Bytes())
		return err
	}
	var kinds []limits.Kind
	for _, k := range limits.Kinds {
		for i := range l.Rows {
			if limitOf(&l.Rows[i], k) != nil {
				kinds = append(kinds, k)
				break
			}
		}
	}
	t := Table{Head: []string{">size", ">elements"}} // > aligns a column to the right
	for _, k := range kinds {
		t.Columns(">" + string(k))
	}
	t.Columns(">hardware")
	if l.OfAlgorithm() {
		t.Columns(">as configured")
	}
	t.Columns(">algbw GB/s", ">busbw GB/s")
	for i := range l.Rows {
		row := &l.Rows[i]
		cells := []string{size(int64(row.Size)), count(int64(row.Elems))}
		for _, k := range kinds {
			cell := ""
			if limit := limitOf(row, k); limit != nil {
				if cell = limit.Time.String(); k == row.Binding {
					cell = "*" + cell
				}
			}
			cells = append(cells, cell)
		}
		cells = append(cells, row.Hardware.String())
		if l.OfAlgorithm() {
			cells = append(cells, row.Configured.String())
		}
		t.Add(append(cells, atMost(row.AlgBW), atMost(row.BusBW))...)
	}
	b.WriteByte('\n')
	if err := t.Write(&b); err != nil {
		return err
	}
	last := &l.Rows[len(l.Rows)-1]
	causes := Table{Head: []string{"limit", "where it comes from, at " + size(int64(last.Size))}}
	for i := range last.Bounds {
		limit, mark := &last.Bounds[i], ""
		if limit.Kind == last.Binding {
			mark = "*"
		}
		causes.Add(mark+string(limit.Kind), witness(limit))
	}
	if len(causes.Rows) > 0 {
		b.WriteByte('\n')
		if err := causes.Write(&b); err != nil {
			return err
		}
	}
	for _, note := range l.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func limitOf(row *limits.Row, k limits.Kind) *limits.Limit {
	for i := range row.Bounds {
		if row.Bounds[i].Kind == k {
			return &row.Bounds[i]
		}
	}
	return nil
}

// atMost prints a bandwidth. It prints - if the bandwidth has no limit, which is 0 here.
func atMost(f float64) string {
	if f == 0 {
		return "-"
	}
	return significant(f)
}

// witness prints the cause of a limit in a line.
func witness(b *limits.Limit) string {
	w := &b.Witness
	through := fmt.Sprintf("%s at %v", size(w.Bytes), w.Rate)
	ends := ""
	if w.Delay > 0 {
		ends = fmt.Sprintf("; delays before and after it add %v", w.Delay)
	}
	verb := "leave"
	if w.Inbound {
		verb = "enter"
	}
	switch b.Kind {
	case limits.ByDistance:
		text := fmt.Sprintf("rank %d, %s, to rank %d, %s: %s", w.Ranks[0], w.From, w.Ranks[1], w.To,
			plural(int64(len(w.Links)), "link", "links"))
		if w.Bytes > 0 {
			text += fmt.Sprintf(", and %s after the first byte", through)
		}
		return text
	case limits.ByNode:
		return fmt.Sprintf("%s must %s rank %d by %s%s", through, verb, w.Ranks[0], few(w.Links), ends)
	case limits.ByVolume:
		if w.Switches {
			return fmt.Sprintf("in total %s must leave or enter %s, where switches combine and copy%s", through, w.Parts, ends)
		}
		if w.Parts != "" {
			return fmt.Sprintf("in total %s must go from %s to others%s", through, w.Parts, ends)
		}
		return fmt.Sprintf("in total %s must leave the ranks and the SRAMs%s", through, ends)
	case limits.ByCut:
		return fmt.Sprintf("%s must go from %s to %s by %s%s", through, ranksOf(w.Ranks), ranksOf(w.Others), few(w.Links), ends)
	case limits.ByFlow:
		if w.Weights != nil {
			sorted, links := byWeight(w), plural(int64(len(w.Links)), "link", "links")
			return fmt.Sprintf("%s at %s GB/s, weighted over %s; largest weights: %s; the optimum is at most %.1f%% higher",
				size(w.Bytes), significant(w.Rate.GBs()), links, few(sorted), 100*w.Within)
		}
		return fmt.Sprintf("%s, counted once for each link, must pass %s", through, few(w.Links))
	case limits.ByFanOut:
		sizes := make([]string, len(w.Tree))
		for i, s := range w.Tree {
			sizes[i] = count(s.Ranks)
		}
		if w.Inbound {
			return fmt.Sprintf("one receive per %v, one hop %v: at successive times a rank holds data of at most %s ranks",
				w.Gap, w.Hop, strings.Join(sizes, ", "))
		}
		return fmt.Sprintf("one send per %v, one hop %v: at successive times at most %s ranks hold data of one rank",
			w.Gap, w.Hop, strings.Join(sizes, ", "))
	case limits.ByPipeline:
		text := fmt.Sprintf("%s along %s, hops of up to %v", size(w.Bytes), rankPath(w.Ranks), w.Hop)
		if w.Turn > 0 {
			text += fmt.Sprintf(" and turns of %v", w.Turn)
		}
		text += "; the best piece size is " + size(w.Piece)
		if w.Taken > 0 {
			text += "; the algorithm uses " + size(w.Taken)
		}
		return text
	case limits.ByCompute:
		return fmt.Sprintf("%s pairs of elements must be combined, %s/s at most in vector units and memories",
			count(w.Pairs), perSecond(float64(w.Rate)))
	case limits.ByVector:
		return fmt.Sprintf("%s pairs of elements must be combined, %s/s at most in vector units", count(w.Pairs),
			perSecond(float64(w.Rate)))
	case limits.ByMemory:
		return fmt.Sprintf("%s of rank %d must pass %s%s", through, w.Ranks[0], w.Port, ends)
	case limits.ByTraffic:
		return fmt.Sprintf("the algorithm moves %s over %s%s", through, few(w.Links), ends)
	}
	// What is left is the limit of the slots of rings.
	c := w.Ring
	through = fmt.Sprintf("%s at %s GB/s", size(w.Bytes), significant(w.Rate.GBs())) // most such rates are not whole GB/s
	owner := "all rings together carry " + through
	if len(w.Ranks) > 0 {
		owner = fmt.Sprintf("%s must %s rank %d by its rings", through, verb, w.Ranks[0])
	}
	text := fmt.Sprintf("%s; ring %d->%d has %s of %s and a round trip of %v", owner, c.From, c.To,
		plural(int64(c.Slots), "slot", "slots"), size(c.SlotBytes), c.RoundTrip)
	if w.Slots > c.Slots {
		return fmt.Sprintf("%s: %d slots would fill the %v of its path", text, w.Slots, c.Rate)
	}
	return fmt.Sprintf("%s, enough for the %v of its path", text, c.Rate)
}

// byWeight returns the links of a flow, those with the largest weights first.
func byWeight(w *limits.Witness) []string {
	by := make([]int, len(w.Links))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(w.Weights[b], w.Weights[a]) })
	links := make([]string, len(by))
	for i, k := range by {
		links[i] = w.Links[k]
	}
	return links
}

// rankPath writes a path of ranks. It leaves out the middle of a long path.
func rankPath(ranks []int) string {
	const most = 6
	var b strings.Builder
	for i, r := range ranks {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "ranks %d", r)
		case len(ranks) <= most || i < most-2 || i == len(ranks)-1:
			fmt.Fprintf(&b, "-%d", r)
		case i == most-2:
			b.WriteString("-...")
		}
	}
	return b.String()
}

// few names the first of some links and their number.
func few(links []string) string {
	const most = 2
	if len(links) <= most {
		return strings.Join(links, ", ")
	}
	return fmt.Sprintf("%s (%s)", strings.Join(links[:most], ", ")+", ...", plural(int64(len(links)), "link", "links"))
}

// ranksOf prints ranks as rank 3, or ranks 0-3,7.
func ranksOf(ranks []int) string {
	var b strings.Builder
	parts := 0
	for lo := 0; lo < len(ranks); {
		hi := lo + 1
		for hi < len(ranks) && ranks[hi] == ranks[hi-1]+1 {
			hi++
		}
		if parts++; parts > 4 {
			b.WriteString(",...")
			break
		}
		if lo > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, ranks[lo])
		if hi-lo > 1 {
			fmt.Fprintf(&b, "-%d", ranks[hi-1])
		}
		lo = hi
	}
	if len(ranks) == 1 {
		return "rank " + b.String()
	}
	return "ranks " + b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
