package sim

import (
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/pages"
	"kernbench/tl"
)

// A record that says no more than what its kernel's times depend on is the same for many ranks, and
// can be shared: what a log or a trace is told has addresses in it, and is each rank's own.
//
// A launch that says that its ranks are alike (tl.Launch.Alike) is recorded on one rank of each kind of
// each group, for all of them, and of groups that are told the same once. That it says so rightly is for tests to hold; a few more ranks are recorded and
// compared, which finds most kernels that are not as they say. Of other launches all ranks are recorded
// one after the other, where that does not take long, and those share who have turned out to be the same.

// sharedFrom is the number of ranks from which the record of one is worth to be shared.
const sharedFrom = 8

// longest is how many instructions of a kernel that is not said to be alike are recorded before anything
// is followed, alikeLongest of one that is; keptMost those of all that are not the same, and keptApart
// where no two are.
const (
	longest      = 1 << 14
	alikeLongest = 1 << 22
	keptMost     = 1 << 22
	keptApart    = 1 << 16
)

// recordShared records all kernels before they are followed, where it may, and tells whether it has.
func (w *follow) recordShared() (bool, error) {
	if w.detailed || w.e.opts.RecordLines || len(w.ranks) < sharedFrom {
		return false, nil
	}
	if all, ok := w.kinOf(); ok {
		if ok, err := w.recordKinds(all); ok || err != nil {
			return ok, err
		}
	}
	return w.recordAll(), nil
}

// whole is what a kernel has been recorded to do.
type whole struct {
	ops     []op
	cells   int   // that they name
	first   int32 // rank that was recorded
	traffic tl.Traffic
}

// recordAll records all ranks, of which those share that do the same. It tells whether it could: others
// are recorded when they are followed.
func (w *follow) recordAll() bool {
	var (
		known []whole
		of    = make([]int32, len(w.ranks))
		like  = map[uint64][]int32{}
		last  int32
		kept  = 0
	)
	for i := range w.ranks {
		k, ok := w.recordWhole(int32(i), longest)
		if !ok {
			return false
		}
		if len(known) > 0 && sameOps(known[last].ops, k.ops) { // as most are like the one before
			of[i] = last
			continue
		}
		sum := k.sum()
		at := slices.IndexFunc(like[sum], func(o int32) bool { return sameOps(known[o].ops, k.ops) })
		if at < 0 {
			if kept += len(k.ops); kept > keptMost || kept > keptApart && len(known) == i {
				return false
			}
			k.ops = slices.Clone(k.ops)
			known = append(known, k)
			at = len(like[sum])
			like[sum] = append(like[sum], int32(len(known)-1))
		}
		last = like[sum][at]
		of[i] = last
	}
	w.share(known, of)
	return true
}

// sameOps tells whether two records are the same, block by block.
func sameOps(a, b []op) bool {
	if len(a) != len(b) {
		return false
	}
	const block = 64
	for len(a) >= block {
		if *(*[block]op)(a) != *(*[block]op)(b) {
			return false
		}
		a, b = a[block:], b[block:]
	}
	return slices.Equal(a, b)
}

// share gives each rank its record.
func (w *follow) share(known []whole, of []int32) {
	for i := range known {
		known[i].cells = reuseCells(known[i].ops, known[i].cells)
		w.traffic = append(w.traffic, known[i].traffic)
	}
	all := 0
	for _, k := range of {
		all += known[k].cells
	}
	cells := pages.Large(make([]cell, all))
	for i := range cells {
		cells[i].slot = -1
	}
	for i := range w.ranks {
		f, k := &w.ranks[i], &known[of[i]]
		f.ops, f.cells, cells = k.ops, cells[:k.cells:k.cells], cells[k.cells:]
	}
	w.forms, w.recordOf = w.made, of
}

// sum is the same for records that are the same.
func (k *whole) sum() uint64 {
	sum := uint64(len(k.ops))
	for i := range k.ops {
		o := &k.ops[i]
		more := uint64(0)
		if o.more {
			more = 1
		}
		for _, v := range [...]uint64{
			uint64(o.kind) | uint64(o.port)<<8 | more<<16 | uint64(o.form)<<32,
			uint64(uint32(o.dst)) | uint64(uint32(o.a))<<32, uint64(uint32(o.b)) | uint64(uint32(o.c))<<32, uint64(o.time),
		} {
			sum = (sum ^ v) * 0x9e3779b97f4a7c15
			sum ^= sum >> 29
		}
	}
	return sum
}

// wiredAlike tells whether rings of a number have the same direction on all ranks.
func wiredAlike(all []tl.Wiring) bool {
	for i := range all {
		if len(all[i].Out) != len(all[0].Out) || len(all[i].In) != len(all[0].In) {
			return false
		}
		for k := range all[i].Out {
			if all[i].Out[k].Dir != all[0].Out[k].Dir {
				return false
			}
		}
		for k := range all[i].In {
			if all[i].In[k].Dir != all[0].In[k].Dir {
				return false
			}
		}
	}
	return true
}

// faulty tells whether the kernel ends in a fault.
func (k *whole) faulty() bool { return k.ops[len(k.ops)-1].kind == opFault }

// recordWhole is all that the kernel of a rank does, until the next one is recorded; false if that is
// more than so many instructions, or the launch was cancelled.
func (w *follow) recordWhole(rank int32, most int) (whole, bool) {
	ops := w.long[:0]
	for {
		r := w.recordPart(rank)
		ops = append(ops, w.part.ops...)
		w.long = ops
		switch {
		case r.ended:
			return whole{ops, len(r.known), rank, r.traffic}, true
		case len(ops) > most || w.ctx.Err() != nil:
			r.gone = true
			r.stop()
			delete(w.busy, rank)
			return whole{}, false
		}
	}
}

// compare refuses a kernel that is not alike.
func (w *follow) compare(f *follower, like *whole, same []op) error {
	ops, lead := like.ops, &w.ranks[like.first]
	first := fmt.Sprintf("rank %d", lead.index)
	if lead.group != f.group {
		first += fmt.Sprintf(" of group %d", lead.group)
	}
	for i := range min(len(ops), len(same)) {
		if ops[i] != same[i] {
			return w.unlike(f, fmt.Sprintf("instruction %d is %s, %s has %s", i+1, w.describeOp(&same[i]), first, w.describeOp(&ops[i])))
		}
	}
	if len(ops) != len(same) {
		return w.unlike(f, fmt.Sprintf("it has %d instructions, %s %d", len(same), first, len(ops)))
	}
	return nil
}

func (w *follow) unlike(f *follower, how string) error {
	return &fault.Misuse{
		Place:  w.e.placeOf(int(f.index), int(f.pe), w.launch.Name, w.start),
		Reason: "the launch says that its ranks are alike: " + how,
	}
}

// describeOp is an instruction in a few words.
func (w *follow) describeOp(o *op) string {
	s := [...]string{"load", "store", "arithmetic", "gemm", "send", "send from memory", "receive", "announced receive", "drop", "end", "fault"}[o.kind]
	switch o.kind {
	case opSend, opSendRef, opRecv:
		f := &w.made[o.form]
		return fmt.Sprintf("%s (%v %v, ring %d)", s, f.typ, f.shape, o.port)
	case opLoad, opStore, opMath, opGemm:
		return fmt.Sprintf("%s (%v)", s, o.time)
	}
	return s
}
