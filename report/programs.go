package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kernbench/frontend"
	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// Programs prints the verdicts on programs of other tools: a line and the findings of one program,
// or a table of several. With details it also prints the findings of several, and all steps that a
// repair moves.
func Programs(w io.Writer, vs []*frontend.Verdict, details bool) error {
	var b bytes.Buffer
	if len(vs) == 1 {
		v := vs[0]
		fmt.Fprintf(&b, "%s  %s", v.File, verdictWords(v))
		if p := v.Program; p != nil {
			fmt.Fprintf(&b, "  %s, %s, %d ranks, %s", p.Dialect, p.Collective, p.World, programSize(v))
		}
		b.WriteByte('\n')
	} else {
		t := Table{Head: []string{"file", "verdict", "format", "collective", ">ranks", ">steps", ">messages", ">right", ">of"}}
		for _, v := range vs {
			row := []string{v.File, verdictWords(v), v.Dialect}
			if p := v.Program; p != nil {
				row = append(row, p.Collective, strconv.Itoa(p.World))
				if len(v.Calls) > 0 {
					j := shown(v)
					row = append(row, strconv.Itoa(j.Steps), strconv.Itoa(j.Messages), strconv.Itoa(j.Right), strconv.Itoa(j.Cells))
				}
			}
			t.Add(row...)
		}
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	for _, v := range vs {
		if len(vs) > 1 && !details || v.Program == nil && len(v.Findings) == 0 {
			continue
		}
		if len(vs) > 1 {
			fmt.Fprintf(&b, "\n%s\n", v.File)
		}
		for _, f := range v.Findings {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(f.String(), "\n", "\n    "))
		}
		if v.Hang != nil && v.Hang.InRange {
			for i, r := range v.Hang.Repairs {
				fmt.Fprintf(&b, "  repair %d, %s: %s\n", i+1, r.What, r.Text)
				for _, m := range r.Moves {
					if details {
						fmt.Fprintf(&b, "    %s\n", m)
					}
				}
			}
			if len(v.Hang.Repairs) == 0 {
				b.WriteString("  no repair found: neither order, instances, depth, protocol nor range helps\n")
			}
		}
		if v.Depths != nil {
			fmt.Fprintf(&b, "  %v\n", v.Depths)
		}
		for _, n := range v.Notes {
			fmt.Fprintf(&b, "  note: %s\n", n)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func verdictWords(v *frontend.Verdict) string {
	var words []string
	for _, x := range v.Verdicts {
		words = append(words, x.String())
	}
	return strings.Join(words, ", ")
}

// shown returns the first judgment with a wrong chunk, or else the first.
func shown(v *frontend.Verdict) *judge.Judgment {
	for _, c := range v.Calls {
		if c.Right < c.Cells {
			return c.Judgment
		}
	}
	return v.Calls[0].Judgment
}

// programSize writes the right part of the result, and the size of the program.
func programSize(v *frontend.Verdict) string {
	if len(v.Calls) == 0 {
		return "not carried out"
	}
	j := shown(v)
	text := fmt.Sprintf("%d steps, %d messages", j.Steps, j.Messages)
	if j.Cells > 0 {
		text += fmt.Sprintf(", %d of %d chunks right", j.Right, j.Cells)
	}
	if j.Root != plan.None {
		text += fmt.Sprintf(", root %d", j.Root)
	}
	return text
}
