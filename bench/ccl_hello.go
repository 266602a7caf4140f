package bench

import "context"

// cclHello launches an algorithm by its name, as the author's guide does: install its
// rings, make a tensor, launch. hello_send hands every rank's vector to the next rank.
func cclHello(ctx context.Context, h *Host) error {
	plan, err := h.Device.InstallIPCQ(h.Algorithm)
	if err != nil {
		return err
	}
	tensors, err := h.AllContributions(plan)
	if err != nil {
		return err
	}
	if _, err := h.Device.Launch(ctx, plan.Name, tensors, h.Op); err != nil {
		return err
	}
	return freeAll(tensors...)
}

// CCLHello is the first program.
var CCLHello = Register(Program{
	Name:        "ccl_hello",
	Summary:     "hello world: launch hello_send by name, every rank ends with its predecessor's vector",
	Algorithm:   "hello_send",
	Collectives: true,
	Run:         cclHello,
})
