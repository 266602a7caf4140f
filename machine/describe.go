package machine

import (
	"fmt"
	"strings"

	"kernbench/unit"
)

// Describe returns the machine in words: "2 SIPs × 16 cubes × 8 PEs".
func (m *Machine) Describe() string {
	sips := unit.Count(m.SIPs(), "SIP")
	var levels []string
	for _, l := range m.Levels() {
		if l.Name != "" { // else it is the only one
			size := strings.ReplaceAll(strings.Trim(fmt.Sprint(l.Dims), "[]"), " ", " × ")
			levels = append(levels, fmt.Sprintf("%s: %s of %s", l.Name, l.Network, size))
		}
	}
	if len(levels) > 0 {
		sips += " (" + strings.Join(levels, ", ") + ")"
	}
	return fmt.Sprintf("%s × %s × %s", sips, unit.Count(m.CubesPerSIP(), "cube"), unit.Count(m.PEsPerCube(), "PE"))
}
