package mscclpp

import "fmt"

// sizes is the layout of a GPU's buffers for a call, by the executor's arithmetic.
type sizes struct {
	plan    *Plan
	gpu     *GPU
	in, out int64 // bytes of input and output
}

const (
	reusedScratch = 64 << 20 // bytes of scratch with reuse_resources
	mostBytes     = 1 << 32  // offsets have 32 bits
)

// split returns where slice index begins if size bytes are split into slices. The first slices get
// one unit of the alignment more. Beyond the last slice it continues like the executor's formula.
func (z *sizes) split(size int64, index, slices int) int64 {
	units := size / int64(z.plan.Alignment)
	least, rest := units/int64(slices), units%int64(slices)
	more := rest
	if units > 0 {
		more = min(int64(index)%units, rest)
	}
	return (int64(index)*least + more) * int64(z.plan.Alignment)
}

// chunk returns where a chunk begins in a buffer.
func (z *sizes) chunk(index int, b Buffer) int64 {
	if b == Scratch && z.plan.ReuseResources {
		if most := z.reusedChunk(); most < (z.in+int64(z.gpu.InputChunks)-1)/int64(z.gpu.InputChunks) {
			return int64(index) * most
		}
	}
	return z.split(z.in, index, z.gpu.InputChunks)
}

// span returns the bytes of some chunks, of which a thread block of a group has a part.
func (z *sizes) span(r Ref, b Buffer, op *Op) (first, size int64, err error) {
	whole := z.chunk(r.Index+r.Size, NoBuffer) - z.chunk(r.Index, NoBuffer)
	if whole <= 0 {
		return 0, 0, fmt.Errorf("%s: %d chunks from %d on have no bytes: the executor divides by their number", op.Name, r.Size, r.Index)
	}
	from, to := z.split(whole, op.Part, op.Parts), z.split(whole, op.Part+1, op.Parts)
	return z.chunk(r.Index, b) + from, to - from, nil
}

// scratch returns the bytes of the scratch of one launch.
func (z *sizes) scratch() int64 {
	n := int64(z.gpu.ScratchChunks)
	if z.plan.ReuseResources && n > 0 {
		return reusedScratch // of 128 MiB the other half is for the other parity
	}
	size := (z.in + int64(z.gpu.InputChunks) - 1) / int64(z.gpu.InputChunks) * n
	if z.plan.Packets {
		size *= 2
	}
	if z.plan.DoubleScratch {
		size *= 2
	}
	a := int64(z.plan.Alignment)
	size = (size + a - 1) / a * a
	if z.plan.DoubleScratch {
		size /= 2
	}
	return size
}

// reusedChunk returns the bytes of a chunk of scratch, as many as there can be.
func (z *sizes) reusedChunk() int64 {
	if z.gpu.ScratchChunks == 0 {
		return 0
	}
	size := int64(reusedScratch)
	if z.plan.DoubleScratch {
		size /= 2
	}
	a := int64(z.plan.Alignment)
	each := (size + int64(z.gpu.ScratchChunks) - 1) / int64(z.gpu.ScratchChunks)
	return (each + a - 1) / a * a
}

// iterations returns how often a pipeline is carried out.
func (z *sizes) iterations(op *Op) int64 {
	a := int64(z.plan.Alignment)
	units := z.in / a
	n := int64(z.gpu.InputChunks)
	whole := int64(op.NumChunks) * ((units + n - 1) / n * a)
	unit := int64(op.UnitSize)
	return (whole + unit - 1) / unit
}

// window returns the part of an operation that an iteration of a pipeline carries out: from offset
// on at most unit bytes. After the end the executor's unsigned difference wraps around, so that it
// continues with whole units.
func window(size, offset, unit int64) int64 {
	if offset > size {
		return unit
	}
	return min(size-offset, unit)
}

// inScratch returns where an iteration's offset is in a chunk of scratch.
func (z *sizes) inScratch(b Buffer, offset int64) int64 {
	if b != Scratch || !z.plan.ReuseResources || z.gpu.ScratchChunks == 0 {
		return offset
	}
	return offset % z.reusedChunk()
}
