package device

import (
	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/tl"
	"kernbench/unit"
)

// channels returns the ring of a call: with ll, few bytes go through few channels, which are slower
// than the link. Windows are read and written without.
func (c *Context) channels(p *Plan, bytes unit.Bytes, rails tl.Rails) tl.Ring {
	ring := p.Ring
	if p.Config.Protocol != "ll" || p.Algorithm.Window != nil {
		return p.onRails(ring, rails)
	}
	software := c.cfg.Machine.Topology().Software()
	n := p.Config.Channels
	if n == 0 {
		n = p.llChannels(bytes)
	}
	ring.Protocol.Copy = software.Channels.SlowsAcross(n, c.railRate(rails))
	return p.onRails(ring, rails)
}

// protocolOf converts a protocol for executors. With every protocol of the data a credit is only a
// flag, written without a fence and found by polling. So its latency is that of an ll message.
func protocolOf(t *conf.Topology, name string, traffic conf.Traffic) tl.Protocol {
	p := t.Software().Protocol(name)
	return tl.Protocol{Latency: t.Latencies(name, traffic), Credit: t.Latencies("ll", conf.OnRings), Payload: p.Payload(),
		Channel: t.Software().Blocks.Copy}
}

// trafficOf returns what the messages of an algorithm are part of.
func trafficOf(a *algorithm.Algorithm) conf.Traffic {
	switch {
	case a.Trees:
		return conf.OnTrees
	case a.Multimem:
		return conf.Switched
	}
	return conf.OnRings
}

// llChannels returns the number of channels of a call with ll. On rings each rank sends a share of
// the vector in a step. On trees it sends all of it, so fewer bytes are worth a channel.
func (p *Plan) llChannels(bytes unit.Bytes) int {
	ranks := p.World
	if p.Algorithm.Trees {
		ranks = 1
	}
	software := p.machine.Topology().Software()
	return software.Channels.Of(bytes, ranks)
}
