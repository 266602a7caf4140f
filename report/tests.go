package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kernbench/lab/suite"
)

// Tests prints what a test found: a row for each algorithm and a column for each world size. A cell
// has the number of cases that were right. The failed cases are listed below.
func Tests(w io.Writer, sum *suite.Summary) error {
	var b bytes.Buffer
	var worlds []int
	var names []string
	for i := range sum.Rows {
		if r := &sum.Rows[i]; !slices.Contains(worlds, r.World) {
			worlds = append(worlds, r.World)
		}
		if r := &sum.Rows[i]; !slices.Contains(names, r.Algorithm) {
			names = append(names, r.Algorithm)
		}
	}
	slices.Sort(worlds)
	t := Table{Head: []string{"cases right, by ranks"}}
	for _, n := range worlds {
		t.Columns(">" + strconv.Itoa(n))
	}
	for _, name := range names {
		cells := []string{name}
		for _, n := range worlds {
			i := slices.IndexFunc(sum.Rows, func(r suite.Row) bool { return r.Algorithm == name && r.World == n })
			cells = append(cells, testCell(sum.Rows, i))
		}
		t.Add(cells...)
	}
	if err := t.Write(&b); err != nil {
		return err
	}
	testSkips(&b, sum)
	typesLeftOut(&b, sum)
	var took time.Duration
	for i := range sum.Rows {
		r := &sum.Rows[i]
		took += r.WallTime
		if r.Failed > 0 {
			fmt.Fprintf(&b, "\nFAIL %s, %d ranks: %d of %d cases\n     first  %s\n", r.Algorithm, r.World, r.Failed,
				r.Cases, indent(r.First))
			if r.Command != "" {
				fmt.Fprintf(&b, "     again  %s\n", r.Command)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s cases, %d failed", count(int64(sum.Cases)), sum.Failed)
	if took > 0 {
		b.WriteString(", " + wall(took))
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

func testCell(rows []suite.Row, i int) string {
	switch {
	case i < 0:
		return ""
	case rows[i].Failed > 0:
		return fmt.Sprintf("FAIL %d/%d", rows[i].OK, rows[i].Cases)
	case rows[i].Cases == 0:
		return "-"
	}
	return strconv.Itoa(rows[i].OK)
}

// testSkips prints why cells are empty: the reason of the first such cell of each algorithm.
func testSkips(w io.Writer, sum *suite.Summary) {
	var reported []string
	for i := range sum.Rows {
		r := &sum.Rows[i]
		if r.Cases > 0 || slices.Contains(reported, r.Algorithm) {
			continue
		}
		if len(reported) == 0 {
			fmt.Fprintln(w)
		}
		reported = append(reported, r.Algorithm)
		fmt.Fprintf(w, "- %s cannot have %d ranks: %s\n", r.Algorithm, r.World, cmp.Or(indent(r.Skipped), "no element count suits it"))
	}
}

// typesLeftOut prints which types were not tested, once for each algorithm and reason.
func typesLeftOut(w io.Writer, sum *suite.Summary) {
	var printed []string
	for i := range sum.Rows {
		if sum.Rows[i].Cases == 0 {
			continue // its reason is printed
		}
		for _, o := range sum.Rows[i].LeftOut {
			var types []string
			for _, t := range o.Types {
				types = append(types, t.String())
			}
			line := fmt.Sprintf("- %s leaves out %s: %s\n", sum.Rows[i].Algorithm, strings.Join(types, ", "), o.Reason)
			if slices.Contains(printed, line) {
				continue
			}
			if printed = append(printed, line); len(printed) == 1 {
				fmt.Fprintln(w)
			}
			fmt.Fprint(w, line)
		}
	}
}

// indent aligns the later lines of a text with its first.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n            ") }
