package device

import (
	"kernbench/machine"
	"kernbench/unit"
)

// latencyBytes returns alpha/beta of a plan's routes from rank to rank. These are the bytes that
// the slowest link of a route carries in the time of an empty message. It is the mean over the
// routes of the plan's topology, because a pipeline uses all of them.
func (c *Context) latencyBytes(p *Plan) int64 {
	m, pe := c.cfg.Machine, c.cfg.Machine.Topology().PE()
	own := pe.Issue + pe.IPCQ.Send + pe.DMA.Setup + pe.IPCQ.Recv
	var sum float64
	routes := 0
	var route []machine.Hop
	for r := range p.Wiring {
		for _, out := range p.Wiring[r].Out {
			if int(out.Peer) == r {
				continue
			}
			route = m.Route(route[:0], m.TCM(int(p.PEs[r])), m.TCM(int(p.PEs[out.Peer])))
			head, slowest := m.Latency(route)
			late, _ := p.Ring.Protocol.Late(m.Between(int(p.PEs[r]), int(p.PEs[out.Peer])))
			sum += float64(own+head+late) / float64(unit.Second) * float64(p.Ring.Protocol.Data(slowest))
			routes++
		}
	}
	if routes == 0 {
		return 0
	}
	return max(1, int64(sum/float64(routes)))
}
