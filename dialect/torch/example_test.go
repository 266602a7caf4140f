package torch_test

import (
	"context"
	"fmt"
	"testing"

	"kernbench/device"
	"kernbench/dialect/torch"
	"kernbench/tl"
)

// One worker per SIP: each brings a tensor, and each ends with the sum.
func ExampleDist_Spawn() {
	dev, d := open(&testing.B{}, "ring_allreduce_chunked", nil, "defaults.rank_level=sip")
	if err := d.InitProcessGroup("ahbm"); err != nil {
		panic(err)
	}
	err := d.Spawn(context.Background(), func(ctx context.Context, w *torch.Worker) error {
		x, err := ones(dev, 8, float64(w.GetRank()+1))
		if err != nil {
			return err
		}
		if err := w.AllReduce(ctx, []*device.Tensor{x}, tl.Sum); err != nil {
			return err
		}
		values, err := x.Read()
		fmt.Printf("rank %d of %d: %v\n", w.GetRank(), w.GetWorldSize(), values)
		return err
	})
	fmt.Println(err)
	// Output:
	// rank 0 of 3: [6 6 6 6 6 6 6 6]
	// rank 1 of 3: [6 6 6 6 6 6 6 6]
	// rank 2 of 3: [6 6 6 6 6 6 6 6]
	// <nil>
}
