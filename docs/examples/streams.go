// guide: tiles

package main

import (
	"context"

	"kernbench/device"
	"kernbench/tl"
)

// addTiles adds the two halves of a matrix, block by block. The program with number p of n
// takes blocks p, p+n, p+2n, ...
func addTiles(c *tl.Context, a tl.Args) {
	rows, cols := a.Int(0), a.Int(1)
	whole := c.Desc(a.Tensor(0), 2*rows, cols, 16, 32)
	upper, lower := whole.Sub(0, rows), whole.Sub(rows, rows)
	out := c.Desc(a.Tensor(1), rows, cols, 16, 32)

	down, across := out.Blocks()
	for tile := c.ProgramID(0); tile < down*across; tile += c.NumPrograms(0) {
		row, col := tile/across*16, tile%across*32
		sum := c.Add(c.LoadTile(upper, row, col), c.LoadTile(lower, row, col)) // clipped at the edge
		c.StoreTile(out, row, col, sum)
	}
}

// end

// guide: streams
// halves copies x from PE 0 to PE 1 with the copy engine. There, six programs add the two halves of
// the copy; at most two programs run at the same time.
func halves(ctx context.Context, dev *device.Context, x, y, out *device.Tensor, rows, cols int) error {
	engine, err := dev.NewStream(0)
	if err != nil {
		return err
	}
	kernels, err := dev.NewStream(1)
	if err != nil {
		return err
	}
	if err := engine.Copy(y.On(1), x.On(0)); err != nil {
		return err
	}
	if err := kernels.Join(engine); err != nil { // what follows waits for the copy
		return err
	}
	if err := kernels.Launch("add", addTiles, device.Grid{Programs: 6, Resident: 2}, y, out, rows, cols); err != nil {
		return err
	}
	return dev.Synchronize(ctx) // until here everything has only been queued
}

// end
