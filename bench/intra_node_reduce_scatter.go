package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"kernbench/collective"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// scatterReduce is a reduce-scatter of matrices by the copy engines and two kernels. Every rank's
// copy engine puts some rows into each rank's buffer, a kernel synchronizes all ranks, and a grid
// of programs adds up the rows.
type scatterReduce struct {
	h        *Host
	m, n     int // of each rank's matrix
	bm, bn   int // of a tile
	programs int // of the reduce kernel
	resident int // of them, at the same time
	calls    int
	barrier  bool

	pes     []int32
	chunk   int // elements of a rank's result
	team    *mem.Team
	window  *mem.Window
	streams []*device.Stream // by rank

	in, out, theirs []*Vector // by call
}

func intraNodeReduceScatter(ctx context.Context, h *Host) error {
	s := &scatterReduce{h: h, m: h.Number("m"), n: h.Number("n"), programs: h.Number("programs"),
		calls: h.Number("calls"), barrier: h.Switch("barrier")}
	s.bm, s.bn = h.Extents("tile")
	if h.NElem > 0 {
		return errors.New("the matrices are --m × --n: there is no number per rank to choose")
	}
	plan, err := h.Device.InstallIPCQ(h.Algorithm)
	if err != nil {
		return err
	}
	if got := plan.Algorithm.Collective; got != collective.ReduceScatter.Name {
		return fmt.Errorf("algorithm %s performs %s, not reduce_scatter", plan.Name, got)
	}
	if h.Op != tl.Sum {
		return fmt.Errorf("the reduce kernel adds: it has no %v", h.Op)
	}
	if s.m%plan.World != 0 {
		return fmt.Errorf("--m %d: the rows do not divide among %d ranks", s.m, plan.World)
	}
	if int64(s.m)*int64(s.n) > math.MaxInt32 {
		return fmt.Errorf("--m %d --n %d: more than %d elements", s.m, s.n, math.MaxInt32)
	}
	if err := errors.Join(s.grid(plan.World), h.Device.NeedAtomics()); err != nil {
		return err
	}
	h.Measure() // the library's time is reported separately
	if err := s.prepare(plan.PEs); err != nil {
		return err
	}
	theirs, err := s.library(ctx, plan)
	if err != nil {
		return err
	}
	swizzle := h.Switch("swizzle")
	own, err := s.run(ctx, swizzle, true)
	if err != nil {
		return err
	}
	h.Measure(own)
	if err := s.compare(plan.Name); err != nil {
		return err
	}
	if took := own.Result.Duration(); took > 0 {
		t, err := s.times(ctx, swizzle, took)
		if err != nil {
			return err
		}
		s.report(plan.Name, t, theirs)
	}
	return s.free()
}

// grid computes how many programs reduce, and how many of them a PE can hold. Each has three tiles
// in its share of the scratch memory: the sum so far, the operand, and the next sum.
func (s *scatterReduce) grid(world int) error {
	rows := s.m / world
	tile := unit.Bytes(min(s.bm, rows)) * unit.Bytes(min(s.bn, s.n)) * unit.Bytes(s.h.DType.Size())
	fit := int(s.h.Device.Scratch() / (3 * tile))
	if fit == 0 {
		return fmt.Errorf("--tile %dx%d: three tiles of %v do not fit in the scratch memory of a PE, %v (pe.tcm.scratch)",
			s.bm, s.bn, tile, s.h.Device.Scratch())
	}
	s.resident = min(fit, s.h.Device.Programs())
	if s.programs == 0 && s.h.Switch("persistent") {
		s.programs = s.resident
	}
	if tiles := tl.CDiv(rows, s.bm) * tl.CDiv(s.n, s.bn); s.programs == 0 || s.programs > tiles {
		s.programs = tiles
	}
	return nil
}

// inputs returns the inputs of a call. Those of different calls differ, so that data of one call in
// another are found.
func (s *scatterReduce) inputs(call int) Inputs {
	return Inputs{Seed: s.h.Seed + uint64(call), World: len(s.pes), Type: s.h.DType, Op: tl.Sum}
}

// library performs all calls by an algorithm of the library and returns their time.
func (s *scatterReduce) library(ctx context.Context, plan *device.Plan) (unit.Time, error) {
	var took unit.Time
	for call := range s.calls {
		run, err := s.h.Device.Perform(ctx, plan, tl.Sum, s.in[call].tensors, device.Into(s.theirs[call].tensors...))
		if err != nil {
			return 0, err
		}
		took += run.Result.Duration()
	}
	return took, nil
}

// prepare makes the memory and streams of the calls.
func (s *scatterReduce) prepare(pes []int32) (err error) {
	h := s.h
	s.pes, s.chunk = pes, s.m/len(pes)*s.n
	for call := range s.calls {
		in, err := h.Vector("input", pes, s.m*s.n, func(r int) []float64 { return s.inputs(call).Vector(r, s.m*s.n) })
		if err != nil {
			return err
		}
		out, err := h.Vector("output", pes, s.chunk, nil)
		if err != nil {
			return err
		}
		theirs, err := h.Vector("output of the library", pes, s.chunk, nil)
		if err != nil {
			return err
		}
		s.in, s.out, s.theirs = append(s.in, in), append(s.out, out), append(s.theirs, theirs)
	}
	if s.team, err = h.Device.NewTeam("node", pes); err != nil {
		return err
	}
	if s.window, err = h.Device.NewWindow("scatter", s.team, 0,
		mem.Buffer{Name: "rows", Parts: []mem.Part{mem.DataPart("", h.DType, s.m*s.n)}},
		mem.Buffer{Name: "sync", Parts: []mem.Part{mem.SignalPart("", mem.Int32, len(pes))}}); err != nil {
		return err
	}
	for _, pe := range pes {
		stream, err := h.Device.NewStream(int(pe))
		if err != nil {
			return err
		}
		s.streams = append(s.streams, stream)
	}
	return nil
}

// scatterTimes are the times of all calls, and of their copies alone: rotated, and with all ranks
// starting at rank 0.
type scatterTimes struct{ rotated, straight, copiesRotated, copiesStraight unit.Time }

// times measures the times that are missing. took is the time of the requested calls.
func (s *scatterReduce) times(ctx context.Context, swizzle bool, took unit.Time) (t scatterTimes, err error) {
	if t.straight = took; swizzle {
		t.rotated, t.straight = took, 0
	}
	for _, x := range []struct {
		into            *unit.Time
		swizzle, reduce bool
	}{{&t.rotated, true, true}, {&t.straight, false, true}, {&t.copiesRotated, true, false}, {&t.copiesStraight, false, false}} {
		if *x.into > 0 {
			continue
		}
		run, err := s.run(ctx, x.swizzle, x.reduce)
		if err != nil {
			return t, err
		}
		*x.into = run.Result.Duration()
	}
	return t, nil
}

// run does all calls at once, with or without the reduce kernel.
func (s *scatterReduce) run(ctx context.Context, swizzle, reduce bool) (*device.Launched, error) {
	for call := range s.calls {
		for r := range s.pes {
			if err := s.call(call, r, swizzle, reduce); err != nil {
				return nil, err
			}
		}
	}
	if err := s.h.Device.Synchronize(ctx); err != nil {
		return nil, err
	}
	launches := s.h.Device.Launches()
	return launches[len(launches)-1], nil
}

// call queues one reduce-scatter on a rank's stream.
//
// The caller must synchronize all ranks first. Otherwise a late rank may still add up rows of the
// previous call while the copies of this call overwrite them. With barrier it
// synchronizes them itself.
func (s *scatterReduce) call(call, rank int, swizzle, reduce bool) error {
	stream, world := s.streams[rank], len(s.pes)
	meet := func() error {
		return stream.Launch("barrier_all", casBarrier, device.Grid{Programs: 1, Team: s.team}, s.window)
	}
	if s.barrier {
		if err := meet(); err != nil {
			return err
		}
	}
	rows, own := s.m/world, s.in[call].On(rank).Matrix(s.m, s.n)
	for i := range world {
		to := i
		if swizzle { // in each round every rank receives from one other rank
			to = (rank + i + 1) % world
		}
		there := device.InWindow(s.window, to, "rows").Matrix(s.m, s.n)
		if err := stream.Copy(there.Rows(rank*rows, rows), own.Rows(to*rows, rows)); err != nil {
			return err
		}
	}
	if err := meet(); err != nil || !reduce {
		return err
	}
	return stream.Launch("ring_reduce", ringReduce, device.Grid{Programs: s.programs, Resident: s.resident, Team: s.team},
		s.window, s.out[call].tensors, s.m, s.n, s.bm, s.bn)
}

// casBarrier holds all members of a team until all have arrived. Its words are zero again
// afterwards. Each rank sets its word at every member as soon as the member has reset the previous
// one, and resets the words that others set.
func casBarrier(c *tl.Context, a tl.Args) {
	sync := c.Signals(a.Window(0), "sync")
	me := c.Rank()
	for peer := range c.WorldSize() {
		for c.CompareSwap(sync.At(me), peer, 0, 1) != 0 {
		}
	}
	for peer := range c.WorldSize() {
		for c.CompareSwap(sync.At(peer), me, 1, 0) != 1 {
		}
	}
}

// ringReduce adds up the parts of all ranks, tile by tile, beginning with the part of the next
// rank. Rank r's result is x[r+1] + x[r+2] + ... + x[r], rounded to the element type after each
// addition. Programs share out the tiles. It has the numbers rows and columns of the matrix and of
// a tile.
func ringReduce(c *tl.Context, a tl.Args) {
	m, n, bm, bn := a.Int(0), a.Int(1), a.Int(2), a.Int(3)
	me, world := c.Rank(), c.WorldSize()
	rows := m / world
	parts := c.Desc(c.Local(c.Data(a.Window(0), "rows")), m, n, bm, bn)
	out := c.Desc(part(c, a.Tensors, me, rows*n), rows, n, bm, bn)
	down, across := out.Blocks()
	for tile := c.ProgramID(0); tile < down*across; tile += c.NumPrograms(0) {
		row, col := tile/across*bm, tile%across*bn
		load := func(i int) tl.Tensor {
			from := (me + 1 + i) % world
			return c.LoadTile(parts.Sub(from*rows, rows), row, col)
		}
		sum := load(0)
		for i := 1; i < world; i++ {
			x := load(i)
			next := c.Add(sum, x)
			c.Free(sum)
			c.Free(x)
			sum = next
		}
		c.StoreTile(out, row, col, sum)
		c.Free(sum)
	}
}

// compare compares the results with those of the library. Both have N-1 roundings of partial
// sums, in different orders, so that they differ by no more than 2 (N-1) u sum|x| (Higham, eq.
// 4.4).
func (s *scatterReduce) compare(library string) error {
	if !s.h.Device.HasData() {
		return nil
	}
	world := len(s.pes)
	for call := range s.calls {
		inputs := s.inputs(call)
		for r := range s.pes {
			got, err := s.out[call].Read(r)
			if err != nil {
				return err
			}
			want, err := s.theirs[call].Read(r)
			if err != nil {
				return err
			}
			bound := make([]float64, len(want))
			for from := range world {
				for i := range bound {
					bound[i] += math.Abs(inputs.At(from, r*len(bound)+i))
				}
			}
			for i := range bound {
				bound[i] *= 2 * float64(world-1) * dtype.Epsilon(s.h.DType)
			}
			s.h.Expect(fmt.Sprintf("call %d, rank %d, beside %s", call, r, library), got, want, bound)
		}
	}
	return nil
}

func (s *scatterReduce) report(library string, t scatterTimes, theirs unit.Time) {
	bytes := unit.Bytes(s.m) * unit.Bytes(s.n) * unit.Bytes(s.h.DType.Size())
	s.h.Report("reduce-scatter of %d × %d %v, %v on each of %d ranks:", s.m, s.n, s.h.DType, bytes, len(s.pes))
	per := ""
	if s.calls > 1 {
		per = fmt.Sprintf(" for %d calls", s.calls)
	}
	gain := func(with, without unit.Time) float64 { return float64(without) / float64(with) }
	s.h.Report("  copy engines and reduce kernel, rotated  %v%s", t.rotated, per)
	s.h.Report("  the same, all ranks starting at rank 0   %v%s: the rotation is worth a factor of %.3g", t.straight,
		per, gain(t.rotated, t.straight))
	s.h.Report("  the copies alone, rotated                %v%s", t.copiesRotated, per)
	s.h.Report("  the copies alone, starting at rank 0     %v%s: a factor of %.3g", t.copiesStraight, per,
		gain(t.copiesRotated, t.copiesStraight))
	s.h.Report("  %-40s %v", library, theirs)
}

func (s *scatterReduce) free() error {
	var errs []error
	for _, stream := range s.streams {
		errs = append(errs, stream.Free())
	}
	errs = append(errs, s.h.Device.FreeWindow(s.window), s.h.Device.FreeTeam(s.team))
	for call := range s.calls {
		errs = append(errs, s.in[call].Free(), s.out[call].Free(), s.theirs[call].Free())
	}
	return errors.Join(errs...)
}

// IntraNodeReduceScatter is the reduce-scatter by copy engines.
var IntraNodeReduceScatter = Register(Program{
	Name:        "intra_node_reduce_scatter",
	Summary:     "reduce-scatter by copy engines, a barrier of compare-and-swaps and a tiled reduce kernel, on streams; compared with the library's",
	Algorithm:   "window_reduce_scatter",
	Collectives: true,
	Ranks:       4,
	DType:       dtype.BF16,
	Options: []Option{
		{Name: "m", Kind: Number, Default: "1024", Min: 1, Help: "rows of each rank's matrix"},
		{Name: "n", Kind: Number, Default: "2048", Min: 1, Help: "columns"},
		{Name: "tile", Kind: Extents, Default: "256x64", Help: "block that a program reduces at a time"},
		{Name: "persistent", Kind: Switch, Default: "false",
			Help: "start as many programs of the reduce kernel as fit on a PE, and divide the tiles among them; false: one program for each tile"},
		{Name: "programs", Kind: Number, Default: "0", Max: 1 << 24,
			Help: "number of programs that divide the tiles among them; 0: as --persistent says"},
		{Name: "swizzle", Kind: Switch, Default: "true", Help: "each rank starts its copies at the next rank; false: all start at rank 0"},
		{Name: "calls", Kind: Number, Default: "1", Min: 1, Max: 64, Help: "reduce-scatters, one right after the other"},
		{Name: "barrier", Kind: Switch, Default: "false", Help: "all ranks meet before each call; calls right after each other need it"},
	},
	Run: intraNodeReduceScatter,
})
