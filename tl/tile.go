package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
)

// Desc describes a matrix in memory that is read and written in tiles. It has rows of Cols
// elements, each Stride elements after the previous one, in blocks of BlockRows × BlockCols. Tiles
// at the edge are clipped.
type Desc struct {
	Addr                 mem.Addr
	DType                dtype.Type
	Rows, Cols           int
	Stride               int
	BlockRows, BlockCols int
}

// Desc describes what r names as a matrix of rows × cols in blocks.
func (c *Context) Desc(r Ref, rows, cols, blockRows, blockCols int) Desc {
	if rows < 0 || cols < 0 || cols > 0 && rows > r.Len()/cols || rows*cols != r.Len() {
		c.misuse("desc", fmt.Sprintf("%d × %d elements: the reference has %d", rows, cols, r.Len()))
	}
	d := Desc{Addr: r.Addr, DType: r.DType, Rows: rows, Cols: cols, Stride: cols, BlockRows: blockRows, BlockCols: blockCols}
	c.checkDesc("desc", &d)
	return d
}

// Sub is rows [row, row+rows) of d, all columns, clipped at the last row. Rows before the first or
// after the last are refused where they are used.
func (d Desc) Sub(row, rows int) Desc {
	if row < 0 || rows < 0 || row > d.Rows {
		d.Rows = -1
		return d
	}
	d.Addr += mem.Addr(int64(row) * int64(d.Stride) * int64(d.DType.Size()))
	d.Rows = min(rows, d.Rows-row)
	return d
}

// Blocks returns the number of blocks down and across.
func (d Desc) Blocks() (down, across int) {
	return CDiv(d.Rows, d.BlockRows), CDiv(d.Cols, d.BlockCols)
}

func (c *Context) checkDesc(op string, d *Desc) {
	c.checkType(op, d.DType)
	switch {
	case d.BlockRows < 1 || d.BlockCols < 1:
		c.misuse(op, fmt.Sprintf("blocks of %d × %d: both extents must be at least 1", d.BlockRows, d.BlockCols))
	case d.Rows < 0 || d.Cols < 0:
		c.misuse(op, "a matrix of rows that there are none of: Sub takes rows of the matrix, the first from 0 on")
	case d.Stride < d.Cols:
		c.misuse(op, fmt.Sprintf("rows of %d elements every %d elements would overlap", d.Cols, d.Stride))
	}
}

// LoadTile is Load of the block whose first element is (row, col), clipped at the edge.
func (c *Context) LoadTile(d Desc, row, col int) (t Tensor) {
	rows, cols := c.clip("load_tile", &d, row, col)
	shape := Dims(rows, cols)
	c.result("load_tile", d.DType, shape, &t)
	if rows > 0 && cols > 0 {
		c.tile("load_tile", OpLoad, &d, row, col, rows, cols, &t)
	}
	return t
}

// StoreTile is Store of the block whose first element is (row, col). t has the shape of the
// block as the edge clips it: that of LoadTile.
func (c *Context) StoreTile(d Desc, row, col int, t Tensor) {
	c.use("store_tile", &t)
	rows, cols := c.clip("store_tile", &d, row, col)
	if t.dtype != d.DType || t.shape != Dims(rows, cols) {
		c.misuse("store_tile", fmt.Sprintf("the block is %s, the tensor %s", describe(d.DType, Dims(rows, cols)),
			describe(t.dtype, t.shape)))
	}
	if rows > 0 && cols > 0 {
		c.tile("store_tile", OpStore, &d, row, col, rows, cols, &t)
	}
}

// clip returns the part of the block at (row, col) that lies in the matrix.
func (c *Context) clip(op string, d *Desc, row, col int) (rows, cols int) {
	c.checkDesc(op, d)
	if row < 0 || col < 0 {
		c.misuse(op, fmt.Sprintf("block at (%d, %d): neither can be negative", row, col))
	}
	return max(0, min(d.BlockRows, d.Rows-row)), max(0, min(d.BlockCols, d.Cols-col))
}

// tile emits the instruction of a block, which must lie in one memory.
func (c *Context) tile(op string, kind Op, d *Desc, row, col, rows, cols int, t *Tensor) {
	size := int64(d.DType.Size())
	pitch := int64(d.Stride) * size
	first := d.Addr + mem.Addr(int64(row)*pitch+int64(col)*size)
	span := int64(rows-1)*pitch + int64(cols)*size
	whole := Ref{first, Dims(int(span / size)), d.DType}
	pa, n, ok := c.resolve(first)
	if !ok {
		c.badAddress(op, &whole, "nothing is mapped there for this PE")
	}
	if n < span {
		c.badAddress(op, &whole, "a block must lie in one shard")
	}
	if pa.Offset()%size != 0 {
		c.badAddress(op, &whole, fmt.Sprintf("%v elements must lie at multiples of %d bytes", d.DType, size))
	}
	in := Instr{
		Op: kind, Type: d.DType, Dst: None, A: None, B: None, C: None, N: rows * cols, Shape: t.shape,
		Addr: pa, Pieces: 1, Rows: rows, Pitch: pitch,
	}
	if rows == 1 || int64(cols)*size == pitch {
		in.Rows, in.Pitch = 0, 0 // the rows follow one another
	}
	if kind == OpLoad {
		in.Dst, in.DstOff = t.cell, t.off
	} else {
		in.A, in.AOff = t.cell, t.off
	}
	c.countAccess(kind, pa, in.Bytes())
	c.emit(&in)
}

// countAccess counts a load or store of another PE's memory.
func (c *Context) countAccess(kind Op, pa mem.Addr, bytes int64) {
	switch {
	case !c.away(pa):
	case kind == OpLoad:
		c.counts.Read += bytes
	default:
		c.counts.Written += bytes
	}
}
