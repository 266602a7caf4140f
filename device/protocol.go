package device

import (
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
		n = software.Channels.Of(bytes, p.World)
	}
	ring.Protocol.Copy = software.Channels.SlowsAcross(n, c.railRate(rails))
	return p.onRails(ring, rails)
}

// protocolOf converts a protocol for executors. With every protocol of the data a credit is only a
// flag, written without a fence and found by polling. So its latency is that of an ll message.
func protocolOf(t *conf.Topology, name string) tl.Protocol {
	p := t.Software().Protocol(name)
	return tl.Protocol{Latency: t.Latencies(name), Credit: t.Latencies("ll"), Payload: p.Payload(),
		Channel: t.Software().Blocks.Copy}
}
