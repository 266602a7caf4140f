package report

import (
	"fmt"
	"io"
	"strings"

	"kernbench/lab/run"
	"kernbench/unit"
)

// hazards prints each hazard with both accesses and the missing order.
func hazards(w io.Writer, r *run.Result) {
	for i := range r.Hazards {
		fmt.Fprintf(w, "HAZARD %s\n", strings.ReplaceAll(r.Hazards[i].String(), "\n  ", "\n     "))
	}
	if len(r.Hazards) > 0 {
		fmt.Fprintln(w)
	}
}

// class prints what this run proves about other runs, and which operations limit the proof.
func class(w io.Writer, r *run.Result) {
	c := r.Class
	if c == nil {
		return
	}
	field(w, "class", "%s (%s): %s", c.Name, c.What, c.Claim)
	if c.Tried > 0 {
		field(w, "", "kernels do not act on what atomics return: they issued the same in %s with other values", unit.Count(c.Tried, "run"))
	}
	const most = 8
	for i := range c.Depends[:min(most, len(c.Depends))] {
		d := &c.Depends[i]
		text := d.Op
		if d.Call != "" && d.Call != d.Op {
			text += " in " + d.Call
		}
		if d.Line != "" {
			text += " at " + d.Line
		}
		if d.Count > 1 {
			text += fmt.Sprintf(" (%s times)", count(int64(d.Count)))
		}
		field(w, "", "%s: %s", text, d.Why)
	}
	if n := len(c.Depends) - most; n > 0 {
		field(w, "", "... and %d more", n)
	}
}
