package machine_test

import (
	"fmt"

	"kernbench/conf"
	"kernbench/machine"
)

func Example() {
	m, err := machine.Build(conf.DefaultTopology())
	if err != nil {
		fmt.Println(err)
		return
	}
	route := m.Route(nil, m.HBM(1), m.PE(0)) // the data of a read
	for _, hop := range route {
		fmt.Println(m.LinkName(hop.Link))
	}
	head, slowest := m.Latency(route)
	fmt.Println(head, slowest)
	// Output:
	// sip0.cube0.pe1.hbm.port
	// sip0.cube0.pe1->sip0.cube0.r0c1
	// sip0.cube0.r0c1->sip0.cube0.r0c0
	// sip0.cube0.r0c0->sip0.cube0.pe0
	// 15.03ns 256 GB/s
}
