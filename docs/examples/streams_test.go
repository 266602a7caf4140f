package main

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
)

func TestStreams(t *testing.T) {
	const rows, cols = 40, 50 // no multiples of a block
	topo := conf.DefaultTopology()
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Timed: true})
	defer log.Close()
	dev, err := device.New(device.Config{Machine: m, Executor: sim.New(m, sim.Options{Data: log})})
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
