package bench

import (
	"context"

	"kernbench/dialect/torch"
)

// cclAllReduce returns a data-parallel worker's step: every rank brings a vector, and every rank
// gets their combination.
func cclAllReduce(ctx context.Context, h *Host) error {
	if err := h.Dist.InitProcessGroup("ahbm"); err != nil {
		return err
	}
	return h.Dist.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error {
		tensors, err := h.Contributions(w, h.Dist.Plan())
		if err != nil {
			return err
		}
		if err := w.AllReduce(ctx, tensors, h.Op); err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		return freeAll(tensors...)
	})
}

// CCLAllReduce is the unified all-reduce.
var CCLAllReduce = Register(Program{
	Name:        "ccl_allreduce",
	Summary:     "process group, a tensor on each SIP, AllReduce: any algorithm, type and operation",
	Collectives: true,
	Run:         cclAllReduce,
})
