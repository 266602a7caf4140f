package device

import (
	"errors"
	"fmt"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// accumulation is a collective with partial sums of another type than its elements (accumulate:
// f32). Its kernel works on copies of that type, in memory of their own. Before the kernel each
// rank converts its contribution, and after it rounds its result once. So partial sums have that
// type in messages, slots and windows, whatever the algorithm is.
type accumulation struct {
	typ    dtype.Type
	kernel tl.Kernel
	on     map[*mem.Window]tl.Args // the kernel arguments of each group
}

// accumulation returns the accumulation of a call, or nil if partial sums have the type of the
// elements.
func (p *Plan) accumulation(what *collective.Collective, c collective.Call) *accumulation {
	const wide = dtype.F32
	rounds := c.Op == tl.Sum || c.Op == tl.Avg || c.Op == tl.Prod
	if p.Config.Accumulate != "f32" || !what.Reduces || !rounds || !c.Type.IsFloat() || c.Type.Size() >= wide.Size() {
		return nil
	}
	return &accumulation{wide, p.Algorithm.Kernel, map[*mem.Window]tl.Args{}}
}

// call returns a group of ranks as the kernel sees it.
func (a *accumulation) call(g CallGroup) CallGroup {
	if a != nil {
		g.Call.Type = a.typ
	}
	return g
}

// stage allocates the copies of a group. Its window is the last argument of the kernel.
func (c *Context) stage(a *accumulation, name string, g *CallGroup, group *launch.Group) (*mem.Window, error) {
	args := group.Args
	most := 0
	for _, n := range args.OutElems {
		most = max(most, n)
	}
	parts := []mem.Part{mem.StagingPart("in", a.typ, max(1, args.NElem))}
	if args.Outs != nil {
		parts = append(parts, mem.StagingPart("out", a.typ, max(1, most)))
	}
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: a.typ.String(), Parts: parts}})
	if err != nil {
		return nil, err
	}
	team, err := c.team(name, g.PEs)
	if err != nil {
		return nil, err
	}
	w, err := c.window(name, team, l)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("space for partial sums in %v: %w", a.typ, err), c.release(team.Meeting))
	}
	args.DType, args.Shards = a.typ, a.addresses(w, 0)
	if args.Outs != nil {
		args.Outs = a.addresses(w, 1)
	}
	a.on[w] = args
	group.Args.Windows = append(group.Args.Windows[:len(args.Windows):len(args.Windows)], w)
	return w, nil
}

// addresses returns the addresses of a part in all copies of a window.
func (a *accumulation) addresses(w *mem.Window, part int) []mem.Addr {
	at := make([]mem.Addr, w.Team.Size())
	for r := range at {
		at[r] = partAddr(w, r, &w.Layout.Parts[part], 0)
	}
	return at
}

// run performs the kernel, with a conversion before and after it.
func (a *accumulation) run(what *collective.Collective, root int) tl.Kernel {
	return func(c *tl.Context, args tl.Args) {
		me, wide := c.Rank(), a.on[args.Windows[len(args.Windows)-1]]
		call := collective.Call{World: c.WorldSize(), Elems: args.NElem, Type: args.DType, Op: args.Op, Root: root}
		convert(c, wide.Shard(me).Slice(0, what.In(call, me)), args.Shard(me))
		c.PipeBarrier() // before any rank is notified
		a.kernel(c, wide)
		c.PipeBarrier()
		if n := what.Out(call, me); n > 0 {
			convert(c, args.Out(me, n), wide.Out(me, n))
		}
	}
}

// castBytes is the number of bytes of the wider type in a PE's scratch memory at a time.
const castBytes = 8 << 10

// convert copies the elements of dst from src, which are of another type. Each tile is fetched
// while the one before is converted.
func convert(c *tl.Context, dst, src tl.Ref) {
	per := castBytes / max(dst.DType.Size(), src.DType.Size())
	tile := func(lo int) tl.Tensor { return c.Load(src.Slice(lo, min(per, dst.Len()-lo))) }
	if dst.Len() == 0 {
		return
	}
	next := tile(0)
	for lo := 0; lo < dst.Len(); lo += per {
		part := next
		if lo+per < dst.Len() {
			next = tile(lo + per)
		}
		c.Store(dst.Slice(lo, part.Len()), c.Convert(part, dst.DType))
	}
}
