package bound

import (
	"math"

	"kernbench/hw/memory"
	"kernbench/machine"
	"kernbench/tl"
	"kernbench/unit"
)

// Ring is the ring from a rank to another, with what limits it.
type Ring struct {
	From      int       `json:"from"` // rank
	To        int       `json:"to"`
	Slots     int       `json:"n_slots"`
	SlotBytes int64     `json:"slot_bytes"`
	Rate      unit.Rate `json:"path_bytes_per_second"` // of data, on the slowest link of its path
	RoundTrip unit.Time `json:"round_trip_ps"`         // from the start of a full slot to that of the next in its place, at least
	Delay     unit.Time `json:"delay_ps"`              // of a token without its bytes, at least
}

// PerSecond returns the sustained rate of the ring: that of its path or that of its slots,
// whichever is less.
func (c *Ring) PerSecond() unit.Rate { return min(c.Rate, c.bySlots()) }

// bySlots returns the sustained rate of the slots on a path of unlimited rate.
func (c *Ring) bySlots() unit.Rate {
	if c.RoundTrip == 0 {
		return math.MaxInt64
	}
	return unit.Rate(scaled(int64(c.Slots)*c.SlotBytes, int64(unit.Second), int64(c.RoundTrip)))
}

// Lift returns the fewest slots with which the path limits the ring, and not its slots.
func (c *Ring) Lift() int {
	inFlight := scaled(int64(c.Rate), int64(c.RoundTrip), int64(unit.Second))
	return int(1 + max(0, inFlight-1)/c.SlotBytes)
}

// Rings returns the rings of ranks that run on some PEs, with wiring by block: as many for each
// rank. A round trip counts what no receiver can shorten: the path of a token with a full slot, and
// that of the credit back. A token starts in the sender's TCM or, if forwarded, in its ring memory.
// The faster counts.
func Rings(m *machine.Machine, pes []int32, wiring []tl.Wiring, ring *tl.Ring) []Ring {
	var all []Ring
	blocks := max(1, len(wiring)/max(1, len(pes)))
	for block := range wiring {
		from := block / blocks
		for _, o := range wiring[block].Out {
			to := int(o.Peer) / blocks
			if to == from {
				continue
			}
			a, b := int(pes[from]), int(pes[to])
			slots := memory.RingNode(m, b, ring.Space)
			head, rate := m.Latency(m.Route(nil, m.TCM(a), slots))
			forwarded, its := m.Latency(m.Route(nil, memory.RingNode(m, a, ring.Space), slots))
			head, rate = min(head, forwarded), max(rate, its)
			late, seen := ring.Protocol.Late(m.Between(a, b))
			head, rate = head+late, ring.Protocol.Data(rate)
			back, slowest := m.Latency(m.Route(nil, m.PE(b), m.PE(a)))
			c := Ring{From: from, To: to, Slots: ring.SlotsOf(o.Slots), SlotBytes: ring.SlotBytes, Rate: rate, Delay: head}
			c.RoundTrip = head + over(ring.SlotBytes, int64(rate)) + back
			if slowest > 0 {
				c.RoundTrip += over(ring.CreditBytes, int64(slowest))
			}
			c.RoundTrip += seen
			all = append(all, c)
		}
	}
	return all
}

// carry returns the least time in which rings carry bytes. In a time T a slot takes one full
// token per round trip, and one more whose credit is not back yet. So together
//
//	bytes <= sum over rings of slots × slot bytes + T × rate
//
// where the first term is only that of rings which their slots limit. Where paths are not
// shared (ideal), tokens in several slots do not share their own either, and slots alone count.
func carry(rings []*Ring, bytes int64, ideal bool) unit.Time {
	rate := int64(0)
	for _, c := range rings {
		most := c.bySlots()
		if !ideal && c.Rate <= most {
			most = c.Rate
		} else {
			bytes -= int64(c.Slots) * c.SlotBytes
			if c.RoundTrip > 0 { // bySlots is rounded down
				most = unit.Rate(scaledUp(int64(c.Slots)*c.SlotBytes, int64(unit.Second), int64(c.RoundTrip)))
			}
		}
		if rate += int64(most); rate < 0 {
			return 0
		}
	}
	return over(bytes, rate)
}
