package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"kernbench/lab/calibrate"
)

// farOff is the error from which a page names a size as not explained.
const farOff = 0.15

// ScoreMarkdown prints a score for a page. For each table it has the source, the errors in bands,
// the sizes that are far off, and measured next to simulated times.
func ScoreMarkdown(w io.Writer, s *calibrate.Score) error {
	var b bytes.Buffer
	for i := range s.Tables {
		t := &s.Tables[i]
		fmt.Fprintf(&b, "### %s, `%s`\n\n", filepath.Base(t.File), s.Topology)
		fmt.Fprintf(&b, "%s of %d ranks, %s, %s.\n", t.Collective, t.Ranks, t.Type, resultsPlace(t.InPlace))
		for _, r := range t.Header {
			if r.Key == "source" || r.Key == "hardware" {
				fmt.Fprintf(&b, "%s: %s.\n", strings.ToUpper(r.Key[:1])+r.Key[1:], strings.TrimSuffix(r.Value, "."))
			}
		}
		b.WriteByte('\n')
		sums := scoreBands(t)
		if err := sums.Markdown(&b); err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%s\n\n", offSizes(t))
		if len(t.Switches) > 0 {
			if err := switchPoints(t).Markdown(&b); err != nil {
				return err
			}
			b.WriteByte('\n')
		}
		rows := scoreRows(t)
		if err := rows.Markdown(&b); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	b.WriteString(madeByMarkdown(s.MadeBy))
	_, err := w.Write(b.Bytes())
	return err
}

// offSizes names the ranges of sizes whose times the machine does not explain.
func offSizes(t *calibrate.TableScore) string {
	var off []string
	for i := 0; i < len(t.Rows); {
		sign, most, k := math.Copysign(1, t.Rows[i].Error), 0.0, i
		for k < len(t.Rows) && t.Rows[k].Error*sign > farOff {
			most, k = max(most, t.Rows[k].Error*sign), k+1
		}
		if k == i {
			i++
			continue
		}
		span := size(int64(t.Rows[i].Size))
		if k > i+1 {
			span += " to " + size(int64(t.Rows[k-1].Size))
		}
		direction := "too fast"
		if sign > 0 {
			direction = "too slow"
		}
		off = append(off, fmt.Sprintf("%s (%s by up to %.0f %%)", span, direction, most*100))
		i = k
	}
	if len(off) == 0 {
		return fmt.Sprintf("No size is off by more than %.0f %%.", farOff*100)
	}
	return fmt.Sprintf("Not explained, off by more than %.0f %%: %s.", farOff*100, strings.Join(off, ", "))
}

// resultsPlace names the placement of results.
func resultsPlace(inPlace bool) string {
	if inPlace {
		return "in place"
	}
	return "out of place"
}
