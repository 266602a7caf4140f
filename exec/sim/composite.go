package sim

import (
	"kernbench/des"
	"kernbench/hw/dma"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// pipeline is a composite in progress. Steps are tiles in the order (row, column, depth). The
// operands of up to two steps are in the PE or in flight. So a step's product is computed while the
// operands of the next arrive.
type pipeline struct {
	r        *rank
	p        *tl.Pipe
	cell     int32
	gen      uint32
	value    tl.Value // of the output
	rows     tiling
	cols     tiling
	depth    tiling
	loaded   [2]int32    // cells of operands that are in the PE already, or None
	reads    [2]transfer // of operands that lie in ring slots
	steps    int
	asked    int    // steps whose operands have been requested
	computed int    // steps whose product is booked
	missing  [2]int // operands that have not arrived, by step modulo 2
	outputs  int    // tiles of the output that are not stored yet
	turn     int32  // collective that it is part of, or 0
}

// tiling cuts n into tiles.
type tiling struct{ n, tile int }

func (t tiling) count() int     { return (t.n + t.tile - 1) / t.tile }
func (t tiling) size(i int) int { return min(t.tile, t.n-i*t.tile) }

// composite starts a pipeline. It reads what this PE's earlier stores have written, so it
// waits for them.
func (r *rank) composite(in *tl.Instr) {
	p, e := in.Pipe, r.run.e
	dst := in.Dst
	if in.A == tl.None {
		r.address("composite", p.A.Addr, p.A.Bytes())
	}
	if p.Gemm && in.B == tl.None {
		r.address("composite", p.B.Addr, p.B.Bytes())
	}
	r.address("composite", p.Out.Addr, p.Out.Bytes())
	r.operand(in.A)
	r.operand(in.B)
	for _, b := range p.BiasCell {
		r.operand(b)
	}
	r.sync()
	for r.inFlight > 0 {
		r.park(forDrain)
	}
	g := &e.spec.GEMM
	q := &pipeline{r: r, p: p, turn: r.turn, loaded: [2]int32{in.A, in.B}, cell: dst,
		gen: tl.DriverOf(r.ctx).Cell(dst).Gen(), rows: tiling{p.M, g.TileM}, cols: tiling{p.N, g.TileN}, depth: tiling{p.K, g.TileK}}
	if !p.Gemm {
		q.cols.tile = max(1, int(e.topo.Fabric().MessageBytes)/p.Type.Size())
	}
	q.steps = q.rows.count() * q.cols.count() * q.depth.count()
	q.outputs = q.rows.count() * q.cols.count()
	tl.DriverOf(r.ctx).Cell(dst).Waiting++
	if log := r.run.log; log != nil {
		q.value = log.Composite(r.origin(), in, r.ctx)
	}
	for i, cell := range q.loaded {
		if q.reads[i].slot = -1; cell != tl.None {
			r.noteRead(cell, &q.reads[i])
		}
	}
	r.composites++
	q.ask(r.Clock)
	q.ask(r.Clock)
}

// tile returns the sizes of a step.
func (q *pipeline) tile(step int) (m, k, n int) {
	kc, nc := q.depth.count(), q.cols.count()
	return q.rows.size(step / kc / nc), q.depth.size(step % kc), q.cols.size(step / kc % nc)
}

// ask starts the transfer of the next step's operands.
func (q *pipeline) ask(at unit.Time) {
	if q.asked == q.steps {
		return
	}
	m, k, n := q.tile(q.asked)
	size := int64(q.p.Type.Size())
	setup := q.r.run.e.spec.DMA.Setup
	q.missing[q.asked%2] = 0
	if q.loaded[0] == tl.None {
		elems := m * k
		if !q.p.Gemm {
			elems = n
		}
		q.operand(at+setup, q.p.A.Addr, int64(elems)*size)
	}
	if q.p.Gemm && q.loaded[1] == tl.None {
		q.operand(at+setup, q.p.B.Addr, int64(k*n)*size)
	}
	if q.missing[q.asked%2] == 0 {
		q.inPE(at)
	}
	q.asked++
}

// inPE starts a step at a time, since its operands need no transfer.
func (q *pipeline) inPE(at unit.Time) {
	r := q.r
	q.missing[q.asked%2]++
	t := transfer{kind: transferStep, rank: r.id, cell: tl.None, slot: -1, at: at, pipe: q, off: int32(q.asked)}
	r.begin(at, noc.Route{}, noc.Compute, 0, r.run.xfers.Put(&t), r.nextKey(des.Arrive, seqPipe))
}

// operand starts the transfer of a tile.
func (q *pipeline) operand(at unit.Time, a mem.Addr, bytes int64) {
	r := q.r
	q.missing[q.asked%2]++
	r.engines.DMA.Enter(dma.Compute)
	t := transfer{kind: transferTile, rank: r.id, cell: tl.None, slot: -1, addr: a, bytes: bytes, at: at, pipe: q, off: int32(q.asked)}
	r.ask(at, &t, transferRequestTile, seqPipe)
}

// arrived: an operand of a step has come in. Products are computed in order.
func (q *pipeline) arrived(step int, now unit.Time) {
	q.missing[step%2]--
	for q.computed < q.asked && q.missing[q.computed%2] == 0 {
		q.compute(now)
	}
}

// compute books the product of the next step, and its epilogue.
func (q *pipeline) compute(now unit.Time) {
	r, spec := q.r, q.r.run.e.spec
	step := q.computed
	m, k, n := q.tile(step)
	end := now
	if q.p.Gemm {
		d := spec.GEMM.Blocks(m, k, n)
		if step == 0 {
			d += spec.GEMM.Setup
		}
		var start unit.Time
		start, end = r.engines.Units[pe.GEMM].Book(now, d)
		q.works(pe.GEMM, start, end)
		r.emitSpan(trace.Gemm, start, end, int64(m*n*q.p.Type.Size()), nil)
		if step == q.steps-1 {
			q.giveBack(end)
		}
	}
	end = q.epilogue(tl.PerKTile, m*n, end)
	q.missing[step%2] = -1 // until asked for again
	q.computed++
	q.ask(end)
	if (step+1)%q.depth.count() != 0 {
		return
	}
	end = q.epilogue(tl.PerOutputTile, m*n, end)
	r.engines.DMA.Enter(dma.Compute)
	t := transfer{kind: transferOutput, rank: r.id, cell: tl.None, slot: -1, addr: q.p.Out.Addr,
		bytes: int64(m*n) * int64(q.p.Type.Size()), at: end, pipe: q}
	i := r.run.xfers.Put(&t)
	r.begin(end+spec.DMA.Setup, r.toMemory(t.addr), noc.Compute, t.bytes, i, r.nextKey(des.Arrive, seqPipe))
}

// epilogue books the steps of a scope on the vector unit.
func (q *pipeline) epilogue(s tl.Scope, n int, at unit.Time) unit.Time {
	r := q.r
	for i := range q.p.Epilogue {
		if q.p.Epilogue[i].Scope != s {
			continue
		}
		var start unit.Time
		start, at = r.engines.Units[pe.Math].Book(at, r.run.e.spec.Math.Time(n))
		q.works(pe.Math, start, at)
		r.emitSpan(trace.Math, start, at, int64(n*q.p.Type.Size()), nil)
	}
	return at
}

// stored: a tile of the output is visible. With the last one the composite is complete.
func (q *pipeline) stored(now unit.Time) {
	if q.outputs--; q.outputs > 0 {
		return
	}
	r := q.r
	if log := r.run.log; log != nil {
		o := r.originAt(now)
		o.Turn = q.turn
		log.Store(o, q.p.Out.Addr, q.value, 0, q.p.M*q.p.N, q.p.Type)
		log.Release(q.value)
	}
	r.composites--
	r.Completed(now)
	r.transferEnded()
	r.filled(&transfer{cell: q.cell, gen: q.gen}, now)
	if r.wait == forDrain {
		r.wake(now)
		return
	}
	r.progress(0, now)
}

// giveBack ends the reads of ring slots.
func (q *pipeline) giveBack(end unit.Time) {
	for i := range q.reads {
		if t := &q.reads[i]; t.slot >= 0 {
			q.r.rx[t.rx].slots[t.slot].EndRead(end)
			q.r.giveCredits(int(t.rx))
		}
	}
}
