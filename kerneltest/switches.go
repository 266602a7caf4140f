package kerneltest

import (
	"fmt"
	"strings"

	"kernbench/dtype"
)

// SwitchSettings are settings of a machine on which each rank is a SIP of one PE. All SIPs are on a
// switch that reduces and copies, for kernels with LoadReduce and StoreMulticast.
func SwitchSettings(ranks int) []string {
	var types []string
	for _, t := range []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64, dtype.I32, dtype.I64} {
		types = append(types, t.String())
	}
	return []string{
		fmt.Sprintf("system.sips.count=%d", ranks), "system.sips.topology=switch", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]",
		"system.switch.multicast=true", "system.switch.reduce.types=[" + strings.Join(types, ", ") + "]",
	}
}
