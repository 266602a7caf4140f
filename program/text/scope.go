package text

import (
	"kernbench/dtype"
	"kernbench/tl"
)

// scope holds the effects of all statements before one.
type scope struct {
	f       *File
	tensors map[int32]typed
	posts   map[tl.Dir][]typed // announced receives without a wait so far
}

func (f *File) newScope() *scope {
	return &scope{f, map[int32]typed{}, map[tl.Dir][]typed{}}
}

// whole reports whether an operand is all of its tensor.
func (sc *scope) whole(o Operand) bool {
	return o.From == Num{} && int(o.N) == sc.tensors[o.Tensor].shape.Elems()
}

// view returns the type and shape that an operand has by default; ok is false if it is empty.
func (sc *scope) view(o Operand) (t typed, ok bool) {
	if o.Tensor < 0 {
		return typed{}, false
	}
	if t = sc.tensors[o.Tensor]; !sc.whole(o) {
		t.shape = tl.Dims(int(o.N))
	}
	return t, true
}

// implied returns the type and shape of a statement's result or data that need not be written; ok
// is false if they must be.
func (sc *scope) implied(s *Stmt) (t typed, ok bool) {
	switch s.Op {
	case Load, Store, SendRef, RecvTo, Get, LoadReduce, StoreMulticast, ReduceMulticast:
		return typed{sc.f.elemType(&s.Mem), s.Mem.shape()}, true
	case PutRef:
		return typed{sc.f.elemType(&s.From), s.From.shape()}, true
	case Send, Put, Scale, Unary, FMA, Clamp, Softmax:
		return sc.view(s.In[0])
	case Binary:
		a, okA := sc.view(s.In[0])
		b, okB := sc.view(s.In[1])
		if s.In[0].N == 1 && s.In[1].N != 1 {
			a.shape = b.shape
		}
		return a, okA && okB
	case Convert:
		a, ok := sc.view(s.In[0])
		return typed{dtype.Invalid, a.shape}, ok
	case Wait:
		if p := sc.posts[s.Dir]; len(p) > 0 {
			return p[0], true
		}
		return typed{}, false
	case Notify, WaitUntil, Fence, Quiet, PipeBarrier, Sync:
		return typed{}, true
	}
	return typed{}, false
}

// apply adds the effects of a statement.
func (sc *scope) apply(s *Stmt) {
	t := typed{s.Type, s.Shape}
	switch s.Op {
	case RecvAsync:
		sc.posts[s.Dir] = append(sc.posts[s.Dir], t)
	case Wait:
		sc.posts[s.Dir] = sc.posts[s.Dir][1:]
	}
	if s.Dst >= 0 {
		sc.tensors[s.Dst] = t
	}
}
