package device

import (
	"cmp"
	"fmt"
	"slices"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// arguments holds the plain arguments of a launch by kind.
type arguments struct {
	tl.Args
	lead   []*Tensor // the first tensor, or the first list of tensors
	hasInt bool
	uses   []any // the tensors and windows among them

	outs          []*Tensor       // of Into
	rootRank      *int            // of Root
	outAt         map[int32]Shard // shards of outs by PE, made on first use
	outReplicated bool

	shards     []Shard // of lead, in the order of PEs, made on first use
	replicated bool
}

// sortOut converts the arguments of a program into those of a kernel. The caller sets Shards and
// NElem.
func (c *Context) sortOut(name string, args []any) (*arguments, error) {
	a := new(arguments)
	tensor := func(t *Tensor) error {
		if err := t.usable(c); err != nil {
			return err
		}
		a.Tensors = append(a.Tensors, t.Ref())
		a.uses = append(a.uses, t)
		return nil
	}
	for i, arg := range args {
		var err error
		switch arg := arg.(type) {
		case *Tensor:
			if err = tensor(arg); err == nil && a.lead == nil {
				a.lead = []*Tensor{arg}
			}
		case []*Tensor:
			for _, t := range arg {
				if err == nil {
					err = tensor(t)
				}
			}
			if a.lead == nil {
				a.lead = arg
			}
		case *mem.Window:
			if err = c.usableWindow("argument", arg); err == nil {
				a.Windows = append(a.Windows, arg)
				a.uses = append(a.uses, arg)
			}
		case int:
			a.Ints, a.hasInt = append(a.Ints, arg), true
		case Option:
			err = arg(c, a)
		case tl.ReduceOp:
			a.Op = arg
		case dtype.Type:
			a.DType = arg
		default:
			err = fmt.Errorf("%w: a %T; tensors, lists of tensors, windows, int, tl.ReduceOp, dtype.Type and options are understood",
				ErrLaunch, arg)
		}
		if err != nil {
			return nil, fmt.Errorf("launch %s: argument %d: %w", name, i+1, err)
		}
	}
	for _, t := range a.lead {
		if t.dtype != a.lead[0].dtype {
			return nil, fmt.Errorf("launch %s: %w: %s is %v and %s is %v", name, ErrShape, a.lead[0].name, a.lead[0].dtype, t.name, t.dtype)
		}
	}
	if a.DType == dtype.Invalid && len(a.lead) > 0 {
		a.DType = a.lead[0].dtype
	}
	return a, nil
}

// shardsOf lists all shards of the tensors in rank order.
func shardsOf(tensors []*Tensor) []Shard {
	n := 0
	for _, t := range tensors {
		n += len(t.shards)
	}
	all := make([]Shard, 0, n)
	for _, t := range tensors {
		all = append(all, t.shards...)
	}
	slices.SortStableFunc(all, func(a, b Shard) int { return cmp.Compare(a.Rank, b.Rank) })
	return all
}

// address returns the address by which a kernel accesses a shard: the virtual address, unless that
// means something else on every PE.
func (s *Shard) address(replicated bool) mem.Addr {
	if replicated {
		return s.Addr
	}
	return s.VA
}
