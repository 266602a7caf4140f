package device

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/machine"
)

func (s *ShardSpec) coord() machine.Coord { return machine.Coord{SIP: s.SIP, Cube: s.Cube, PE: s.PE} }

// CopyIn scatters values, row by row, into the tensor. Values are rounded to the element type. It
// does nothing in a run without data.
func (t *Tensor) CopyIn(values []float64) error {
	if len(values) != t.Elems() {
		return fmt.Errorf("copy into %s: %w: %d values for %d × %d", t.name, ErrShape, len(values), t.rows, t.cols)
	}
	return t.CopyInBytes(encode(t.dtype, values))
}

// CopyInBytes is CopyIn of elements as they are stored, little endian.
func (t *Tensor) CopyInBytes(data []byte) error {
	if int64(len(data)) != t.span() {
		return fmt.Errorf("copy into %s: %w: %d bytes for %d × %d %v", t.name, ErrShape, len(data), t.rows, t.cols, t.dtype)
	}
	if t.host != nil && !t.freed {
		copy(t.host, data)
		return nil
	}
	return t.FillShards(func(s Shard, shard []byte) { t.gather(shard[:0], data, s.Region) })
}

// FillShards writes the results of fill to all shards: the stored elements of a shard, row by row.
// fill is called for several shards in parallel, and not in a run without data.
func (t *Tensor) FillShards(fill func(s Shard, data []byte)) error {
	if err := t.usable(t.ctx); err != nil {
		return fmt.Errorf("copy in: %w", err)
	}
	if err := t.ctx.idle(t, "copy into "+t.name); err != nil {
		return err
	}
	log := t.ctx.log()
	if log == nil {
		return nil
	}
	memory := make([][]byte, len(t.shards))
	for i, s := range t.shards {
		var err error
		if memory[i], err = log.Memory(s.Addr, t.dtype, s.Region.Elems()); err != nil {
			return fmt.Errorf("copy into %s: %w", t.name, err)
		}
	}
	var next atomic.Int32
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(memory)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(memory); i = int(next.Add(1)) - 1 {
				fill(t.shards[i], memory[i])
			}
		})
	}
	all.Wait()
	return nil
}

// CopyFrom copies another tensor, from the host or the device, into this one.
func (t *Tensor) CopyFrom(src *Tensor) error {
	if src == nil {
		return fmt.Errorf("copy into %s: %w: no source", t.name, ErrShape)
	}
	if src.rows != t.rows || src.cols != t.cols || src.dtype != t.dtype {
		return fmt.Errorf("copy into %s: %w: %d × %d %v from %d × %d %v", t.name, ErrShape,
			t.rows, t.cols, t.dtype, src.rows, src.cols, src.dtype)
	}
	if src.host != nil && !src.freed {
		return t.CopyInBytes(src.host)
	}
	if !t.ctx.HasData() {
		if err := src.usable(t.ctx); err != nil {
			return fmt.Errorf("copy into %s: %w", t.name, err)
		}
		return nil
	}
	data, err := src.ReadBytes()
	if err != nil {
		return fmt.Errorf("copy into %s: %w", t.name, err)
	}
	return t.CopyInBytes(data)
}

// Read gathers the values, row by row, as they are after everything launched so far.
func (t *Tensor) Read() ([]float64, error) {
	data, err := t.ReadBytes()
	if err != nil {
		return nil, err
	}
	values := make([]float64, t.Elems())
	for i := range values {
		values[i] = dtype.At(t.dtype, data, i)
	}
	return values, nil
}

// ReadBytes gathers the elements as they are stored. Replicas must agree.
func (t *Tensor) ReadBytes() ([]byte, error) {
	if t.host != nil && !t.freed {
		return bytes.Clone(t.host), nil
	}
	out := make([]byte, t.span())
	for _, same := range byOffset(t.shards) {
		first, err := t.ReadShard(same[0])
		if err != nil {
			return nil, err
		}
		for _, replica := range same[1:] {
			other, err := t.ReadShard(replica)
			if err != nil {
				return nil, err
			}
			if i := firstDifference(first, other); i >= 0 {
				m := t.ctx.cfg.Machine
				return nil, fmt.Errorf("read of %s: its replicas in %s and %s differ from element %d on; ReadShard reads one of them",
					t.name, m.PEName(same[0].Rank), m.PEName(replica.Rank), i/t.dtype.Size())
			}
		}
		t.scatter(out, first, same[0].Region)
	}
	if len(t.shards) == 0 {
		return nil, t.usable(t.ctx)
	}
	return out, nil
}

// ReadShard reads one of the tensor's shards as it is stored.
func (t *Tensor) ReadShard(s Shard) ([]byte, error) {
	if err := t.usable(t.ctx); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if err := t.ctx.idle(t, "read of "+t.name); err != nil {
		return nil, err
	}
	log := t.ctx.log()
	if log == nil {
		return nil, &fault.NoData{What: t.name}
	}
	data, err := log.Read(s.Addr, t.dtype, s.Region.Elems())
	if err != nil {
		return nil, fmt.Errorf("read of %s: %w", t.name, err)
	}
	return data, nil
}

// zero writes zeros to all shards.
func (t *Tensor) zero() error {
	log := t.ctx.log()
	if log == nil {
		return nil
	}
	var zeros []byte
	for _, s := range t.shards {
		if int64(len(zeros)) < s.NBytes {
			zeros = make([]byte, s.NBytes)
		}
		if err := log.Write(s.Addr, t.dtype, zeros[:s.NBytes]); err != nil {
			return err
		}
	}
	return nil
}

// gather extends dst by the rows of a region of the matrix.
func (t *Tensor) gather(dst, matrix []byte, r Region) []byte {
	size := t.dtype.Size()
	for row := r.Row; row < r.Row+r.Rows; row++ {
		lo := (row*t.cols + r.Col) * size
		dst = append(dst, matrix[lo:lo+r.Cols*size]...)
	}
	return dst
}

// scatter is the inverse of gather.
func (t *Tensor) scatter(matrix, src []byte, r Region) {
	size := t.dtype.Size()
	for row := range r.Rows {
		lo := ((r.Row+row)*t.cols + r.Col) * size
		copy(matrix[lo:lo+r.Cols*size], src[row*r.Cols*size:])
	}
}

// encode rounds values to elements of a type.
func encode(t dtype.Type, values []float64) []byte {
	data := make([]byte, len(values)*t.Size())
	for i, v := range values {
		dtype.Set(t, data, i, v)
	}
	return data
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
