package cli

import (
	"strings"

	"kernbench/exec"
)

// listedExecutor is a registered executor in JSON.
type listedExecutor struct {
	Name            string   `json:"name"`
	Summary         string   `json:"summary"`
	Default         string   `json:"default_for,omitempty"` // timing, checking
	Capabilities    []string `json:"capabilities"`
	Fidelities      []string `json:"fidelities"`
	DefaultFidelity string   `json:"default_fidelity,omitempty"`
}

func (a *app) listExecutors(o *listOptions) error {
	var all []listedExecutor
	for _, r := range exec.All() {
		l := listedExecutor{r.Name, r.Summary, r.Default.String(), []string{}, []string{}, r.DefaultFidelity}
		for _, c := range r.Capabilities {
			l.Capabilities = append(l.Capabilities, c.String())
		}
		for _, f := range r.Fidelities {
			l.Fidelities = append(l.Fidelities, f.Name)
		}
		all = append(all, l)
	}
	head := []string{"executor", "default for", "what it is", "capabilities"}
	return rowsOf(a, o, all, head, func(l listedExecutor) []string {
		return []string{l.Name, l.Default, l.Summary, strings.Join(l.Capabilities, ", ")}
	})
}
