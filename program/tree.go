package program

import (
	"slices"
	"unsafe"

	"kernbench/tl"
)

// depart continues with another record that has the operations so far and then this instruction. If
// there is none, the rank gets a record of its own. It returns the operation.
func (r *recorder) depart(in *tl.Instr) *Op {
	if r.record != none {
		if r.find(in) {
			return &r.ops[r.at]
		}
		r.begin(r.branchAt())
	}
	r.allow(in)
	r.own.Ops = append(r.own.Ops, r.op(in, r.reads(in.A), r.reads(in.B), r.reads(in.C)))
	if r.opts.Lines {
		r.own.Lines = append(r.own.Lines, tl.DriverOf(r.tl).Line())
	}
	if r.size(&r.own) > r.left {
		r.stop(ErrBudget)
	}
	return &r.own.Ops[r.at]
}

// branchAt returns the operation at hand, in the oldest of the records that share it.
func (r *recorder) branchAt() branch {
	k := r.record
	for p := r.parents[k]; p.record != none && p.at >= int32(r.at); p = r.parents[k] {
		k = p.record
	}
	return branch{k, int32(r.at)}
}

// find searches for a record that continues with an instruction; nil is the end of the kernel. It
// returns false if there is none.
func (r *recorder) find(in *tl.Instr) bool {
	at := r.branchAt()
	fits := func(k int32) bool {
		o := &r.records[k].Ops[r.at]
		return in == nil && o.Code == End || in != nil && o.Code != End && r.agrees(o, in)
	}
	k := at.record
	if !fits(k) {
		others := r.branches[at]
		i := slices.IndexFunc(others, fits)
		if i < 0 {
			return false
		}
		k = others[i]
	}
	r.record, r.ops = k, r.records[k].Ops
	return true
}

// begin begins a record for the rank at hand, with what it has done so far.
func (r *recorder) begin(from branch) {
	if len(r.records) > 0 && r.opts.Differ != nil {
		r.opts.Differ()
	}
	r.own, r.parent = Record{First: int32(len(r.blocks))}, from
	if from.record != none {
		p := &r.records[from.record]
		r.own.Ops = slices.Clone(p.Ops[:r.at])
		r.own.Base, r.own.Offs = slices.Clone(p.Base[:r.addrs.at:r.addrs.at]), slices.Clone(p.Offs[:r.offs.at:r.offs.at])
		if r.opts.Lines {
			r.own.Lines = slices.Clone(p.Lines[:r.at])
		}
	}
	r.record, r.ops = none, nil
}

// keep completes the record of the rank.
func (r *recorder) keep() error {
	k := &r.own
	k.Ops = append(k.Ops, Op{Code: End, Dst: tl.None, A: tl.None, B: tl.None, C: tl.None})
	if r.opts.Lines {
		k.Lines = append(k.Lines, "")
	}
	for i := range k.Ops {
		o := &k.Ops[i]
		k.Tensors = max(k.Tensors, int(max(o.Dst, o.A, o.B, o.C))+1)
	}
	k.Ops = slices.Clip(k.Ops)
	k.Traffic = tl.DriverOf(r.tl).Traffic()
	k.Traffic.Rank = 0
	if r.left -= r.size(k); r.left < 0 {
		return ErrBudget
	}
	r.record = int32(len(r.records))
	r.records, r.parents = append(r.records, *k), append(r.parents, r.parent)
	if r.parent.record != none {
		r.branches[r.parent] = append(r.branches[r.parent], r.record)
	}
	r.own = Record{}
	return nil
}

// size returns the memory that a record takes.
func (r *recorder) size(k *Record) int64 {
	return int64(len(k.Ops))*int64(unsafe.Sizeof(Op{})) + 8*int64(len(k.Base)) + 4*int64(len(k.Offs)) + 16*int64(len(k.Lines))
}

// sends returns the payloads that the record sends into each ring.
func (k *Record) sends(rings int, types []TensorType) []Sends {
	all := make([]Sends, rings)
	for i := range k.Ops {
		if o := &k.Ops[i]; o.Code == tl.OpSend {
			all[o.Port].add(int64(o.N) * int64(types[o.TensorType].Type.Size()))
		}
	}
	return all
}

// add counts a payload, with its bytes.
func (s *Sends) add(bytes int64) {
	s.Payloads++
	s.Longest = max(s.Longest, bytes)
}
