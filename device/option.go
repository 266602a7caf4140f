package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// Option is an option of a collective: an argument of Perform, or of Launch.
type Option func(c *Context, a *arguments) error

// Into sets separate tensors for the results; the contributions stay unchanged. Each rank's result
// goes into its PE's shard of them, which may be larger than the result. A rank without a result
// needs no shard. The former contents of those shards are lost.
func Into(results ...*Tensor) Option {
	return func(c *Context, a *arguments) error {
		if a.outs != nil || len(results) == 0 {
			return fmt.Errorf("%w: Into: it is given once, with the tensors of the results", ErrLaunch)
		}
		for _, t := range results {
			if err := t.usable(c); err != nil {
				return fmt.Errorf("Into: %w", err)
			}
		}
		a.outs = slices.Clone(results)
		return nil
	}
}

// Root sets the root of a collective. The default is the first of the kernel's numbers.
func Root(rank int) Option {
	return func(_ *Context, a *arguments) error {
		if a.rootRank != nil {
			return fmt.Errorf("%w: Root: it is given once", ErrLaunch)
		}
		a.rootRank = &rank
		return nil
	}
}

// sortOutPlain is sortOut for kernels that perform no collective.
func (c *Context) sortOutPlain(name string, args []any) (*arguments, error) {
	a, err := c.sortOut(name, args)
	if err == nil && (a.outs != nil || a.rootRank != nil) {
		return nil, fmt.Errorf("launch %s: %w: Into and Root are for collectives: pass the tensor, or the number, itself", name, ErrLaunch)
	}
	return a, err
}

// root finds out the root of a collective, which is the first of its kernel's numbers.
func (a *arguments) root(what *collective.Collective, args *tl.Args, cc *collective.Call) error {
	switch {
	case !what.Rooted && a.rootRank != nil:
		return fmt.Errorf("%w: Root(%d): %s has no root", ErrLaunch, *a.rootRank, what.Name)
	case !what.Rooted:
		return nil
	}
	args.Ints = slices.Clone(args.Ints)
	switch {
	case len(args.Ints) == 0:
		args.Ints = []int{0}
	case a.hasInt && a.rootRank != nil && args.Ints[0] != *a.rootRank:
		return fmt.Errorf("%w: Root(%d): the first number is %d, which is the root too: give one of the two", ErrLaunch, *a.rootRank, args.Ints[0])
	}
	if a.rootRank != nil {
		args.Ints[0] = *a.rootRank
	}
	cc.Root = args.Ints[0]
	return nil
}

// results returns the addresses of separate results by rank.
func (c *Context) results(a *arguments, cg *CallGroup, args *tl.Args) error {
	if a.outs == nil {
		return nil
	}
	if a.outAt == nil {
		if err := a.placeOuts(c); err != nil {
			return err
		}
	}
	cg.OutAddrs = make([]mem.Addr, len(cg.PEs))
	args.Outs, args.OutElems = make([]mem.Addr, len(cg.PEs)), make([]int, len(cg.PEs))
	for r, pe := range cg.PEs {
		if s, ok := a.outAt[pe]; ok {
			cg.OutAddrs[r], args.Outs[r], args.OutElems[r] = s.Addr, s.address(a.outReplicated), s.Region.Elems()
		}
	}
	return nil
}

// placeOuts records the shards of the results by PE.
func (a *arguments) placeOuts(c *Context) error {
	var errs []error
	a.outAt = map[int32]Shard{}
	for _, t := range a.outs {
		switch {
		case t.dtype != a.DType:
			errs = append(errs, fmt.Errorf("%w: result %s is %v, the contributions are %v", ErrShape, t.name, t.dtype, a.DType))
		case slices.Contains(a.lead, t):
			errs = append(errs, fmt.Errorf("%w: %s is contribution and result: give another tensor, or leave Into out", ErrLaunch, t.name))
		}
		a.outReplicated = a.outReplicated || t.replicated
		for _, s := range t.shards {
			if _, twice := a.outAt[int32(s.Rank)]; twice {
				errs = append(errs, fmt.Errorf("%w: two results on %s", ErrShape, c.cfg.Machine.PEName(s.Rank)))
				break
			}
			a.outAt[int32(s.Rank)] = s
		}
	}
	return errors.Join(errs...)
}

// layout returns the layout of an algorithm's symmetric window.
func (p *Plan) layout(g *CallGroup) (l *mem.Layout, err error) {
	err = p.ask("Window", func() (err error) {
		l, err = p.Algorithm.Window(p.World, g.Call.Elems, g.Call.Type)
		if err == nil && l == nil {
			err = errors.New("its Window made no layout")
		}
		return err
	})
	return l, err
}

// windowOf makes symmetric memory on the ranks of a call.
func (c *Context) windowOf(p *Plan, name string, g *CallGroup, l *mem.Layout) (*mem.Window, error) {
	t, err := c.team(name, g.PEs)
	if err != nil {
		return nil, err
	}
	w, err := c.window(name, t, l)
	if many, ok := errors.AsType[*TooManyWords](err); ok {
		if other := withoutWindow(p.Algorithm); other != "" {
			err = fmt.Errorf("%w; %s does without", many, other)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.release(t.Meeting))
	}
	return w, nil
}

// withoutWindow names an algorithm that performs the collective by messages alone, preferably a
// hierarchical one.
func withoutWindow(a *algorithm.Algorithm) (name string) {
	for _, b := range algorithm.All() {
		if b.Collective == a.Collective && b.Window == nil && (name == "" || b.Topology == topology.Hierarchical.Name) {
			name = b.Name
		}
	}
	return name
}
