package replay

import (
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/hw/noc/exclusive"
	"kernbench/program"
)

// connections are the rings, and their routes.
type connections struct {
	sizing    ipcq.Sizing
	rings     []ring // number 0 stands for rings into which no rank sends
	slots     []ipcq.Slot
	ports     []uint32          // rings of all ranks: those that one sends into, then those it receives from
	exclusive *exclusive.Routes // of rings whose links are their own
	timings   []timing          // by kind of ring
	long      bool              // payloads of several tokens are sent
	shared    bool              // some routes share links
	limited   bool              // the DMA queue of messages can be full
}

// connect makes the rings into which some rank sends, and reserves their routes. Rings of one
// receiver lie side by side.
func (x *Replay) connect() {
	in := x.in
	sends := in.Program.AllSends(in.Launch)
	x.makeRings(sends)
	uses, largest := make([]noc.Use, 0, len(x.rings)-1), int64(0)
	classes, id := in.Machine.PairClasses(), uint32(0)
	for i := range x.ranks {
		f := &x.ranks[i]
		w := &in.Launch.Groups[f.group].Wiring[f.index]
		for k, p := range w.In {
			from := &x.ranks[f.base+p.Peer]
			s := intoRing(sends[from.id], p.PeerOut)
			if s.Payloads == 0 {
				continue
			}
			size := x.wireSize(s.Longest)
			id++
			r := &x.rings[id]
			r.from, r.to, r.out = from.id, f.id, p.PeerOut
			r.Tag = x.timing(classes.Number(int(from.pe), int(f.pe)), from, f)
			x.ports[from.tx+uint32(p.PeerOut)], x.ports[f.rx+uint32(k)] = id, id
			largest = max(largest, size)
			uses = append(uses, noc.Use{
				From: in.Machine.TCM(int(from.pe)), To: in.Machine.TCM(int(f.pe)),
				Kind: r.Tag, Bytes: x.tokens(s) * size,
			})
		}
	}
	in.Net.ReserveRoutes(uses, largest)
	x.exclusive = in.Net.Exclusive()
	for i := range uses {
		r := &x.rings[i+1]
		if r.route = uses[i].Reserved; uses[i].Exclusive {
			r.state |= ownLinks
		} else {
			x.shared = true
		}
	}
}

// makeRings makes the rings into which some rank sends, with their slots. It finds whether their
// messages can fill the DMA queue of a rank.
func (x *Replay) makeRings(sends [][]program.Sends) {
	rings, slots := 1, int(x.sizing.Slots())
	for i := range sends {
		tokens := int64(0)
		for port, s := range sends[i] {
			if s.Payloads > 0 && port < int(x.ranks[i].rx-x.ranks[i].tx) {
				rings++
				tokens += x.tokens(s)
			}
		}
		x.limited = x.limited || tokens > int64(x.in.Spec.DMA.Depth)
	}
	x.rings, x.slots = make([]ring, rings), make([]ipcq.Slot, rings*slots)
}

// intoRing holds the messages that are sent into the ring of a port.
func intoRing(sends []program.Sends, port uint8) program.Sends {
	if int(port) >= len(sends) {
		return program.Sends{}
	}
	return sends[port]
}

// tokens returns the most that can be in flight in a ring at the same time. Each has a slot, and no
// more are in flight than are sent at all.
func (x *Replay) tokens(s program.Sends) int64 {
	slots := int64(x.sizing.Slots())
	if s.Longest > x.in.Launch.Ring.SlotBytes { // payloads of several tokens
		return slots
	}
	return min(slots, s.Payloads)
}

// timing returns the number of the timing of rings between PEs of one class of pairs.
func (x *Replay) timing(kind uint32, from, to *rank) uint32 {
	if int(kind) == len(x.timings) {
		var t timing
		t.late, t.credit = x.in.Timing(int(from.pe), int(to.pe))
		x.timings = append(x.timings, t)
	}
	return kind
}

// wireSize returns the size on the links of the largest token of a payload of a given size.
func (x *Replay) wireSize(bytes int64) int64 {
	ring := &x.in.Launch.Ring
	x.long = x.long || bytes > ring.SlotBytes
	return max(1, ring.Protocol.Wire(min(bytes, ring.SlotBytes)))
}
