package device_test

import (
	"context"
	"fmt"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/machine"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// A tensor over the PEs of one cube, a kernel on each, and the result.
func Example() {
	topo := conf.DefaultTopology()
	m, err := machine.Build(topo)
	if err != nil {
		panic(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	defer log.Close()
	dev, err := device.New(device.Config{Machine: m, Executor: mock.New(mock.Options{Data: log})})
	if err != nil {
		panic(err)
	}
	x, err := dev.Zeros(1, 16, dtype.F16, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1})
	if err != nil {
		panic(err)
	}
	rank := func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		c.Store(mine, c.Full(mine.Shape, a.DType, float64(c.Rank())))
	}
	if _, err := dev.LaunchKernel(context.Background(), "rank", rank, x); err != nil {
		panic(err)
	}
	values, err := x.Read()
	fmt.Println(values, err)
	// Output: [0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7] <nil>
}

func ExampleResolveDPPolicy() {
	m, _ := machine.Build(conf.DefaultTopology())
	policy := device.DPPolicy{PE: device.ColumnWise, NumCubes: 1, NumPEs: 2}
	shards, err := device.ResolveDPPolicy(m, policy, 2, 8, dtype.F16, 1)
	for _, s := range shards {
		fmt.Printf("sip%d.cube%d.pe%d: %d bytes at +%d\n", s.SIP, s.Cube, s.PE, s.NBytes, s.OffsetBytes)
	}
	fmt.Println(err)
	// Output:
	// sip1.cube0.pe0: 16 bytes at +0
	// sip1.cube0.pe1: 16 bytes at +16
	// <nil>
}
