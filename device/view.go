package device

import (
	"fmt"

	"kernbench/mem"
)

// View returns a vector whose shards are parts of the shards of another vector: part gives the
// elements of shard i. It shares their memory until that vector is freed. A view is not freed.
func (t *Tensor) View(part func(i int) mem.Chunk) (*Tensor, error) {
	if err := t.usable(t.ctx); err != nil {
		return nil, err
	}
	if t.rows != 1 {
		return nil, fmt.Errorf("%w: a view of %s, which has %d rows: it is for vectors", ErrShape, t.name, t.rows)
	}
	v := *t
	v.of, v.shards, v.cols = t, nil, 0
	for i, s := range t.shards {
		p := part(i)
		if p.Lo < 0 || p.N < 0 || p.Lo+p.N > s.Region.Elems() {
			return nil, fmt.Errorf("%w: elements %d to %d of shard %d of %s, which has %d", ErrShape, p.Lo, p.Lo+p.N,
				i, t.name, s.Region.Elems())
		}
		off := int64(p.Lo * t.dtype.Size())
		s.Addr, s.VA, s.OffsetBytes = s.Addr+mem.Addr(off), s.VA+mem.Addr(off), s.OffsetBytes+off
		s.NBytes = int64(p.N * t.dtype.Size())
		s.Region = Region{Rows: 1, Col: v.cols, Cols: p.N}
		v.cols += p.N
		v.shards = append(v.shards, s)
	}
	return &v, nil
}
