package device

import (
	"kernbench/collective"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// leastSlot is the smallest slot that channels divide a slot of a ring into. Kernels use several
// slots at a time from this size on.
const leastSlot = 32 << 10

// Bytes of a call for each channel, in NCCL's src/enqueue.cc. Simple has 64 bytes for each of 512
// threads, and LL128 8 bytes for each of 640. LL has 8 bytes for each of 512 threads and each rank.
const (
	simplePerChannel = 32 * unit.KiB
	ll128PerChannel  = 5 * unit.KiB
	llPerChannel     = 4 * unit.KiB
)

// railsOf returns the ranks of a node, and how many channels can have a rail of their own. There
// are no more than the rails of a node, and as many as a link within the node feeds. It returns 1
// channel if ranks are in one node, or if nodes are unequal or have one way out.
func railsOf(m *machine.Machine, pes []int32) tl.Rails {
	one := tl.Rails{Count: 1}
	levels := m.Levels()
	for i := 1; i < len(levels); i++ {
		l := &levels[i]
		if !l.Planes || l.Below < 2 {
			continue
		}
		size := int32(l.Below * m.CubesPerSIP() * m.PEsPerCube())
		node := together(pes, size)
		if node < 2 || node == len(pes) || gcd(node, len(pes)) != node || !equalNodes(pes, size, node) {
			return one
		}
		feeds := 1
		if l.Rate > 0 {
			feeds = int((levels[0].Rate + l.Rate - 1) / l.Rate)
		}
		return tl.Rails{Count: max(1, min(l.Below, node, feeds)), Node: node}
	}
	return one
}

// across returns the rate that all channels of a call on rails have together with LL; 0: no limit.
func (c *Context) across(rails tl.Rails) unit.Rate {
	if rails.Count > 1 {
		for i, l := range c.cfg.Machine.Levels() {
			if i > 0 && l.Planes {
				return c.cfg.Machine.Topology().System().Between()[i].Software.LLRate
			}
		}
	}
	return 0
}

// equalNodes reports whether each node has so many of the ranks.
func equalNodes(pes []int32, size int32, node int) bool {
	for i := 0; i < len(pes); i += node {
		if pes[i]/size != pes[i+node-1]/size {
			return false
		}
	}
	return true
}

// Rails returns the channels of a call that have rails of their own. Few bytes use few channels.
// Partial sums of another type are staged by one block of a rank.
func (p *Plan) Rails(c collective.Call) tl.Rails {
	one := tl.Rails{Count: 1}
	if !p.Algorithm.Rails || p.PEs == nil || p.machine == nil {
		return one
	}
	what, err := collective.Lookup(p.Algorithm.Collective)
	if err != nil || p.accumulation(what, c) != nil {
		return one
	}
	r := railsOf(p.machine, p.PEs)
	for r.Count = min(r.Count, p.channels(what.Bytes(c))); r.Count > 1 && p.railSlot(r) < leastSlot; {
		r.Count--
	}
	return r
}

// railSlot returns the size of the slots of each channel. At least, all channels share the slots
// that one would have. They have more if the rings lie in TCM, and it has space left beside scratch
// memory. More than the slots of one are never used.
func (p *Plan) railSlot(r tl.Rails) int64 {
	shared := p.Ring.SlotBytes / int64(r.Count)
	if p.Ring.Space != mem.TCM {
		return shared &^ 7
	}
	tcm, most := p.machine.Topology().PE().TCM, 1
	for i := range p.Wiring {
		slots := 0
		for _, in := range p.Wiring[i].In {
			slots += p.Ring.SlotsOf(in.Slots)
		}
		most = max(most, slots)
	}
	fits := int64(tcm.Capacity-tcm.Scratch) / int64(most*r.Count)
	return max(shared, min(p.Ring.SlotBytes, fits)) &^ 7
}

// channels returns the number of channels for a call: as configured, or by its bytes.
func (p *Plan) channels(bytes unit.Bytes) int {
	if p.Config.Channels > 0 {
		return p.Config.Channels
	}
	least := simplePerChannel
	switch p.Config.Protocol {
	case "ll":
		if software := p.machine.Topology().Software().Channels; software.Count > 0 {
			return software.Of(bytes, p.World)
		}
		least = llPerChannel * unit.Bytes(p.World)
	case "ll128":
		least = ll128PerChannel
	}
	return max(1, int(bytes/least))
}

// onRails returns the rings of a call that is spread over channels. Each channel has its share of
// what few blocks add to the time of LL.
func (p *Plan) onRails(ring tl.Ring, rails tl.Rails) tl.Ring {
	if rails.Count > 1 {
		ring.SlotBytes = p.railSlot(rails)
		ring.Protocol.Copy /= unit.Rate(rails.Count)
	}
	return ring
}

// Rings returns the rings of a call: their wiring by block, equally many for each rank, and how
// they are configured.
func (p *Plan) Rings(c collective.Call) ([]tl.Wiring, tl.Ring) {
	rails := p.Rails(c)
	if rails.Count == 1 {
		ring := p.Ring
		ring.Protocol.Transfer = p.transfer(c)
		return p.Wiring, ring
	}
	return launch.OnRails(p.Wiring, rails), p.onRails(p.Ring, rails)
}
