package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// Send puts t into the ring to the neighbour in direction d. It returns when the ring
// has a free slot and the message is in flight; the message carries t as it is now. A
// payload longer than a slot goes as several messages: Send returns with the first, the
// rest follow by themselves, and the next Send in that direction waits for the last.
func (c *Context) Send(d Dir, t Tensor) {
	if !c.live(&t) {
		c.unusable("send", &t)
	}
	port := c.wiring.OutIndex(d)
	if port < 0 {
		c.invalidDir(d, true)
	}
	in := c.prepare(OpSend, t.dtype, int(t.n), t.shape)
	in.Port, in.A, in.AOff, in.Channels = port, t.cell, t.off, c.channels
	c.counts.Sent += in.Bytes()
	c.issue()
	if c.lines != nil {
		c.lines.sent.note(port, c.lines.now)
	}
}

// Slots returns the number of slots of the kernel's rings, and the size of a slot. A longer payload
// takes several slots. If rings differ, n is the smallest number of slots.
func (c *Context) Slots() (n int, bytes int64) {
	n = c.ring.Slots
	if c.ring.Mixed {
		for _, o := range c.wiring.Out {
			n = min(n, c.ring.SlotsOf(o.Slots))
		}
		for _, p := range c.wiring.In {
			n = min(n, c.ring.SlotsOf(p.Slots))
		}
	}
	return n, c.ring.SlotBytes
}

// SendRef is Send of data in memory. The data of r must lie in one memory.
func (c *Context) SendRef(d Dir, r Ref) {
	port := c.wiring.OutIndex(d)
	if port < 0 {
		c.invalidDir(d, true)
	}
	if c.pieces("send", &r) > 1 {
		c.badAddress("send", &r, "a message is read from one shard: send the shards one by one, or load first")
	}
	pa, _, _ := c.resolve(r.Addr)
	in := c.prepare(OpSend, r.DType, r.Shape.Elems(), r.Shape)
	in.Port, in.Addr, in.Channels = port, pa, c.channels
	c.counts.Sent += in.Bytes()
	c.issue()
	if c.lines != nil {
		c.lines.sent.note(port, c.lines.now)
	}
}

// Recv waits for the next message from the neighbour in direction d, and takes it. The tensor lies
// in the slot of the ring. Its lifetime ends with the next receive from d, and only then does the
// sender get the slot back. With AnyDir, Recv takes from the rings that have a message, in turn,
// and ends the lifetimes of all directions. A payload longer than a slot is assembled in scratch
// memory: the lifetime of its tensor does not end with a receive.
func (c *Context) Recv(d Dir, s Shape, t dtype.Type) (r Tensor) {
	if port := c.wiring.InIndex(d); d != AnyDir && port >= 0 && c.ports[port].posted <= c.ports[port].taken {
		c.takeFrom("recv", port, s, t, nil, &r)
	} else {
		c.take("recv", d, s, t, nil, &r)
	}
	return r
}

// RecvAny is Recv(AnyDir) that also returns the direction.
func (c *Context) RecvAny(s Shape, t dtype.Type) (r Tensor, d Dir) {
	got := c.take("recv", AnyDir, s, t, nil, &r)
	return r, c.wiring.In[got].Dir
}

// RecvTo receives like Recv, and copies the message to dst. The sender gets the slot back when the
// copy is done. It returns dst.
func (c *Context) RecvTo(d Dir, dst Ref) Ref {
	c.take("recv", d, dst.Shape, dst.DType, &dst, nil)
	return dst
}

// Future is a receive that RecvAsync has announced. Wait takes its message.
type Future struct {
	port  int
	seq   uint32
	dir   Dir
	shape Shape
	dtype dtype.Type
}

// RecvAsync announces a receive and returns at once. Futures of one direction must be
// waited for in the order in which they were made.
func (c *Context) RecvAsync(d Dir, s Shape, t dtype.Type) Future {
	if d == AnyDir {
		c.misuse("recv_async", "name a direction: a future belongs to one ring")
	}
	c.checkType("recv_async", t)
	p := c.inPort(d)
	c.emit(&Instr{Op: OpRecvAsync, Port: p, Type: t, N: s.Elems(), Dst: None, A: None, B: None, C: None})
	f := Future{p, c.ports[p].posted, d, s, t}
	if c.lines != nil {
		c.lines.posts[taken{p, f.seq}] = c.lines.now
	}
	c.ports[p].posted++
	return f
}

// Wait takes the message of a future: what Recv would have returned.
func (c *Context) Wait(f Future) (r Tensor) {
	if f.dtype == dtype.Invalid {
		c.misuse("wait", "the zero Future: use what RecvAsync returned")
	}
	p := &c.ports[f.port]
	if done := p.taken; f.seq != done {
		what := "was waited for before"
		if f.seq > done {
			what = fmt.Sprintf("comes after %d earlier future(s) of direction %v: wait for these first", f.seq-done, f.dir)
		}
		c.misuse("wait", "the future "+what)
	}
	c.takeFrom("wait", f.port, f.shape, f.dtype, nil, &r)
	return r
}

// take resolves the direction, takes a message and returns the port of its ring. It fails if the
// ring has announced receives: their futures come first.
func (c *Context) take(op string, d Dir, s Shape, t dtype.Type, dst *Ref, r *Tensor) int {
	port := AnyPort
	if d != AnyDir {
		port = c.inPort(d)
		c.checkPosted(op, port)
	} else {
		if len(c.ports) == 0 {
			c.invalidDir(AnyDir, false)
		}
		for i := range c.ports {
			c.checkPosted(op, i)
		}
	}
	return c.takeFrom(op, port, s, t, dst, r)
}

func (c *Context) checkPosted(op string, port int) {
	if p := &c.ports[port]; p.posted > p.taken {
		c.misuse(op, fmt.Sprintf("direction %v has %d announced receive(s): wait for their futures first",
			c.wiring.In[port].Dir, p.posted-p.taken))
	}
}

func (c *Context) takeFrom(op string, port int, s Shape, t dtype.Type, dst *Ref, r *Tensor) int {
	c.checkType(op, t)
	if port == AnyPort {
		c.noteEnding(op)
		for i := range c.ports {
			c.endSlot(i)
		}
	} else if !c.inspects || !c.isDelayed(port) {
		c.endSlot(port)
	}
	n, addr, cell, copied := s.Elems(), mem.Addr(0), None, dst != nil
	switch {
	case dst != nil:
		if c.pieces(op, dst) > 1 {
			c.badAddress(op, dst, "a message is copied into one shard")
		}
		addr, _, _ = c.resolve(dst.Addr)
	case int64(n)*int64(t.Size()) > c.ring.SlotBytes:
		c.result(op, t, s, r)
		cell, copied = r.cell, true
	default:
		cell = c.newCell(cellSlot)
		r.cell, r.gen, r.pe, r.shape, r.n, r.dtype, r.slot = cell, c.cells[cell].gen, int32(c.pe), s, int32(n), t, true
	}
	in := c.prepare(OpRecv, t, n, s)
	in.Port, in.Dst, in.Copy, in.Addr = port, cell, copied, addr
	c.issue()
	got := in.GotPort
	p := &c.ports[got]
	if c.lines != nil {
		c.lines.take(got, p.taken)
	}
	if cell != None && !copied {
		p.held = cell
		r.port, r.seq = uint8(got), p.taken
	}
	p.taken++
	if p.posted < p.taken {
		p.posted = p.taken
	}
	if in.GotN != n || in.GotType != t || in.GotShape != s {
		c.checkReceived(op, got)
	}
	return got
}

// noteEnding records, for error texts, that an undirected receive ends the lifetimes of all slots.
// The receives of the single rings do not contain this information.
func (c *Context) noteEnding(op string) {
	if c.lines == nil {
		return
	}
	call := c.caller()
	for i := range c.ports {
		if p := &c.ports[i]; p.held != None {
			c.lines.end(i, p.taken-1, ending{op + "(any)", call})
		}
	}
}

// endSlot ends the lifetime of the tensor last received from a ring.
func (c *Context) endSlot(port int) {
	p := &c.ports[port]
	if p.held == None {
		return
	}
	c.drop(p.held)
	p.held = None
}

// checkReceived compares a message with the type and shape that the instruction expects.
func (c *Context) checkReceived(op string, port int) {
	in := &c.in
	if !c.ring.Strict && in.GotN == in.N && in.GotType.Size() == in.Type.Size() {
		return
	}
	c.fail(&fault.Mismatch{
		Place: c.place(fmt.Sprintf("%s(%v)", op, c.wiring.In[port].Dir)),
		Want:  describe(in.Type, in.Shape), Got: describe(in.GotType, in.GotShape), Sender: int(c.wiring.In[port].Peer),
	})
}

// useAfterCredit returns the fault of using a tensor whose slot was returned to the sender.
func (c *Context) useAfterCredit(op string, t *Tensor) error {
	return &fault.UseAfterCredit{
		Place: c.place(op),
		Slot:  c.describeTake(int(t.port), t.seq),
		Ended: c.describeEnd(int(t.port), t.seq),
	}
}

func (c *Context) describeEnd(port int, seq uint32) string {
	if c.lines != nil {
		if e, ok := c.lines.ended[taken{port, seq}]; ok {
			return e.op + " at " + e.call.Text()
		}
	}
	if c.ports[port].taken <= seq+1 {
		return "the receive after it"
	}
	return c.describeTake(port, seq+1)
}

func (c *Context) describeTake(port int, seq uint32) string {
	s := fmt.Sprintf("recv(%v) #%d", c.wiring.In[port].Dir, seq)
	if c.lines != nil {
		s += at(c.lines.taken.at(port, seq))
	}
	return s
}

// at returns " at LINE", or "" if the line is unknown.
func at(line string) string {
	if line == "" {
		return ""
	}
	return " at " + line
}

// Unreceived completes the fault of a launch that ended with messages in a ring. It adds the
// calls of the receiver c and of the sender from. The ring has the numbers port and out there.
func Unreceived(e *fault.Unreceived, c *Context, port int, from *Context, out int) *fault.Unreceived {
	p := &c.ports[port]
	e.Dir, e.Sent = c.wiring.In[port].Dir.String(), fmt.Sprintf("send(%v)", from.wiring.Out[out].Dir)
	if from.lines != nil {
		e.Sent += at(from.lines.sent.at(out, p.taken))
	}
	if p.taken > 0 {
		e.Last = c.describeTake(port, p.taken-1)
	}
	if p.posted > p.taken {
		e.Announced = fmt.Sprintf("recv_async(%s) #%d", e.Dir, p.taken)
		if c.lines != nil {
			e.Announced += at(c.lines.posts[taken{port, p.taken}].Text())
		}
	}
	return e
}

func (c *Context) inPort(d Dir) int {
	i := c.wiring.InIndex(d)
	if i < 0 {
		c.invalidDir(d, false)
	}
	return i
}

func (c *Context) invalidDir(d Dir, sending bool) {
	op, have := "recv", []string{}
	for _, p := range c.wiring.In {
		have = append(have, p.Dir.String())
	}
	if sending {
		op, have = "send", have[:0]
		for _, p := range c.wiring.Out {
			have = append(have, p.Dir.String())
		}
	}
	name := d.String()
	c.fail(&fault.InvalidDirection{Place: c.place(op + "(" + name + ")"), Dir: name, Installed: have, Sending: sending})
}
