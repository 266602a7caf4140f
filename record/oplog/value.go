package oplog

import (
	"math/bits"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// value is the contents of a tensor.
type value struct {
	buf  []byte
	prov collective.Prov
	one  [1]collective.Run // storage for provenance of one run, as most is
}

// elems returns n elements from off on.
func (v *value) elems(t dtype.Type, off, n int32) []byte {
	size := t.Size()
	return v.buf[int(off)*size : int(off+n)*size]
}

// labels returns the provenance of n elements from off on, in scratch unless they are the whole.
func (v *value) labels(scratch *collective.Prov, off, n int32) collective.Prov {
	if v.prov.Len() == int(n) {
		return v.prov
	}
	*scratch = collective.Slice((*scratch)[:0], v.prov, int(off), int(n))
	return *scratch
}

// values holds the values of a log by their numbers. Their addresses stay the same.
type values struct {
	blocks []*[blockLen]value
	pool   [40][][]byte // buffers by binary logarithm of their capacity
}

const blockLen = 256

// at returns the value with a number.
func (vs *values) at(v tl.Value) *value {
	i := int(v / blockLen)
	for i >= len(vs.blocks) {
		vs.blocks = append(vs.blocks, new([blockLen]value))
	}
	return &vs.blocks[i][v%blockLen]
}

// make allocates a buffer of n bytes for a value.
func (vs *values) make(v *value, n int) []byte {
	k := bits.Len(uint(max(n, 16) - 1))
	if f := vs.pool[k]; len(f) > 0 {
		v.buf, vs.pool[k] = f[len(f)-1][:n], f[:len(f)-1]
	} else {
		v.buf = make([]byte, n, 1<<k)
	}
	if v.prov == nil {
		v.prov = v.one[:0]
	}
	v.prov = v.prov[:0]
	return v.buf
}

// drop returns the buffer of a freed value to the pool.
func (vs *values) drop(name tl.Value) {
	v := vs.at(name)
	if v.buf == nil {
		return
	}
	k := bits.Len(uint(cap(v.buf) - 1))
	vs.pool[k] = append(vs.pool[k], v.buf)
	v.buf = nil
}
