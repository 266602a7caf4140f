package nccl

import (
	"math"
	"math/bits"

	"kernbench/unit"
)

// System holds what NCCL's model knows of a machine: GPUs on NVLink, and nodes on a network.
type System struct {
	Generation Generation
	Ranks      int
	Nodes      int     // 1 or more; they divide the ranks evenly
	NVLink     float64 // GB/s in each direction of a GPU
	Network    float64 // GB/s in each direction of all cards of a node; 0 with one node
	NVLS       bool    // switches reduce and copy
	AMD        bool    // the hosts have CPUs of AMD
}

// Estimate is an algorithm with a protocol, and its time.
type Estimate struct {
	Algorithm, Protocol string
	Time                unit.Time
}

// Time returns the fastest choice for a collective over a vector of a size: the largest vector of a
// rank, as nccl-tests counts it. It reports false where NCCL has no model: collectives other
// than all_reduce, all_gather, reduce_scatter, broadcast and reduce, one rank, or an unknown
// generation.
func (s *System) Time(collective string, size unit.Bytes) (Estimate, bool) {
	n := float64(s.Ranks)
	limits, known := generationCaps[s.Generation]
	if !known || s.Ranks < 2 || s.Nodes < 1 || s.NVLink <= 0 {
		return Estimate{}, false
	}
	steps, between := n-1, float64(s.Nodes-1)
	switch collective {
	case "all_reduce":
		steps, between = 2*steps, 2*between
	case "all_gather", "reduce_scatter":
	case "broadcast", "reduce":
		steps, between = n, float64(s.Nodes)
	default:
		return Estimate{}, false
	}
	m := model{System: s, caps: limits, steps: steps, between: between, at: min(2, bits.Len(uint(s.Nodes))-1)}
	m.rate, m.channels = s.search()
	best := Estimate{Time: math.MaxInt64}
	add := func(algorithm string, protocol int, latency, rate float64) {
		if rate <= 0 {
			return
		}
		t := unit.Nanoseconds(latency*1e3 + float64(size)/rate)
		if t < best.Time {
			best = Estimate{algorithm, protocolNames[protocol], t}
		}
	}
	for p := range protocolNames {
		latency, rate := m.ring(p, size)
		add("ring", p, latency, rate)
		if collective == "all_reduce" {
			latency, rate = m.tree(p, size)
			add("tree", p, latency, rate)
		}
	}
	switch {
	case s.NVLS && s.Nodes == 1 && collective != "broadcast" && collective != "reduce":
		latency, rate := m.nvls(collective == "all_reduce")
		add("nvls", simple, latency, rate)
	case s.NVLS && s.Nodes > 1 && collective == "all_reduce":
		latency, rate := m.nvlsTree(size)
		add("nvls_tree", simple, latency, rate)
	}
	return best, true
}

// mostChannels is the largest number of channels of a search, before it doubles them.
const mostChannels = 32

// search finds the channels of rings: those of the fastest speed at which all together carry most.
// They are doubled at half the speed, as NCCL does with fast ones.
func (s *System) search() (rate float64, channels int) {
	total := s.NVLink
	if s.Nodes > 1 {
		total = min(total, s.Network)
	}
	for _, speed := range speeds[s.Generation] {
		if n := min(mostChannels, int(total/speed)); float64(n)*speed > rate {
			rate, channels = float64(n)*speed, n
		}
	}
	if channels == 0 {
		return total, 1
	}
	return rate, 2 * channels
}

// model is the model of one collective on a system.
type model struct {
	*System
	caps           caps
	at             int     // index of the caps
	steps, between float64 // of a ring, and those of them that go between nodes
	rate           float64 // GB/s of all channels
	channels       int
}

// hop returns a hop inside a node, and one between nodes. The latter is the network's, plus its
// card's latency, which NCCL takes from the card and is left out here.
func (l *latencies) hop(p int) (inside, between float64) { return l.nvlink[p], l.network[p] }

func (m *model) ring(p int, size unit.Bytes) (latency, rate float64) {
	rate = m.rate
	switch p {
	case ll:
		rate = min(m.ll(), rate/2)
	case ll128:
		rate = min(rate*0.92, float64(m.channels)*m.caps.ringLL128[m.at])
	}
	inside, between := ringLatencies.hop(p)
	if m.Nodes > 1 {
		inside = max(inside, m.post(p))
	}
	latency = (m.steps-m.between)*inside + m.between*between
	if m.Nodes > 1 && p == simple && size/unit.Bytes(m.channels*m.Ranks) >= 64 {
		latency *= 1.4
	}
	return ringLatencies.base[p] + latency, rate * float64(m.Ranks) / m.steps
}

// ll returns the limit of all channels with LL.
func (m *model) ll() float64 {
	if m.Nodes == 1 {
		return m.caps.ll
	}
	return networkLL[m.AMD][m.at-1]
}

// post returns the time in µs that a ring's step takes at least where it crosses a network.
func (m *model) post(p int) float64 {
	t := post
	if m.AMD {
		t = postAMD
	}
	if p == simple {
		t *= 3
	}
	return t
}

// treeShare returns the usable share of a tree's rate.
func treeShare(p int, size unit.Bytes) float64 {
	if at := bits.Len64(uint64(size>>6)) - 1; at >= 0 && at < len(treeShares[p]) {
		return treeShares[p][at]
	}
	return 1
}

func (m *model) tree(p int, size unit.Bytes) (latency, rate float64) {
	rate = min(m.rate*0.92, float64(m.channels)*m.caps.tree[m.at])
	switch p {
	case ll:
		rate = min(rate/3.8, m.ll())
	case ll128:
		share := 120. / 128
		if m.Nodes == 1 {
			share = 7. / 9
		}
		rate = min(rate*share, float64(m.channels)*m.caps.treeLL128[m.at])
	}
	rate *= treeShare(p, size)
	inside, between := treeLatencies.hop(p)
	latency = 2 * (float64(m.Ranks/m.Nodes-1)*inside + math.Floor(math.Log2(float64(m.Nodes)))*between)
	return treeLatencies.base[p] + latency, rate / 2
}

// mostHeads is the largest number of GPUs of a node that reduce in a switch.
const mostHeads = 32

// heads returns the number of channels that reduce in a switch: one for each GPU of a node.
func (m *model) heads() float64 { return float64(min(mostHeads, m.Ranks/m.Nodes)) }

// nvlsRate returns the rate of all channels together. One channel of them is left out.
func (m *model) nvlsRate() float64 {
	return m.rate * nvlsShare[m.Generation] * (m.heads() - 1) / m.heads()
}

func (m *model) nvls(twice bool) (latency, rate float64) {
	rate = m.nvlsRate()
	if twice {
		rate *= 2
	}
	return nvlsLatencies.nvlink[simple], rate * float64(m.Ranks) / m.steps
}

func (m *model) nvlsTree(size unit.Bytes) (latency, rate float64) {
	network := m.Network
	if m.Nodes == 2 {
		network *= 2 // each tree has both directions
	}
	rate = min(2*m.nvlsRate(), network, m.heads()*m.caps.nvlsTree[m.at])
	if m.Generation == Blackwell {
		rate *= treeShare(simple, size) // in hosts with CPUs of x86
	}
	inside, between := nvlsTreeLatencies.hop(simple)
	return inside + 2*math.Floor(math.Log2(float64(m.Nodes)))*between, rate * float64(m.Ranks) / m.steps
}
