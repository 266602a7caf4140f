package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/mem"
)

// maxGone is the number of freed tensors and windows that a context remembers.
const maxGone = 256

// Region names the current or last object at a physical address. That is the part of a window, or
// the tensor, and the element, as x[3] or box.ready[0]. It returns "" if there was none.
func (c *Context) Region(a mem.Addr) string {
	for _, t := range slices.Backward(c.tensors) {
		if name := t.at(a); name != "" && !t.freed {
			return name
		}
	}
	for _, w := range slices.Backward(c.live) {
		if name := w.NameAt(a); name != "" {
			return name
		}
	}
	for _, x := range slices.Backward(c.gone) {
		name := ""
		switch x := x.(type) {
		case *Tensor:
			name = x.at(a)
		case *mem.Window:
			name = x.NameAt(a)
		}
		if name != "" {
			return name
		}
	}
	return ""
}

// remember keeps a freed object, for Region.
func (c *Context) remember(x any) {
	if len(c.gone) == maxGone {
		c.gone = slices.Delete(c.gone, 0, 1)
	}
	c.gone = append(c.gone, x)
}

// at names the element of a tensor at an address, counted in the order of its virtual
// addresses, or is empty.
func (t *Tensor) at(a mem.Addr) string {
	for i := range t.shards {
		if s := &t.shards[i]; s.Addr <= a && a < s.Addr+mem.Addr(s.NBytes) {
			return fmt.Sprintf("%s[%d]", t.name, (s.OffsetBytes+int64(a-s.Addr))/int64(t.dtype.Size()))
		}
	}
	return ""
}

// NameMemory adds to a fault of an address the object there, or the last one before it, with its
// range. Launch and Synchronize call it; a fault that comes with the operation log needs it too.
func (c *Context) NameMemory(err error) {
	e, ok := errors.AsType[*fault.BadAddress](err)
	if !ok || e.Memory != "" {
		return
	}
	var all []mem.Named
	for _, t := range c.tensors {
		if t.freed {
			continue
		}
		for i := range t.shards {
			s := &t.shards[i]
			name := "tensor " + t.name
			if len(t.shards) > 1 {
				name = fmt.Sprintf("the shard of tensor %s on %s", t.name, c.cfg.Machine.PEName(s.Rank))
			}
			all = append(all, mem.Named{Name: name, From: s.Addr, Bytes: s.NBytes}, mem.Named{Name: name, From: s.VA, Bytes: s.NBytes})
		}
	}
	a := mem.Addr(e.At)
	for _, w := range c.live {
		if rank, member := w.Team.Rank(a.Unit()); member {
			all = append(all, mem.Named{Name: "window " + w.Name, From: w.Addr(rank, 0), Bytes: w.Layout.Bytes})
		}
	}
	e.Memory = mem.Describe(a, all)
}
