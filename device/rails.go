package device

import (
	"kernbench/collective"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// leastSlot is the smallest slot of a channel, in bytes. Channels divide the slots of a ring.
// Kernels use several slots at a time if a slot has at least this size.
const leastSlot = 32 << 10

// Bytes of a call per channel, from NCCL's src/enqueue.cc. Simple has 64 bytes for each of 512
// threads, and LL128 8 bytes for each of 640. LL has 8 bytes for each of 512 threads, per rank.
const (
	simplePerChannel = 32 * unit.KiB
	ll128PerChannel  = 5 * unit.KiB
	llPerChannel     = 4 * unit.KiB
)

// railsOf returns the ranks of a node, and the number of channels that can have a rail of their
// own. A node has at most as many channels as rails. It also has at most as many as the link of a
// rank within the node can feed. There is 1 channel if all ranks are in one node. The same holds if
// nodes have different numbers of ranks, or if a node has one link to the others.
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

// railRate returns the most that all channels of a call on rails carry in total with LL. 0 is no
// limit.
func (c *Context) railRate(rails tl.Rails) unit.Rate {
	if rails.Count > 1 {
		for i, l := range c.cfg.Machine.Levels() {
			if i > 0 && l.Planes {
				return c.cfg.Machine.Topology().System().Between()[i].Software.LLRate
			}
		}
	}
	return 0
}

// equalNodes reports whether each node of size PEs has the same number of ranks, node.
func equalNodes(pes []int32, size int32, node int) bool {
	for i := 0; i < len(pes); i += node {
		if pes[i]/size != pes[i+node-1]/size {
			return false
		}
	}
	return true
}

// Rails returns the channels of a call that have rails of their own. Few bytes use few channels. A
// call that stages partial sums in another type has one channel, because one block stages them.
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

// railSlot returns the size of the slots of each channel. The channels share the slots of a single
// channel. If the rings lie in TCM, the space outside scratch memory may make the slots larger. A
// slot is never larger than that of a single channel.
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
		if n := p.llChannels(bytes); n > 0 {
			return n
		}
		if least = llPerChannel; !p.Algorithm.Trees {
			least *= unit.Bytes(p.World)
		}
	case "ll128":
		least = ll128PerChannel
	}
	return max(1, int(bytes/least))
}

// onRails returns the rings of a call that is spread over channels. Protocol.Copy is the rate that
// determines the additional time of LL with few blocks. Each channel has its share of this rate.
func (p *Plan) onRails(ring tl.Ring, rails tl.Rails) tl.Ring {
	if rails.Count > 1 {
		ring.SlotBytes = p.railSlot(rails)
		ring.Protocol.Copy /= unit.Rate(rails.Count)
	}
	return ring
}

// Rings returns the wiring of a call by block, and the configuration of its rings. Each rank has
// the same number of blocks.
func (p *Plan) Rings(c collective.Call) ([]tl.Wiring, tl.Ring) {
	rails := p.Rails(c)
	if rails.Count == 1 {
		return p.Wiring, p.Ring
	}
	return launch.OnRails(p.Wiring, rails), p.onRails(p.Ring, rails)
}
