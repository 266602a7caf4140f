package conf

import (
	"cmp"
	"maps"
	"math"

	"kernbench/unit"
)

// Software has the times that software adds to those of the hardware.
type Software struct {
	Launch    unit.Time `conf:"launch_ns" doc:"time from the call of a collective to its first instruction; perf adds it to the simulated time"`
	Protocols Protocols `conf:"protocols" doc:"protocols, by which a receiver detects that a message has arrived; protocol in ccl.yaml selects one"`
	Channels  Channels  `conf:"channels" doc:"parallel rings of a collective; each has a share of the data and its own thread block" json:",omitzero"`
	Blocks    Blocks    `conf:"blocks" doc:"thread blocks, which execute programs of other tools" json:",omitzero"`
	Trees     TreeHops  `conf:"trees" doc:"message latencies of node_tree_allreduce" json:",omitzero"`
	Starts    Starts    `conf:"starts" doc:"start times of single collectives and of graphs, in place of launch_ns" json:",omitzero"`
	NCCL      string    `conf:"nccl" doc:"GPU generation in NCCL's cost model; kernbench calibrate --score compares with that model; none: NCCL has no model of this machine" enum:"none|volta|ampere|hopper|blackwell"`
}

// Starts has start times by collective and by launch mode. Each is the time with the protocol of
// the smallest launch_ns. Another protocol adds the difference of its launch_ns.
type Starts struct {
	Graph       bool              `conf:"graph" doc:"collectives are launched in a graph, not one by one from a stream; --launch graph sets it" json:",omitempty"`
	GraphLaunch unit.Time         `conf:"graph_launch_ns" doc:"start of a collective in a graph; 0: unknown" json:",omitempty"`
	Collectives map[string]*Start `conf:"collectives" doc:"starts of single collectives, by name" json:",omitempty"`
}

// Start has the start times of one collective.
type Start struct {
	Launch      unit.Time `conf:"launch_ns" doc:"start of this collective from a stream; 0: the general value"`
	GraphLaunch unit.Time `conf:"graph_launch_ns" doc:"start of this collective in a graph; 0: the general value"`
}

func (s Starts) clone() Starts {
	s.Collectives = maps.Clone(s.Collectives)
	for name, own := range s.Collectives {
		to := *own
		s.Collectives[name] = &to
	}
	return s
}

// First returns the start time of a collective with the protocol of the smallest launch_ns.
func (s Software) First(collective string) unit.Time {
	own := Start{}
	if at := s.Starts.Collectives[collective]; at != nil {
		own = *at
	}
	if s.Starts.Graph {
		return cmp.Or(own.GraphLaunch, s.Starts.GraphLaunch)
	}
	return cmp.Or(own.Launch, s.first())
}

// first returns the smallest launch_ns of all protocols.
func (s Software) first() unit.Time {
	return min(s.Protocol("ll").Launch, s.Protocol("ll128").Launch, s.Protocol("simple").Launch)
}

// Start returns the start of a collective with a protocol.
func (s Software) Start(collective, protocol string) unit.Time {
	return s.First(collective) + s.Protocol(protocol).Launch - s.first()
}

// checkStarts reports an error if collectives are launched in a graph and its start time is
// unknown.
func (t *Topology) checkStarts(l *ledger) {
	if s := &t.values.Software.Starts; s.Graph && s.GraphLaunch == 0 {
		l.disagree([]string{"software.starts.graph"},
			"the start of a collective in a graph is not known on this machine; with this key, or --launch graph, set software.starts.graph_launch_ns too")
	}
}

// Protocols are the times of each protocol.
type Protocols struct {
	LL     Protocol `conf:"ll" doc:"low latency: each word of data is sent with a flag"`
	LL128  Protocol `conf:"ll128" doc:"data is sent in lines of 128 bytes, and one word of each line is a flag"`
	Simple Protocol `conf:"simple" doc:"data, a fence, and then a flag"`
}

// Protocol is the time that software adds to a message.
type Protocol struct {
	Latency    unit.Time `conf:"latency_ns" doc:"time from the arrival of a message until its receiver sees it; no resource is occupied in that time"`
	Efficiency float64   `conf:"efficiency" doc:"bytes of data per byte on the links" min:"0.01" max:"1"`
	Launch     unit.Time `conf:"launch_ns" doc:"start of a collective with this protocol; 0: software.launch_ns"`
}

// Channels are the parallel rings of a collective on a machine whose rings run as software. A
// channel writes lines of LL more slowly than a link carries them, and small calls use fewer
// channels.
type Channels struct {
	Count int        `conf:"count" doc:"maximum number of channels of a call; 0: channels are not modelled, and rings are as fast as their links" min:"0" max:"1024"`
	Bytes unit.Bytes `conf:"ll_bytes" doc:"bytes per rank and channel with ll: a call of B bytes on N ranks uses B / (N × ll_bytes) channels, at least one" min:"0"`
	Rate  unit.Rate  `conf:"ll_gbs" doc:"rate of data on one channel with ll; 0: the rate of the link" min:"0GB/s"`
	P2P   P2P        `conf:"p2p" doc:"channels of point-to-point transfers between ranks of one node" json:",omitzero"`
}

// P2P are the channels of point-to-point transfers. NCCL prints both numbers in its log.
type P2P struct {
	Count   int `conf:"count" doc:"channels of all transfers of a rank together; 0: channels are not modelled, and transfers are as fast as their links" min:"0" max:"1024" json:",omitempty"`
	PerPeer int `conf:"per_peer" doc:"maximum number of channels of the transfers to one rank" min:"0" max:"1024" json:",omitempty"`
}

// The parts that NCCL's src/enqueue.cc cuts a transfer into. The step is the length of a chunk in
// NCCL's log ("P2P Chunksize set to").
const (
	p2pLeastPart = 64 * unit.KiB  // 1/8 of a step in a node, 1/2 of one on several
	p2pMostPart  = 16 * unit.MiB  // 32 steps of 512 KiB in a node
	p2pNodesPart = 128 * unit.KiB // a step on several
)

// Of returns the number of channels of a transfer between some ranks. Few bytes have a channel for
// each part of least length. Transfers of all ranks at the same time share the channels, unless
// parts are longer than the most.
func (p P2P) Of(bytes unit.Bytes, ranks int, nodes bool) int {
	if p.Count == 0 || p.PerPeer == 0 {
		return 0
	}
	shared := p.PerPeer
	for shared > 1 && shared*ranks > p.Count {
		shared /= 2
	}
	most := p2pMostPart
	if nodes {
		most = p2pNodesPart
	}
	n := max(1, min(shared, int((bytes+p2pLeastPart-1)/p2pLeastPart)))
	for n <= p.PerPeer/2 && bytes > most*unit.Bytes(n) {
		n *= 2
	}
	return n
}

// Of returns the number of channels that a call uses with ll. The bytes are those of a vector: the
// larger of a rank's contribution and result.
func (c *Channels) Of(bytes unit.Bytes, ranks int) int {
	if c.Count == 0 || c.Bytes == 0 {
		return c.Count
	}
	return max(1, min(c.Count, int(bytes/(c.Bytes*unit.Bytes(ranks)))))
}

// Slows returns the rate that determines the additional time with few channels. A message
// takes longer than with all channels, by its bytes at this rate. 0: no additional time.
func (c *Channels) Slows(channels int) unit.Rate {
	if c.Rate == 0 || channels >= c.Count || channels < 1 {
		return 0
	}
	// 1/(n r) - 1/(N r) = (N - n)/(n N r)
	n, most := int64(channels), int64(c.Count)
	return unit.Rate(float64(c.Rate) * float64(n*most) / float64(most-n))
}

// SlowsAcross is Slows of a call whose channels together carry no more than a rate. 0: no such
// limit.
func (c *Channels) SlowsAcross(channels int, most unit.Rate) unit.Rate {
	all := c.Rate * unit.Rate(c.Count)
	if most == 0 || most >= all || c.Rate*unit.Rate(channels) <= most {
		return c.Slows(channels)
	}
	return unit.Rate(float64(most) * float64(all) / float64(all-most)) // 1/most - 1/all
}

// Blocks are the times of thread blocks that execute programs of other tools. For a time of 0,
// frontend/timing has a default.
type Blocks struct {
	Copy   unit.Rate `conf:"copy_gbs" doc:"rate at which one thread block copies; 0: 20 GB/s, a guess" min:"0GB/s"`
	Reduce unit.Rate `conf:"reduce_gbs" doc:"rate at which one thread block reduces; this time is added to that of the copy; 0: 100 GB/s, a guess" min:"0GB/s"`
	Issue  unit.Time `conf:"issue_ns" doc:"start of a step, with the barrier of the block; 0: 250 ns, a guess"`
	Slice  unit.Time `conf:"slice_ns" doc:"start of each slice of a message; 0: 50 ns, a guess"`
	Flag   unit.Time `conf:"flag_ns" doc:"time from the end of a step until another block of the rank sees its flag; 0: 600 ns, a guess"`
	Fence  unit.Time `conf:"fence_ns" doc:"fence before the flag of a step, on connections over a network; 0: 400 ns, a guess"`
}

// Hops has the latencies of one level of the network, by protocol, and a rate.
type Hops struct {
	LL     unit.Time `conf:"ll_ns" doc:"message latency of ll; 0: software.protocols.ll.latency_ns"`
	LL128  unit.Time `conf:"ll128_ns" doc:"message latency of ll128; 0: software.protocols.ll128.latency_ns"`
	Simple unit.Time `conf:"simple_ns" doc:"message latency of simple; 0: software.protocols.simple.latency_ns"`
	Trees  TreeHops  `conf:"trees" doc:"message latencies of node_tree_allreduce over this level" json:",omitzero"`
	Switch unit.Time `conf:"switch_ns" doc:"message latency of simple in algorithms whose switches reduce; 0: simple_ns" json:",omitzero"`
	P2P    P2P       `conf:"p2p" doc:"channels of point-to-point transfers over this level" json:",omitzero"`
	LLRate unit.Rate `conf:"ll_gbs" doc:"total rate of data on all channels of a collective with ll, if each channel has its own link into this level; 0: the rate in software.channels" min:"0GB/s" json:",omitzero"`
}

// TreeHops has latencies of messages on trees, by protocol. A rank of a tree sends on what it has
// received from several others.
type TreeHops struct {
	LL     unit.Time `conf:"ll_ns" doc:"message latency of ll; 0: the same as on rings"`
	LL128  unit.Time `conf:"ll128_ns" doc:"message latency of ll128; 0: the same as on rings"`
	Simple unit.Time `conf:"simple_ns" doc:"message latency of simple; 0: the same as on rings"`
}

func (h *Hops) of(protocol string) unit.Time { return byProtocol(protocol, h.LL, h.LL128, h.Simple) }

// Of returns the latency of a protocol; 0: as on rings.
func (h *TreeHops) Of(protocol string) unit.Time {
	return byProtocol(protocol, h.LL, h.LL128, h.Simple)
}

func byProtocol(name string, ll, ll128, simple unit.Time) unit.Time {
	switch name {
	case "ll":
		return ll
	case "ll128":
		return ll128
	}
	return simple
}

// Traffic is what messages are part of. Software may have other latencies for them.
type Traffic int

// The kinds of traffic.
const (
	OnRings  Traffic = iota // and everything else
	OnTrees                 // of node_tree_allreduce
	Switched                // of algorithms whose switches reduce
)

// Latencies returns the times from the arrival of a message of a protocol until its receiver sees
// it. Element 0 is for messages that use no level of the network. Element i is for messages whose
// outermost level is i-1. There is one element if all are equal.
func (t *Topology) Latencies(protocol string, of Traffic) []unit.Time {
	usual := t.values.Software.Protocol(protocol).Latency
	if of == OnTrees {
		usual = cmp.Or(t.values.Software.Trees.Of(protocol), usual)
	}
	all := []unit.Time{usual}
	differ := false
	for _, l := range t.values.System.Levels {
		hops := &l.Software
		late := cmp.Or(hops.of(protocol), usual)
		switch {
		case of == OnTrees:
			late = cmp.Or(hops.Trees.Of(protocol), late)
		case of == Switched && protocol == "simple":
			late = cmp.Or(hops.Switch, late)
		}
		all, differ = append(all, late), differ || late != usual
	}
	if !differ {
		return all[:1]
	}
	return all
}

// Protocol returns the times of the protocol of that name, including its start.
func (s Software) Protocol(name string) Protocol {
	p := s.Protocols.Simple
	switch name {
	case "ll":
		p = s.Protocols.LL
	case "ll128":
		p = s.Protocols.LL128
	}
	if p.Launch == 0 {
		p.Launch = s.Launch
	}
	return p
}

// Payload returns the number of data bytes in a million bytes on the links.
func (p Protocol) Payload() int64 { return int64(math.Round(p.Efficiency * 1e6)) }

// Rings has the machine's own defaults for the slots of rings, large enough to fill its links. A
// ccl.yaml of the user and --set take precedence over them. They take precedence over the built-in
// ccl.yaml.
type Rings struct {
	NSlots   int        `conf:"n_slots" doc:"slots per direction, if ccl.yaml sets none; 0: the built-in defaults.n_slots" min:"0" max:"4096"`
	SlotSize unit.Bytes `conf:"slot_size" doc:"bytes of a slot, if ccl.yaml sets none; 0: the built-in defaults.slot_size" min:"0" max:"1GiB"`
}

// LoadCCL reads the embedded ccl.yaml, then the machine's own settings of its rings, then the
// files, then the --set arguments.
func (t *Topology) LoadCCL(files []Source, sets []string) (*CCL, error) {
	return loadCCL(t, files, sets)
}

// rings applies the machine's own settings of its rings.
func (c *CCL) rings(t *Topology, l *ledger) {
	from := func(key, setting string) {
		if at, ok := t.places[key]; ok {
			l.places[join("defaults", setting)] = at
		}
	}
	if r := &t.values.Rings; r.NSlots > 0 {
		c.values.Defaults.NSlots = r.NSlots
		from("rings.n_slots", "n_slots")
	}
	if r := &t.values.Rings; r.SlotSize > 0 {
		c.values.Defaults.SlotSize = r.SlotSize
		from("rings.slot_size", "slot_size")
	}
}

// checkRings refuses slots that ccl.yaml would refuse.
func (t *Topology) checkRings(l *ledger) {
	const key, least = "rings.slot_size", 8
	if size := t.values.Rings.SlotSize; size > 0 && size < least {
		l.disagree([]string{key}, "found %v, want %d B to 1 GiB, or 0 for the slot_size of ccl.yaml", size, least)
	}
}
