package examples

import (
	"context"
	"slices"
	"testing"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/machine"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// guide: tiles
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
// halves brings x from PE 0 to PE 1 by the copy engine, and lets six programs add its halves
// there, at most two at a time.
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

func TestStreams(t *testing.T) {
	const rows, cols = 40, 50 // no multiples of a block
	topo := conf.DefaultTopology()
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Timed: true})
	defer log.Close()
	dev, err := device.New(device.Config{Machine: m, Topology: topo, Executor: sim.New(m, topo, sim.Options{Data: log})})
	if err != nil {
		t.Fatal(err)
	}
	onBoth := device.DPPolicy{NumCubes: 1, NumPEs: 2} // a replica on PE 0 and on PE 1
	var tensors []*device.Tensor
	for _, n := range []int{2 * rows * cols, 2 * rows * cols, rows * cols} {
		x, err := dev.Empty(1, n, dtype.F32, onBoth)
		if err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, x)
	}
	values := make([]float64, 2*rows*cols)
	for i := range values {
		values[i] = float64(i)
	}
	if err := tensors[0].CopyIn(values); err != nil {
		t.Fatal(err)
	}
	out := tensors[2]
	if err := halves(context.Background(), dev, tensors[0], tensors[1], out, rows, cols); err != nil {
		t.Fatal(err)
	}
	data, err := out.ReadShard(out.Shards()[1])
	if err != nil {
		t.Fatal(err)
	}
	want, got := make([]float64, rows*cols), make([]float64, rows*cols)
	for i := range want {
		want[i], got[i] = float64(2*i+rows*cols), dtype.At(dtype.F32, data, i)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v ..., want %v ...", got[:5], want[:5])
	}
}
