package program

import (
	"context"
	"fmt"

	"kernbench/mem"
	"kernbench/tl"
)

// guard stops kernels that cannot be recorded.
type guard struct {
	opts    Options
	ctx     context.Context
	tl      *tl.Context
	slice   mem.Addr // first byte of the rank's HBM slice
	stopped error    // why the kernel was abandoned
}

// checkEvery is the number of operations between two checks of the context.
const checkEvery = 1 << 12

// checkContext stops the kernel if the recording was cancelled.
func (g *guard) checkContext() {
	if err := g.cancelled(); err != nil {
		g.stop(err)
	}
}

func (g *guard) cancelled() error {
	if err := g.ctx.Err(); err != nil {
		return fmt.Errorf("stopped while kernels were recorded: %w", err)
	}
	return nil
}

// allow refuses instructions that cannot be recorded.
func (g *guard) allow(in *tl.Instr) {
	if what := Asks(in); what != "" {
		g.refuse(in, "asks ("+what+")")
	}
	switch in.Op {
	case tl.OpComposite, tl.OpAwait, tl.OpTask, tl.OpBeginTurn, tl.OpEndTurn, tl.OpMeet:
		g.refuse(in, "uses "+in.Op.String()+", which is not an operation of a program")
	}
	if g.opts.Own == 0 {
		return
	}
	switch in.Op {
	case tl.OpLoad, tl.OpStore, tl.OpMath, tl.OpGemm, tl.OpRecvAsync:
	case tl.OpSend:
		if in.Channels > 0 {
			g.refuse(in, "names the channels of a message")
		}
	case tl.OpRecv:
		if in.Copy && in.Dst == tl.None {
			g.refuse(in, "receives into memory")
		}
	default:
		g.refuse(in, "uses "+in.Op.String())
	}
}

// offset returns the offset of an access in the rank's HBM slice. It refuses accesses to other
// memory.
func (g *guard) offset(in *tl.Instr) mem.Addr {
	off := in.Addr - g.slice
	own, bytes := min(mem.Addr(g.opts.Own), mem.MaxOffset+1), mem.Addr(span(in))
	if own > 0 && (bytes > own || off > own-bytes) {
		g.refuse(in, "accesses memory other than the PE's own HBM slice")
	}
	return off
}

// span returns the memory from the first to the last byte of an access.
func span(in *tl.Instr) int64 {
	if in.Rows == 0 {
		return in.Bytes()
	}
	return int64(in.Rows-1)*in.Pitch + in.Bytes()/int64(in.Rows)
}

// refuse ends a kernel that cannot be recorded. It does not return.
func (g *guard) refuse(in *tl.Instr, reason string) {
	g.stop(&Refusal{Place: tl.DriverOf(g.tl).Place(in.Op.String()), Reason: reason})
}

// stop ends the kernel. It does not return.
func (g *guard) stop(err error) {
	g.stopped = err
	tl.DriverOf(g.tl).Abandon()
}

// fillReceive sets the results of a receive to its requested port, shape and type.
func fillReceive(in *tl.Instr) {
	in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
}
