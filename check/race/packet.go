package race

import (
	"fmt"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"
)

// A flag in the lines of a packet orders its reader after these lines, as the signal of a put does.
// A reader that waits for all lines knows of the whole packet, one that waits for some of these
// only. A flag proves nothing if the packet that was there before had the same flag: the reader may
// have seen that one.

// packets is the state of a Detector for packets.
type packets struct {
	flags map[mem.Addr]flagged // the last packets, by the addresses of flags that are kept in full
	void  bool                 // the flag of a packet was needed that is gone: see flag.go
}

// flagged is the last packet of a place, with what a hazard reports of it.
type flagged struct {
	flag  int64
	time  unit.Time
	agent history.Agent
	task  int32
	place placeID
	set   bool
	link  linkID
	seq   uint32 // of its data on the link
	line  tl.PacketLine
}

// knownLines is a moment at which an agent knows that some bytes of a packet have come.
type knownLines struct {
	witness
	from, to int64
}

// packet handles a packet that has been put. It names one with the flag of its predecessor.
func (d *Detector) packet(e *event) {
	before, known := d.flags[e.addr]
	now := d.lastPacket(e, d.dataOf(e))
	if !known || before.flag != now.flag {
		return
	}
	if h := d.open(ReusedFlag, e.addr, d.sent(&before, e.addr), d.sent(&now, e.addr), before.agent, now.agent); h != nil {
		h.Missing = "another flag: a wait for " + itoa(now.flag) + " cannot tell this packet from the one before; count calls, " +
			"or take turns with two buffers"
	}
}

// dataOf returns the number of the data of a packet on the link of its flag e. An event of its own
// comes just after the data.
func (d *Detector) dataOf(e *event) uint32 {
	if e.joint {
		return e.after()
	}
	return e.seq - 1
}

// lastPacket keeps a packet as the last one of its place. Its data have a number on their link.
func (d *Detector) lastPacket(e *event, data uint32) flagged {
	now := flagged{e.value(), e.time, e.agent, d.taskOf(e), e.place, e.set, e.link, data, e.lines()}
	if d.flags == nil {
		d.flags = map[mem.Addr]flagged{}
	}
	d.flags[e.addr] = now
	return now
}

// sent describes a packet by its flag. Only hazards need it, and most packets have none.
func (d *Detector) sent(p *flagged, at mem.Addr) Access {
	e := event{agent: p.agent, place: p.place, addr: at, time: p.time, change: change{update: true, set: p.set}, size: size{p.flag}}
	return d.describeIn(&e, p.task)
}

// teachLines adds to an agent what the flag of some lines of a packet proves: that these lines have
// come, and what the sender knew.
func (d *Detector) teachLines(r *history.Record, y *knowledge) {
	a := &d.agents[r.Agent]
	now := witness{r.Agent, a.clk.time}
	p := d.flags[r.Word]
	if y.one != nil {
		d.join(&a.clk, y.one)
	}
	d.joinTimes(&a.clk, y.times)
	for _, c := range y.covers {
		if c.link == p.link && p.seq > 0 { // what was sent before the packet, and not the packet
			c.upTo[collective] = min(c.upTo[collective], p.seq-1)
		}
		d.cover(c.link, now, c.upTo)
	}
	for _, u := range y.sure {
		if u.carries && p.line != tl.NoLine && p.flag == u.value() && p.agent == u.agent {
			m := d.needMore(u)
			from := int64(r.From) * p.line.Data()
			m.lines = append(m.lines, knownLines{now, from, from + int64(r.Count)*p.line.Data()})
		}
	}
}

// knowsLines reports whether an agent with clock c knows by the flags of lines that the part
// [a, a+n) of put f has come.
func (d *Detector) knowsLines(c *clock, f *event, a mem.Addr, n int64) bool {
	u := d.carrierOf(f)
	if u == nil || u.more == 0 || !f.write || a < f.addr || int64(a-f.addr)+n > f.bytes() {
		return false
	}
	at, end, lines := int64(a-f.addr), int64(a-f.addr)+n, d.mores[u.more].lines
	for more := true; more && at < end; {
		more = false
		for _, l := range lines {
			if l.from <= at && at < l.to && d.reaches(c, l.agent, l.time) {
				at, more = l.to, true
			}
		}
	}
	return at >= end
}

// missingLines returns what would order e after put f, if its agent has waited for some of its
// lines.
func (d *Detector) missingLines(f, e *event) string {
	u := d.carrierOf(f)
	if u == nil || u.more == 0 {
		return ""
	}
	for _, l := range d.mores[u.more].lines {
		if l.agent == e.agent {
			return fmt.Sprintf("%v has waited for only some lines of %s, and a flag orders only its own line: wait for all lines that %s reads, or for the whole packet",
				d.agentOf(e), d.spot(f), d.spot(e))
		}
	}
	return ""
}

// freshFlags forgets the packets in a stretch of memory.
func (d *Detector) freshFlags(a mem.Addr, bytes int64) {
	for w := range d.flags {
		if w >= a && w < a+mem.Addr(bytes) {
			delete(d.flags, w)
		}
	}
}
