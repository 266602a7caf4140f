package tl

import (
	"fmt"

	"kernbench/unit"
)

// This file has the LL path: data whose lines carry a flag, so that no signal follows them. A
// packet is the data that one PutLL or PutLL128 sends.

// PacketLine is the lines of a packet. Each is written at once, with its flag.
type PacketLine uint8

// The lines. NCCL, RCCL and MSCCL++ have both, in this size or a multiple of it.
const (
	NoLine    PacketLine = iota
	LineLL               // of 8 bytes: 4 of data, 4 of flag
	LineLL128            // of 128 bytes: 120 of data, 8 of flag
)

// Data returns the bytes of data in a line.
func (l PacketLine) Data() int64 { return [...]int64{0, 4, 120}[l] }

// Count returns the number of lines for a number of bytes.
func (l PacketLine) Count(bytes int64) int32 { return int32((bytes + l.Data() - 1) / l.Data()) }

// PutLL puts a tensor into the copy of member peer, as a packet of lines of 8 bytes: each line has
// the flag. It returns at once. A flag orders its own line only: WaitLL polls those of all lines of
// a packet, WaitLines those of some. They order what the peer does later after these lines, and
// after no other ones. Lines come in any order. Unwritten memory has flag 0. A packet that replaces
// another one needs another flag, and must come after the peer has read that one. So kernels
// alternate between two buffers, and count their calls.
func (c *Context) PutLL(dst Sym, peer int, t Tensor, flags Signal, flag int64) {
	c.putLines("put_ll", LineLL, dst, peer, t, flags, flag)
}

// PutLL128 is PutLL with lines of 128 bytes, of which 120 are data.
func (c *Context) PutLL128(dst Sym, peer int, t Tensor, flags Signal, flag int64) {
	c.putLines("put_ll128", LineLL128, dst, peer, t, flags, flag)
}

func (c *Context) putLines(op string, l PacketLine, dst Sym, peer int, t Tensor, flags Signal, flag int64) {
	c.flag(op, flag)
	if t.Len() == 0 {
		c.misuse(op, "a packet has at least one element")
	}
	c.put(dst, peer, &putOptions{op: op, t: t, signal: true, lines: l, word: flags, update: SignalSet, value: flag})
}

// WaitLL polls packets in this PE's own copy until all their lines have a flag.
func (c *Context) WaitLL(flags Signal, flag int64) { c.waitLines("wait_ll", flags, flag, 0, 0) }

// WaitLines polls n lines of packets in this PE's own copy, starting at line from, until they have
// a flag. It does not cover the other lines.
func (c *Context) WaitLines(flags Signal, flag int64, from, n int) {
	const op = "wait_lines"
	if from < 0 || n < 1 || from > MostLines-n {
		c.misuse(op, fmt.Sprintf("%d lines from %d on: at least one, from 0 on, and at most %d in all", n, from, MostLines))
	}
	c.waitLines(op, flags, flag, int32(from), int32(n))
}

// MostLines is the most lines that a packet has.
const MostLines = 1 << 30

func (c *Context) waitLines(op string, flags Signal, flag int64, from, n int32) {
	c.flag(op, flag)
	x := c.wait(op, flags, EQ, flag)
	x.Lines, x.From, x.Count = LineLL, from, n
	c.counts.Waits += int64(len(c.words))
	c.signal(OpWaitWord)
}

func (c *Context) flag(op string, flag int64) {
	if flag == 0 {
		c.misuse(op, fmt.Sprintf("found flag %d, which unwritten memory has; want flags from 1 on", flag))
	}
}

// Lines returns the protocol of packets: that of ll or ll128, with flags as in their lines if the
// machine does not say.
func (r *Ring) Lines(l PacketLine) Protocol {
	p, data := r.LL, int64(million/2)
	if l == LineLL128 {
		p, data = r.LL128, million*120/128
	}
	if p.Payload == 0 || p.Payload == million {
		p.Payload = data
	}
	return p
}

// LineLate returns the latency of a packet that has taken a level of the network; -1: none.
func (r *Ring) LineLate(l PacketLine, level int) unit.Time {
	p := r.Lines(l)
	late, _ := p.Late(level)
	return late
}
