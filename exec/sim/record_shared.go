package sim

import (
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/tl"
)

// A launch that says that its ranks are alike (tl.Launch.Alike) is recorded on one rank of each kind
// of each group, whose record stands for those of all. What a log or a trace is told has addresses in it, and is
// each rank's own. That the launch says so rightly is for tests to hold; a few more ranks are recorded
// and compared, which finds most kernels that are not as they say.

// sharedFrom is the number of ranks from which the record of one is worth to be shared.
const sharedFrom = 8

// sharedMost is the longest record that is kept whole.
const sharedMost = 1 << 22

// recordShared records one rank for all, if that may be, and tells whether it has.
func (w *follow) recordShared() (bool, error) {
	l := w.launch
	if !l.Alike || w.detailed || w.e.opts.RecordLines {
		return false, nil
	}
	for g := range l.Groups {
		if len(l.Groups[g].PEs) < sharedFrom || !wiredAlike(l.Groups[g].Wiring) {
			return false, nil
		}
	}
	defer func() { w.forms = w.made }() // also when only some groups have a record
	first := 0
	for g := range l.Groups {
		ranks := w.ranks[first : first+len(l.Groups[g].PEs)]
		if ok, err := w.recordGroup(ranks, l.Groups[g].Kinds); !ok || err != nil {
			return false, err
		}
		first += len(ranks)
	}
	return true, nil
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

// likeness is the record of the first rank of a kind, and how many cells it names.
type likeness struct {
	ops   []op
	cells int
	first int32
}

// recordGroup gives the ranks of a group the record of the first of their kind.
func (w *follow) recordGroup(ranks []follower, kinds []int32) (bool, error) {
	if kinds == nil {
		kinds = make([]int32, len(ranks))
	}
	known := make([]likeness, slices.Max(kinds)+1)
	if len(known) > len(ranks)/sharedFrom {
		return false, nil
	}
	for i, k := range kinds {
		l := &known[k]
		if l.ops == nil {
			if l.ops, l.cells = w.recordWhole(ranks[i].id); l.ops == nil {
				return false, nil
			}
			l.first = ranks[i].id
		}
	}
	for _, i := range [...]int{1, len(ranks) / 2, len(ranks) - 1} {
		same, _ := w.recordWhole(ranks[i].id)
		if same == nil {
			return false, nil
		}
		if err := w.compare(&ranks[i], &known[kinds[i]], same); err != nil {
			return false, err
		}
	}
	for i := range known {
		known[i].cells = reuseCells(known[i].ops, known[i].cells)
	}
	all := 0
	for _, k := range kinds {
		all += known[k].cells
	}
	cells := make([]cell, all)
	for i := range cells {
		cells[i].slot = -1
	}
	for i := range ranks {
		f, l := &ranks[i], &known[kinds[i]]
		f.ops, f.cells, cells = l.ops, cells[:l.cells:l.cells], cells[l.cells:]
		w.traffic[f.id] = w.traffic[l.first]
	}
	return true, nil
}

// recordWhole is all that the kernel of a rank does, and how many cells it names; nil for one that is
// at fault, or too long to be kept: these are recorded part by part, and followed so far.
func (w *follow) recordWhole(rank int32) ([]op, int) {
	var ops []op
	for {
		r := w.recordPart(rank)
		ops = append(ops, w.part.ops...)
		switch {
		case r.ended && ops[len(ops)-1].kind == opFault:
			return nil, 0
		case r.ended:
			return ops, len(r.known)
		case len(ops) > sharedMost || w.ctx.Err() != nil:
			r.gone = true
			r.stop()
			delete(w.busy, rank)
			return nil, 0
		}
	}
}

// compare refuses a kernel that is not alike.
func (w *follow) compare(f *follower, like *likeness, same []op) error {
	ops, first := like.ops, w.ranks[like.first].index
	for i := range min(len(ops), len(same)) {
		if ops[i] != same[i] {
			return w.unlike(f, fmt.Sprintf("instruction %d is %s, rank %d has %s", i+1, w.describeOp(&same[i]), first, w.describeOp(&ops[i])))
		}
	}
	if len(ops) != len(same) {
		return w.unlike(f, fmt.Sprintf("it has %d instructions, rank %d %d", len(same), first, len(ops)))
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
