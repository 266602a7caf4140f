package tune

import (
	"strings"

	"kernbench/algorithm"
	"kernbench/dtype"
)

// tuningOf makes of groups what auto goes by.
func tuningOf(groups []*Group) *algorithm.Tuning {
	t := &algorithm.Tuning{}
	for _, g := range groups {
		typ, err := dtype.Parse(g.Type)
		if err != nil {
			continue // of a program with more types
		}
		table := algorithm.TuningTable{
			Topology: g.Topology, Machine: g.Fingerprint, Fidelity: g.Fidelity, Collective: g.Collective, Ranks: g.Ranks, Type: typ,
		}
		for _, r := range g.Ranges {
			table.Rows = append(table.Rows, algorithm.TuningRow{From: r.From, Use: r.Algorithm,
				Settings: strings.Fields(r.Settings), Else: r.Else})
		}
		t.Tables = append(t.Tables, table)
	}
	return t
}
