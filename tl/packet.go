package tl

import (
	"fmt"

	"kernbench/unit"
)

// This file has the LL path: data whose lines carry a flag, so that no signal follows them. A
// packet is what one PutLL sends. NCCL, RCCL and MSCCL++ have lines of 8 or 16 bytes, of which half
// is the flag.

// PutLL puts a tensor into the copy of member peer, as a packet: each line has the flag. It returns
// at once. WaitLL of that flag by the peer orders what it does later after this packet, and after
// no other one. Flag 0 is that of memory which was never written. A packet that replaces another
// one needs another flag, and must come after the peer has read that one. So kernels alternate
// between two buffers, and count their calls.
func (c *Context) PutLL(dst Sym, peer int, t Tensor, flags Signal, flag int64) {
	c.flag("put_ll", flag)
	if t.Len() == 0 {
		c.misuse("put_ll", "a packet has at least one element")
	}
	c.put(dst, peer, &putting{op: "put_ll", t: t, signal: true, lines: true, word: flags, update: SignalSet, value: flag})
}

// WaitLL polls packets in this PE's own copy until all their lines have a flag.
func (c *Context) WaitLL(flags Signal, flag int64) {
	c.flag("wait_ll", flag)
	c.wait("wait_ll", flags, EQ, flag)
	x := c.signalled(flags, int(c.side.Peer))
	x.Cmp, x.Value, x.Lines = EQ, flag, true
	c.counts.Waits += int64(len(c.words))
	c.signal(OpWaitWord)
}

func (c *Context) flag(op string, flag int64) {
	if flag == 0 {
		c.misuse(op, fmt.Sprintf("flag %d is that of memory which was never written: count from 1", flag))
	}
}

// Lines returns the protocol of packets: that of ll, with flags as long as the data if the machine
// does not say.
func (r *Ring) Lines() Protocol {
	p := r.LL
	if p.Payload == 0 || p.Payload == million {
		p.Payload = million / 2
	}
	return p
}

// LineLate is the latency of a packet that has taken a level of the network; -1: none.
func (r *Ring) LineLate(level int) unit.Time {
	late, _ := r.LL.Late(level)
	return late
}
