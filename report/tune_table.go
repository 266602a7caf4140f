package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"kernbench/lab/run"
	"kernbench/lab/tune"
)

// TuningFile prints a tuning table as the file that --tuning reads.
func TuningFile(w io.Writer, groups []*tune.Group, from run.MadeBy) error {
	var b bytes.Buffer
	b.WriteString("# Which algorithm is fastest at which size: made by kernbench tune, read with --tuning FILE by\n# the algorithm auto. A row holds from its size on, up to the next.\n")
	for _, l := range from.Lines() {
		b.WriteString("# " + l + "\n")
	}
	b.WriteString("tables:\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "  # %s\n", heading(g))
		fmt.Fprintf(&b,
			"  - topology: %s\n    fingerprint: %s\n    fidelity: %s\n    collective: %s\n    ranks: %d\n    type: %s\n    rows:\n",
			strconv.Quote(named(g.Topology)), strconv.Quote(g.Fingerprint), g.Fidelity, g.Collective, g.Ranks, g.Type)
		for i := range g.Ranges {
			r := &g.Ranges[i]
			upTo := "on"
			if r.To > 0 {
				upTo = "to " + size(int64(r.To))
			}
			fmt.Fprintf(&b, "      # from %s %s", size(int64(r.From)), upTo)
			if r.Regret != nil {
				fmt.Fprintf(&b, "; regret between sizes about %s", share(*r.Regret))
			}
			b.WriteString("\n")
			for k := range g.Rows {
				row := &g.Rows[k]
				if row.Size < r.From || r.To > 0 && row.Size > r.To {
					continue
				}
				fmt.Fprintf(&b, "      #   %s: %s", size(int64(row.Size)), pointTime(row.Best))
				if row.RunnerUp != nil {
					fmt.Fprintf(&b, "; %s takes %s more", row.RunnerUp.Algorithm,
						share(float64(row.RunnerUp.Time-row.Best.Time)/float64(max(1, row.Best.Time))))
				}
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "      - from: %d\n        use: %s\n", int64(r.From), r.Algorithm)
			if r.Settings != "" {
				fmt.Fprintf(&b, "        with: {%s}\n", strings.ReplaceAll(strings.Join(strings.Fields(r.Settings), ", "), "=", ": "))
			}
			if len(r.Else) > 0 {
				fmt.Fprintf(&b, "        else: [%s]\n", strings.Join(r.Else, ", "))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// named returns a machine's name as one word. For a file it is the last part of the path.
func named(topology string) string {
	word := []rune(filepath.Base(topology))
	for i, c := range word {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", c) || i == 0 &&
			(c == '.' || c == '-') {
			word[i] = '_'
		}
	}
	return string(word[:min(len(word), 100)])
}
