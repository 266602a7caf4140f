package device

import (
	"kernbench/collective"
	"kernbench/unit"
)

// transferChannels returns the number of channels of a transfer from one rank to another in a call,
// by NCCL's rule. It returns 0 if the machine does not model channels, or if the links are slower.
func (p *Plan) transferChannels(c collective.Call) int {
	if p.PEs == nil || p.machine == nil {
		return 0
	}
	what, err := collective.Lookup(p.Algorithm.Collective)
	if err != nil {
		return 0
	}
	bytes := unit.Bytes(c.Elems) * unit.Bytes(c.Type.Size())
	if what.Blocks {
		bytes /= unit.Bytes(c.World)
	}
	software, fastest := p.machine.Topology().Software(), unit.Rate(0)
	p2p, acrossNodes := software.Channels.P2P, false
	outermost := p.machine.Between(int(p.PEs[0]), int(p.PEs[len(p.PEs)-1]))
	for i, l := range p.machine.Levels() {
		fastest = max(fastest, l.Rate)
		if i > 0 && i == outermost {
			p2p, acrossNodes = p.machine.Topology().System().Between()[i].Software.P2P, true
		}
	}
	n := p2p.Of(bytes, p.World, acrossNodes)
	if n > 0 && p.Config.Channels > 0 {
		n = p.Config.Channels
	}
	if rate := p.Ring.Protocol.Through(int32(n)); rate == 0 || rate >= p.Ring.Protocol.Data(fastest) {
		return 0
	}
	return n
}
