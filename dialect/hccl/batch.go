package hccl

import (
	"fmt"

	"kernbench/mem"
	"kernbench/tl"
)

// maxItems is the number of writes that a list can have.
const maxItems = 2047

// BatchItem is one write of a list: Count elements from an address of this device to one of
// any device (GetWindowsInAddr of its rank).
type BatchItem struct {
	Dst, Src mem.Addr
	Count    uint64
	DataType DataType
}

// BatchWrite prepares and commits a task that copies a list of pieces of memory, in order. After
// Wait the pieces are sent, and their sources may be overwritten, but they may not have arrived. A
// later task begins after their arrival, so a Wait for a collective of all ranks covers them.
func (h *Hccl) BatchWrite(items []BatchItem) Handle {
	t := &task{op: OpBatchWrite, items: items, repeat: 1, call: fmt.Sprintf("BatchWrite(%d items)", len(items))}
	if !h.ready(t) {
		return Invalid
	}
	if len(items) < 1 || len(items) > maxItems {
		return h.refuseTask(BadItems, t.call, fmt.Sprintf("%d items", len(items)), fmt.Sprintf("1 to %d", maxItems))
	}
	for i, it := range items {
		_, known := it.DataType.Carrier()
		switch {
		case it.Dst == 0 || it.Src == 0:
			return h.refuseTask(NullBuffer, t.call, fmt.Sprintf("an address of item %d is null", i), "both have addresses")
		case !known:
			return h.refuseTask(BadDataType, t.call,
				fmt.Sprintf("item %d: tasks have no elements of %v", i, it.DataType),
				"see HcclDataType; HCCL_DATA_TYPE_INT128 is not supported")
		case it.Count == 0 || !fits(it.Count, 1, it.DataType):
			return h.refuseTask(BadCount, t.call, fmt.Sprintf("item %d has %d elements", i, it.Count),
				"at least 1, and no more than a memory can have")
		}
		for _, a := range []area{{what: "Src", at: it.Src}, {what: "Dst", at: it.Dst}} {
			a.what, a.hi = fmt.Sprintf("%s of item %d", a.what, i), int(it.Count)
			if rule, found, right := h.k.session.misplaced(a, it.DataType, false); rule != "" {
				return h.refuseTask(rule, t.call, h.would(found), right)
			}
		}
	}
	t.items = append([]BatchItem(nil), items...)
	return h.post(CommitNow, t)
}

// tileBytes is the largest part of a list in the engine's memory at a time.
const tileBytes = 64 << 10

// write sends a list of writes. They arrive before the task ends, perhaps after the task was
// reported as done.
func (t *task) write(c *tl.Context) {
	for _, it := range t.items {
		typ, _ := it.DataType.Carrier()
		per := tileBytes / typ.Size()
		for lo := 0; lo < int(it.Count); lo += per {
			n := min(per, int(it.Count)-lo)
			at := mem.Addr(lo * typ.Size())
			c.Copy(tl.Ref{Addr: it.Dst + at, Shape: tl.Dims(n), DType: typ}, tl.Ref{Addr: it.Src + at, Shape: tl.Dims(n), DType: typ})
		}
	}
}
