package calibrate

import (
	"slices"
	"strings"

	"kernbench/unit"
)

// SwitchPoint is a program in NCCL's words. It has the size from which a machine runs the program,
// and the size from which NCCL's model does. Nil: it is never run.
type SwitchPoint struct {
	Algorithm string      `json:"algorithm"`
	Protocol  string      `json:"protocol"`
	From      *unit.Bytes `json:"from_bytes"`
	NCCL      *unit.Bytes `json:"nccl_from_bytes"`

	// Before lists ranges of smaller sizes with the same program: of times that lie close together,
	// the order may change twice.
	Before []SizeRange `json:"before"`
}

// SizeRange is a range of sizes of a table.
type SizeRange struct {
	From unit.Bytes `json:"from_bytes"`
	To   unit.Bytes `json:"to_bytes"` // the last one
}

// ncclName returns what NCCL calls the algorithm that one of the library stands for.
func ncclName(algorithm string) string {
	for _, one := range []struct{ part, name string }{
		{"nvls_tree", "nvls_tree"}, {"nvls", "nvls"}, {"tree", "tree"}, {"ring", "ring"},
	} {
		if strings.Contains(algorithm, one.part) {
			return one.name
		}
	}
	return algorithm
}

// switchPoints finds where the rows of a table change programs, in the order of sizes.
func switchPoints(rows []ScoreRow) []SwitchPoint {
	all := []SwitchPoint{}
	point := func(algorithm, protocol string) *SwitchPoint {
		for i := range all {
			if all[i].Algorithm == algorithm && all[i].Protocol == protocol {
				return &all[i]
			}
		}
		all = append(all, SwitchPoint{Algorithm: algorithm, Protocol: protocol, Before: []SizeRange{}})
		return &all[len(all)-1]
	}
	for i := range rows {
		r := &rows[i]
		from := r.Size
		if r.NCCL == nil {
			return []SwitchPoint{}
		}
		ours := point(ncclName(r.Algorithm), r.Protocol)
		switch {
		case i > 0 && ncclName(rows[i-1].Algorithm) == ours.Algorithm && rows[i-1].Protocol == r.Protocol:
		case ours.From == nil:
			ours.From = &from
		default:
			end := i - 1
			for ncclName(rows[end].Algorithm) != ours.Algorithm || rows[end].Protocol != ours.Protocol {
				end--
			}
			ours.Before = append(ours.Before, SizeRange{*ours.From, rows[end].Size})
			ours.From = &from
		}
		if n := r.NCCL; i == 0 || rows[i-1].NCCL.Algorithm != n.Algorithm || rows[i-1].NCCL.Protocol != n.Protocol {
			point(n.Algorithm, n.Protocol).NCCL = &from
		}
	}
	slices.SortStableFunc(all, func(a, b SwitchPoint) int { return int(max(-1, min(1, a.least()-b.least()))) })
	return all
}

// least returns the smallest size at which either has the program.
func (p *SwitchPoint) least() unit.Bytes {
	switch {
	case len(p.Before) > 0:
		return p.Before[0].From
	case p.From == nil || p.NCCL != nil && *p.NCCL < *p.From:
		return *p.NCCL
	}
	return *p.From
}
