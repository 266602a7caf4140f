package device

import (
	"fmt"
	"math"

	"kernbench/dtype"
	"kernbench/machine"
	"kernbench/mem"
)

// ShardSpec is one PE's part of a tensor: its place in the machine, and the place of its bytes in
// the tensor's virtual addresses. Replicas share their offset.
type ShardSpec struct {
	SIP, Cube, PE int
	OffsetBytes   int64 // from the tensor's virtual address
	NBytes        int64
	Region        Region // of the matrix; stored row by row
}

// Region is a rectangle of a matrix.
type Region struct {
	Row, Rows, Col, Cols int
}

// Elems returns the number of elements.
func (r Region) Elems() int { return r.Rows * r.Cols }

// split returns the part of r that member i of n gets under p.
func (r Region) split(p Placement, n, i int) Region {
	rows, row, cols, col := 1, 0, 1, 0
	switch p {
	case ColumnWise:
		cols, col = n, i
	case RowWise:
		rows, row = n, i
	case Tiled:
		rows = tileRows(n)
		cols = n / rows
		row, col = i/cols, i%cols
	}
	y, x := mem.ChunkOf(r.Rows, rows, row), mem.ChunkOf(r.Cols, cols, col)
	return Region{r.Row + y.Lo, y.N, r.Col + x.Lo, x.N}
}

// tileRows returns the height of the most square grid of n members that is not taller than wide.
func tileRows(n int) int {
	for h := int(math.Sqrt(float64(n))) + 1; h > 1; h-- {
		if n%h == 0 && h <= n/h {
			return h
		}
	}
	return 1
}

// ResolveDPPolicy lists the shards of a matrix on one SIP, in the order of their PEs:
// cube by cube, PE by PE. Sizes that do not divide make the first shards one longer; a
// PE that gets nothing has no shard. Different shards follow each other in virtual
// addresses in this order.
func ResolveDPPolicy(m *machine.Machine, p DPPolicy, rows, cols int, t dtype.Type, targetSIP int) ([]ShardSpec, error) {
	if err := checkShape(rows, cols, t); err != nil {
		return nil, err
	}
	cubes, pes, err := p.extent(m, targetSIP)
	if err != nil {
		return nil, err
	}
	var specs []ShardSpec
	whole := Region{0, rows, 0, cols}
	next := int64(0)
	placed := map[Region]int64{}
	for cube := range cubes {
		part := whole.split(p.Cube, cubes, cube)
		for pe := range pes {
			region := part.split(p.PE, pes, pe)
			n := int64(region.Elems()) * int64(t.Size())
			switch {
			case n == 0:
				continue
			case region.Elems() > math.MaxInt32:
				return nil, fmt.Errorf("%w: a shard of %d elements; at most %d fit", ErrShape, region.Elems(), math.MaxInt32)
			}
			// Only a replica can repeat a region: parts of a division are disjoint.
			off, seen := placed[region]
			if !seen {
				off = next
				next += n
				placed[region] = off
			}
			specs = append(specs, ShardSpec{SIP: targetSIP, Cube: cube, PE: pe, OffsetBytes: off, NBytes: n, Region: region})
		}
	}
	return specs, nil
}

// extent returns the number of cubes and of PEs in each that take part.
func (p DPPolicy) extent(m *machine.Machine, sip int) (cubes, pes int, err error) {
	cubes, pes = p.NumCubes, p.NumPEs
	if cubes == 0 {
		cubes = m.CubesPerSIP()
	}
	if pes == 0 {
		pes = m.PEsPerCube()
	}
	switch {
	case p.Cube > Tiled || p.PE > Tiled:
		err = fmt.Errorf("%w: %v", ErrPolicy, p)
	case sip < 0 || sip >= m.SIPs():
		err = fmt.Errorf("%w: there is no SIP %d: the machine has %d", ErrPolicy, sip, m.SIPs())
	case cubes < 0 || cubes > m.CubesPerSIP():
		err = fmt.Errorf("%w: num_cubes %d: a SIP has %d cubes", ErrPolicy, cubes, m.CubesPerSIP())
	case pes < 0 || pes > m.PEsPerCube():
		err = fmt.Errorf("%w: num_pes %d: a cube has %d PEs", ErrPolicy, pes, m.PEsPerCube())
	}
	return cubes, pes, err
}

// ResolveRanks lists the shards of a vector of ranks × n elements. Each of the first ranks PEs of a
// SIP, in rank order, has n of them. The result equals column_wise over cubes and PEs when their
// numbers divide. It also exists for numbers of ranks that fill no whole cubes.
func ResolveRanks(m *machine.Machine, ranks, n int, t dtype.Type, targetSIP int) ([]ShardSpec, error) {
	have := m.CubesPerSIP() * m.PEsPerCube()
	switch {
	case targetSIP < 0 || targetSIP >= m.SIPs():
		return nil, fmt.Errorf("%w: there is no SIP %d: the machine has %d", ErrPolicy, targetSIP, m.SIPs())
	case ranks < 1 || ranks > have:
		return nil, fmt.Errorf("%w: %d ranks: a SIP has %d PEs", ErrPolicy, ranks, have)
	}
	if err := checkShape(1, n, t); err != nil {
		return nil, err
	}
	specs := make([]ShardSpec, ranks)
	for i := range specs {
		size := int64(n) * int64(t.Size())
		specs[i] = ShardSpec{
			SIP: targetSIP, Cube: i / m.PEsPerCube(), PE: i % m.PEsPerCube(),
			OffsetBytes: int64(i) * size, NBytes: size, Region: Region{0, 1, i * n, n},
		}
	}
	return specs, nil
}

// ResolvePEs is ResolveRanks for any PEs of a SIP, ascending, by their numbers in the machine.
func ResolvePEs(m *machine.Machine, pes []int32, n int, t dtype.Type, targetSIP int) ([]ShardSpec, error) {
	if err := checkShape(1, n, t); err != nil {
		return nil, err
	}
	specs := make([]ShardSpec, len(pes))
	size := int64(n) * int64(t.Size())
	for i, pe := range pes {
		if pe < 0 || int(pe) >= m.NumPEs() || m.Coord(int(pe)).SIP != targetSIP {
			return nil, fmt.Errorf("%w: PE %d is not on SIP %d", ErrPolicy, pe, targetSIP)
		}
		if i > 0 && pe <= pes[i-1] {
			return nil, fmt.Errorf("%w: PE %d after PE %d: they are listed in ascending order", ErrPolicy, pe, pes[i-1])
		}
		at := m.Coord(int(pe))
		specs[i] = ShardSpec{
			SIP: at.SIP, Cube: at.Cube, PE: at.PE,
			OffsetBytes: int64(i) * size, NBytes: size, Region: Region{0, 1, i * n, n},
		}
	}
	return specs, nil
}

// checkShape refuses impossible shapes. Extents fit in an int32, as do those of kernels.
func checkShape(rows, cols int, t dtype.Type) error {
	switch {
	case !t.Valid():
		return fmt.Errorf("%w: no element type", ErrShape)
	case rows < 1 || cols < 1 || rows > math.MaxInt32 || cols > math.MaxInt32:
		return fmt.Errorf("%w: %d × %d: each extent must be 1 to %d", ErrShape, rows, cols, math.MaxInt32)
	}
	return nil
}
