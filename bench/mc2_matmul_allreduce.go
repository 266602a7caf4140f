package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/tl"
	"kernbench/unit"
)

// rowsAtOnce is the number of rows of the left operand that a core multiplies at a time.
const rowsAtOnce = 32

// mc2 is a matrix product of which each device has a slice of the inner extent. Its partial
// products are added up over all devices in tiles of rows. Each tile is in flight while the next
// one is computed.
type mc2 struct {
	t       *tasks // with communication
	silent  *tasks // without communication
	h       *Host
	m, n, k int
	a, b    *Vector // of each device: m × k and k × n
	c       *Vector // sums of partial products
	whole   *Vector // the same, unfused
}

// parts selects the work of a run of the kernel.
type parts struct{ compute, communicate bool }

func mc2MatmulAllReduce(ctx context.Context, h *Host) (err error) {
	x := &mc2{h: h, m: h.Number("m"), n: h.Number("n"), k: h.Number("k")}
	if h.NElem > 0 {
		return errors.New("the product is --m × --n: there is no number per rank to choose")
	}
	if h.Op != tl.Sum {
		return fmt.Errorf("--op %v: partial products are added up", h.Op)
	}
	if int64(x.m)*int64(max(x.n, x.k)) > math.MaxInt32 || int64(x.k)*int64(x.n) > math.MaxInt32 {
		return fmt.Errorf("--m %d --n %d --k %d: a matrix has at most %d elements", x.m, x.n, x.k, math.MaxInt32)
	}
	// Two pairs of rows: while one is multiplied, the next is loaded and the last is stored.
	need := unit.Bytes(x.k*x.n+2*rowsAtOnce*(x.k+x.n)) * unit.Bytes(h.DType.Size())
	if have := h.Device.Scratch(); need > have {
		return fmt.Errorf("--n %d --k %d: the right operand and some rows take %v, and the scratch memory of a PE is %v (pe.tcm.scratch)",
			x.n, x.k, need, have)
	}
	most := min(h.Number("tiles"), x.m)
	cores := hccl.Cores{AIC: 1}
	if x.t, err = h.tasks("mc2_matmul_allreduce", hccl.OpAllReduce, cores, nil); err != nil {
		return err
	}
	if x.silent, err = x.t.silently(); err != nil {
		return err
	}
	if err := x.allocate(); err != nil {
		return err
	}
	unfused, err := x.run(ctx, splits{{n: x.m, repeat: 1}}, parts{true, true}, x.whole)
	if err != nil {
		return err
	}
	var best *device.Launched
	var rows []overlap
	for tiles := 1; ; tiles = min(2*tiles, most) {
		split, err := tilesOf(x.m, tl.CDiv(x.m, tiles))
		if err != nil {
			return err
		}
		row := overlap{tiles: split.turns()} // fewer than requested, where rows do not divide evenly
		run, err := x.run(ctx, split, parts{true, true}, x.c)
		if err != nil {
			return err
		}
		if best == nil || run.Result.Duration() < best.Result.Duration() {
			best = run
		}
		if err := x.t.agree(fmt.Sprintf("%d tiles against one", row.tiles), x.c, x.whole); err != nil {
			return err
		}
		if row.fused = run.Result.Duration(); row.fused > 0 {
			if row.compute, err = x.time(ctx, split, parts{compute: true}); err != nil {
				return err
			}
			if row.communication, err = x.time(ctx, split, parts{communicate: true}); err != nil {
				return err
			}
		}
		rows = append(rows, row)
		if tiles == most {
			break
		}
	}
	h.Measure(best)
	x.report(unfused.Result.Duration(), rows)
	return errors.Join(x.t.free(), freeAll(slices.Concat(x.a.tensors, x.b.tensors, x.c.tensors, x.whole.tensors)...))
}

// silently returns the same group with a tiling whose tasks move no data.
func (t *tasks) silently() (*tasks, error) {
	s := *t
	s.tiling = hccl.NewTiling()
	cc := hccl.NewCcTiling("world", hccl.OpAllReduce, t.h.alg(hccl.OpAllReduce))
	cc.SetDebugMode(1)
	s.tiling.AddInit()
	s.offset, _ = s.tiling.AddCc(cc)
	return &s, s.tiling.Err()
}

// allocate makes the matrices. The numbers are small and whole, and so few elements of A
// are not 0 that all sums are exact in any order.
func (x *mc2) allocate() (err error) {
	every := 1 + int(float64(x.k*len(x.t.pes))/exactTo(x.h.DType))
	number := func(i, by, rank int) float64 { return float64((i*by+i/7+rank+int(x.h.Seed%7))%3 - 1) }
	left := func(rank int) []float64 {
		v := make([]float64, x.m*x.k)
		for i := range v {
			if i%x.k%every == 0 {
				v[i] = number(i, 5, rank)
			}
		}
		return v
	}
	right := func(rank int) []float64 {
		v := make([]float64, x.k*x.n)
		for i := range v {
			v[i] = number(i, 11, rank)
		}
		return v
	}
	if x.a, err = x.h.Vector("a", x.t.pes, x.m*x.k, left); err != nil {
		return err
	}
	if x.b, err = x.h.Vector("b", x.t.pes, x.k*x.n, right); err != nil {
		return err
	}
	if x.c, err = x.h.Vector("c", x.t.pes, x.m*x.n, nil); err != nil {
		return err
	}
	x.whole, err = x.h.Vector("c, unfused", x.t.pes, x.m*x.n, nil)
	return err
}

// time returns the time of a part of the work alone.
func (x *mc2) time(ctx context.Context, split splits, p parts) (unit.Time, error) {
	run, err := x.run(ctx, split, p, x.c)
	if err != nil {
		return 0, err
	}
	return run.Result.Duration(), nil
}

// run computes in tiles of rows, of which the last may be smaller and has a task of its own.
func (x *mc2) run(ctx context.Context, split splits, p parts, out *Vector) (*device.Launched, error) {
	t := x.t
	if !p.communicate {
		t = x.silent
	}
	return t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		a, b, c := k.Buffer(0), k.Buffer(1), k.Buffer(2)
		var work *product
		if p.compute {
			work = x.multiplies(k, split, a, b, c)
		}
		ids := make([]hccl.Handle, len(split))
		for i, s := range split {
			at := c.Slice(s.lo*x.n, 0).Addr
			ids[i] = o.AllReduce(hccl.CommitLater, at, at, uint64(s.n*x.n), t.typ, t.op, s.repeat)
		}
		for i, s := range split {
			for turn := range int(s.repeat) {
				if p.compute {
					work.until(s.lo + (turn+1)*s.n)
				}
				o.Commit(ids[i])
			}
		}
	}, x.a, x.b, out)
}

// product is the work of one core, in blocks of rows. It is double-buffered: while a block is
// multiplied, the rows of the next block are loaded and the previous product is stored. The right
// operand stays in the core's memory.
type product struct {
	x      *mc2
	k      *hccl.Kernel
	a, c   tl.Ref
	right  tl.Tensor
	left   tl.Tensor // rows of the next block
	blocks []split   // blocks that follow
}

// multiplies makes the work of a core that computes in some tiles, and starts the first load.
func (x *mc2) multiplies(k *hccl.Kernel, tiles splits, a, b, c tl.Ref) *product {
	b.Shape = tl.Dims(x.k, x.n)
	p := &product{x: x, k: k, a: a, c: c, right: k.Load(b)}
	k.Pin(p.right)
	for _, t := range tiles {
		for turn := range int(t.repeat) {
			for lo := 0; lo < t.n; lo += rowsAtOnce {
				p.blocks = append(p.blocks, split{lo: t.lo + turn*t.n + lo, n: min(rowsAtOnce, t.n-lo)})
			}
		}
	}
	p.load()
	return p
}

// load starts the load of the next block.
func (p *product) load() {
	if len(p.blocks) > 0 {
		b := p.blocks[0]
		p.left = p.k.Load(p.a.Slice(b.lo*p.x.k, b.n*p.x.k)).Reshape(b.n, p.x.k)
	}
}

// until multiplies all blocks before a row.
func (p *product) until(row int) {
	for len(p.blocks) > 0 && p.blocks[0].lo < row {
		b := p.blocks[0]
		rows := p.k.Dot(p.left, p.right)
		p.blocks = p.blocks[1:]
		p.load()
		p.k.Store(p.c.Slice(b.lo*p.x.n, b.n*p.x.n), rows.Reshape(b.n*p.x.n))
	}
}

// overlap has the times for a number of tiles.
type overlap struct {
	tiles                         int
	compute, communication, fused unit.Time
}

// exposed returns the communication time that computing does not hide.
func (o *overlap) exposed() unit.Time { return o.fused - o.compute }

// efficiency returns the part of the possible overlap that was reached. It is 1 when the shorter
// of the two is hidden completely, and 0 when one waits for the other.
func (o *overlap) efficiency() float64 {
	return float64(o.compute+o.communication-o.fused) / float64(min(o.compute, o.communication))
}

func (x *mc2) report(unfused unit.Time, rows []overlap) {
	h := x.h
	h.Report("C = A B on %d ranks, A %d × %d and B %d × %d %v on each, partial products added up by %s:",
		len(x.t.pes), x.m, x.k, x.k, x.n, h.DType, h.alg(hccl.OpAllReduce))
	if unfused == 0 {
		h.Report("  without a clock there are no times%s", withClock())
		return
	}
	h.Report("  unfused: compute, then communicate  %v", unfused)
	h.Report("  %5s %12s %14s %12s %12s %11s %12s %8s", "tiles", "compute", "communication", "fused", "exposed",
		"efficiency", "bound", "speed-up")
	for i := range rows {
		o := &rows[i]
		h.Report("  %5d %12v %14v %12v %12v %10.1f%% %12v %8.2f", o.tiles, o.compute, o.communication, o.fused, o.exposed(),
			100*o.efficiency(), max(o.compute, o.communication), float64(unfused)/float64(o.fused))
	}
	h.Report("  compute: tasks that move nothing; communication: no products; exposed: fused less compute; efficiency: the")
	h.Report("  hidden part of what could be hidden; bound: the longer of compute and communication, with as many tiles")
}

// withClock names the executor with a clock.
func withClock() string {
	for _, r := range exec.All() {
		if r.Can(exec.Clock) {
			return fmt.Sprintf(": -p %s has them", r.Name)
		}
	}
	return ""
}

// MC2MatmulAllReduce is a product fused with the all-reduce of its tiles.
var MC2MatmulAllReduce = Register(Program{
	Name:     "mc2_matmul_allreduce",
	Summary:  "task API: a tiled matrix product whose tiles are all-reduced while the next are computed, for a sweep of tile counts",
	Parallel: true,
	Ranks:    4,
	DType:    dtype.F16,
	Options: []Option{
		algOption(hccl.OpAllReduce),
		{Name: "m", Kind: Number, Default: "512", Min: 1, Max: 1 << 20, Help: "rows of the product"},
		{Name: "n", Kind: Number, Default: "512", Min: 1, Max: 1 << 20, Help: "columns of the product"},
		{Name: "k", Kind: Number, Default: "256", Min: 1, Max: 1 << 20, Help: "inner extent on each rank"},
		{Name: "tiles", Kind: Number, Default: "32", Min: 1, Max: 255, Help: "most tiles: 1, 2, 4, ... of them are tried"},
	},
	Run: mc2MatmulAllReduce,
})
