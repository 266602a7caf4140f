package run

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/conf"
	"kernbench/machine"
	"kernbench/unit"
)

// TooManyRanks is a number of ranks that a machine cannot have.
type TooManyRanks struct {
	Ranks, Have int
	Hint        string // what can; may be empty
}

func (e *TooManyRanks) Error() string {
	text := fmt.Sprintf("%d ranks: the machine has %s", e.Ranks, unit.Count(e.Have, "PE"))
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// enough returns machines with as many ranks as the spec needs: presets, and this machine with more
// SIPs.
func (x *Job) enough() string {
	var can []string
	for _, p := range machine.Presets() {
		if data, ok := machine.PresetSource(p.Name); ok && pes([]conf.Source{{Name: p.Name, Data: data}}, nil) >= x.Ranks {
			can = append(can, p.Name)
		}
	}
	var hints []string
	if len(can) > 0 {
		hints = append(hints, "--topology "+strings.Join(can, " or ")+" has enough")
	}
	if files, err := machine.ReadSource(x.Topology); err == nil {
		sets, _, _ := conf.SplitSets(x.Sets)
		each := x.Machine.NumPEs() / x.Machine.SIPs()
		if nodes := x.Machine.Topology().System().Nodes; nodes.Network != "" {
			node := x.Machine.NumPEs() / max(1, nodes.Members())
			want := (x.Ranks + node - 1) / node
			if pes(files, append(slices.Clone(sets), fmt.Sprintf("system.nodes.count=%d", want))) >= x.Ranks {
				hints = append(hints, fmt.Sprintf("--nodes %d gives this machine enough PEs", want))
			}
			return strings.Join(hints, "; ")
		}
		set := fmt.Sprintf("system.sips.count=%d", (x.Ranks+each-1)/each)
		if pes(files, append(sets, set)) >= x.Ranks {
			hints = append(hints, "--set "+set+" gives this machine enough PEs")
		}
	}
	return strings.Join(hints, "; ")
}

// pes returns the number of PEs of a machine; 0: there is none of that description.
func pes(files []conf.Source, sets []string) int {
	t, err := conf.LoadTopology(files, sets)
	if err != nil {
		return 0
	}
	m, err := machine.Build(t)
	if err != nil {
		return 0
	}
	return m.NumPEs()
}
