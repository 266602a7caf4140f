package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// Shard is one PE's part of a tensor on the device.
type Shard struct {
	ShardSpec
	Rank int      // of the PE in the whole machine
	Addr mem.Addr // physical
	VA   mem.Addr
}

// Tensor is a matrix on the device, in shards within one SIP, or on the host.
type Tensor struct {
	ctx        *Context
	name       string
	rows, cols int
	dtype      dtype.Type
	sip        int
	va         mem.Addr
	shards     []Shard
	replicated bool
	freed      bool
	of         *Tensor // tensor whose memory a view shares
	host       []byte  // contents of a tensor on the host
}

// tensorList is the list of a context's tensors.
type tensorList struct {
	tensors []*Tensor // on the device, oldest first; some may be freed
	holes   int       // freed ones among them
	made    int
	nextVA  mem.Addr
}

// Zeros makes a tensor of zeros on the current SIP.
func (c *Context) Zeros(rows, cols int, t dtype.Type, p DPPolicy) (*Tensor, error) {
	x, err := c.Empty(rows, cols, t, p)
	if err != nil {
		return nil, err
	}
	if err := x.zero(); err != nil {
		return nil, errors.Join(err, x.Free())
	}
	return x, nil
}

// Empty makes a tensor without values on the current SIP: it is a fault to read it before it is
// written.
func (c *Context) Empty(rows, cols int, t dtype.Type, p DPPolicy) (*Tensor, error) {
	specs, err := ResolveDPPolicy(c.cfg.Machine, p, rows, cols, t, c.current)
	if err != nil {
		return nil, err
	}
	return c.place(rows, cols, t, specs)
}

// EmptyRanks is Empty for a vector with n elements on each of the first ranks PEs of the current
// SIP: see ResolveRanks.
func (c *Context) EmptyRanks(ranks, n int, t dtype.Type) (*Tensor, error) {
	specs, err := ResolveRanks(c.cfg.Machine, ranks, n, t, c.current)
	if err != nil {
		return nil, err
	}
	if err := checkShape(1, ranks*n, t); err != nil {
		return nil, err
	}
	return c.place(1, ranks*n, t, specs)
}

// EmptyOn is Empty for a vector with n elements on each of some PEs of the current SIP: see
// ResolvePEs.
func (c *Context) EmptyOn(pes []int32, n int, t dtype.Type) (*Tensor, error) {
	specs, err := ResolvePEs(c.cfg.Machine, pes, n, t, c.current)
	if err != nil {
		return nil, err
	}
	if err := checkShape(1, len(pes)*n, t); err != nil {
		return nil, err
	}
	return c.place(1, len(pes)*n, t, specs)
}

// FromSlice makes a tensor on the host, the source of a CopyFrom. Values are rounded to
// the element type.
func (c *Context) FromSlice(values []float64, rows, cols int, t dtype.Type) (*Tensor, error) {
	if err := checkShape(rows, cols, t); err != nil {
		return nil, err
	}
	if len(values) != rows*cols {
		return nil, fmt.Errorf("%w: %d values for %d × %d", ErrShape, len(values), rows, cols)
	}
	x := &Tensor{ctx: c, name: c.nameNext("host"), rows: rows, cols: cols, dtype: t, sip: -1}
	x.host = encode(t, values)
	return x, nil
}

func (c *Context) nameNext(what string) string {
	c.made++
	return fmt.Sprintf("%s%d", what, c.made)
}

// place allocates the shards and their virtual addresses, all or nothing.
func (c *Context) place(rows, cols int, t dtype.Type, specs []ShardSpec) (*Tensor, error) {
	x := &Tensor{ctx: c, name: c.nameNext("tensor"), rows: rows, cols: cols, dtype: t, sip: c.current, va: c.nextVA}
	c.tensors = append(c.tensors, x)
	if err := x.allocate(specs); err != nil {
		_ = x.Free() // of the shards that were made: the others were never mapped
		return nil, fmt.Errorf("tensor of %d × %d %v: %w", rows, cols, t, err)
	}
	// A page stays unmapped after each tensor, and no address is used twice. So an access beyond a
	// tensor, or to a freed one, finds no memory.
	c.nextVA += mem.Addr((x.span()/vaPage + 2) * vaPage)
	return x, nil
}

func (t *Tensor) allocate(specs []ShardSpec) error {
	m, log := t.ctx.cfg.Machine, t.ctx.log()
	t.shards = make([]Shard, 0, len(specs))
	for _, s := range specs {
		pe, ok := m.Index(s.coord())
		if !ok {
			return fmt.Errorf("%w: there is no PE at %+v", ErrPolicy, s.coord())
		}
		addr, err := t.ctx.alloc(pe, s.NBytes)
		if err != nil {
			return err
		}
		t.shards = append(t.shards, Shard{ShardSpec: s, Rank: pe, Addr: addr, VA: t.va + mem.Addr(s.OffsetBytes)})
		if log != nil {
			if err := log.Map(addr, t.dtype, s.Region.Elems()); err != nil {
				return err
			}
		}
	}
	return t.mapAddresses()
}

// mapAddresses enters the shards into the address map. Of a replicated shard a PE sees its
// own replica, else the first in its cube, else the first of all.
func (t *Tensor) mapAddresses() error {
	m := t.ctx.cfg.Machine
	groups := byOffset(t.shards)
	t.ctx.addrs.Reserve(len(groups))
	for _, same := range groups {
		e := mem.Extent{VA: same[0].VA, Bytes: same[0].NBytes, PA: same[0].Addr}
		if len(same) > 1 {
			t.replicated = true
			e.PerPE = slices.Repeat([]mem.Addr{e.PA}, m.NumPEs())
			for _, s := range slices.Backward(same) {
				first := s.Rank - s.PE
				for pe := first; pe < first+m.PEsPerCube(); pe++ {
					e.PerPE[pe] = s.Addr
				}
			}
			for _, s := range same {
				e.PerPE[s.Rank] = s.Addr
			}
		}
		if err := t.ctx.addrs.Insert(e); err != nil {
			return err
		}
	}
	return nil
}

// byOffset groups shards that are replicas of each other, in the order of their offsets.
func byOffset(shards []Shard) [][]Shard {
	sorted := slices.Clone(shards)
	slices.SortStableFunc(sorted, func(a, b Shard) int { return int(min(1, max(-1, a.OffsetBytes-b.OffsetBytes))) })
	var groups [][]Shard
	for lo := 0; lo < len(sorted); {
		hi := lo + 1
		for hi < len(sorted) && sorted[hi].OffsetBytes == sorted[lo].OffsetBytes {
			hi++
		}
		groups = append(groups, sorted[lo:hi])
		lo = hi
	}
	return groups
}

// Free frees the tensor's memory and addresses.
func (t *Tensor) Free() error {
	if t.of != nil {
		return fmt.Errorf("free of %s: %w: it is a view of %s, which is to be freed", t.name, ErrShape, t.of.name)
	}
	if t.freed {
		return fmt.Errorf("free of %s: %w", t.name, ErrFreed)
	}
	if err := t.ctx.idle(t, "free of "+t.name); err != nil {
		return err
	}
	t.freed = true
	t.ctx.remember(t)
	t.host = nil
	t.ctx.addrs.Remove(t.va, t.va+mem.Addr(t.span()))
	var errs []error
	log := t.ctx.log()
	for _, s := range t.shards {
		if log != nil {
			errs = append(errs, log.Unmap(s.Addr))
		}
		errs = append(errs, t.ctx.free(s.Addr))
	}
	t.ctx.drained()
	return errors.Join(errs...)
}

// drained removes freed tensors from the list when they are half of it. A program that frees tens
// of thousands one by one would otherwise walk the list for each.
func (c *Context) drained() {
	if c.holes++; 2*c.holes >= len(c.tensors) {
		c.tensors = slices.DeleteFunc(c.tensors, func(x *Tensor) bool { return x.freed })
		c.holes = 0
	}
}

// Named gives the tensor a name for reports and errors, and returns it.
func (t *Tensor) Named(name string) *Tensor {
	t.name = name
	return t
}

// Name returns the tensor's name.
func (t *Tensor) Name() string { return t.name }

// Rows returns the first extent.
func (t *Tensor) Rows() int { return t.rows }

// Cols returns the second extent.
func (t *Tensor) Cols() int { return t.cols }

// Elems returns the number of elements, replicas not counted.
func (t *Tensor) Elems() int { return t.rows * t.cols }

// DType returns the element type.
func (t *Tensor) DType() dtype.Type { return t.dtype }

// Device returns the SIP that the tensor is on, or -1 for the host.
func (t *Tensor) Device() int { return t.sip }

// VA returns the tensor's first virtual address; shards follow each other from there.
func (t *Tensor) VA() mem.Addr { return t.va }

// Shards lists the shards in the order of their PEs.
func (t *Tensor) Shards() []Shard { return slices.Clone(t.shards) }

// Ref returns the whole tensor as a kernel's argument. Memory has the shards one after the other:
// the matrix row by row only if it was divided so.
func (t *Tensor) Ref() tl.Ref {
	return tl.Ref{Addr: t.va, Shape: tl.Dims(t.rows, t.cols), DType: t.dtype}
}

// span returns the number of virtual bytes.
func (t *Tensor) span() int64 { return int64(t.Elems()) * int64(t.dtype.Size()) }

func (t *Tensor) footprint() unit.Bytes {
	n := unit.Bytes(0)
	for _, s := range t.shards {
		n += unit.Bytes(s.NBytes)
	}
	return n
}

// usable reports whether the tensor can be used on a device context.
func (t *Tensor) usable(c *Context) error {
	switch {
	case t == nil:
		return fmt.Errorf("%w: no tensor", ErrLaunch)
	case t.freed || t.of != nil && t.of.freed:
		return fmt.Errorf("%s: %w", t.name, ErrFreed)
	case t.ctx != c:
		return fmt.Errorf("%s: %w", t.name, ErrForeign)
	case t.host != nil:
		return fmt.Errorf("%s: %w; copy it into a tensor on the device", t.name, ErrHost)
	}
	return nil
}
