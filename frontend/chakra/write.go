package chakra

import (
	"encoding/binary"
	"io"
)

// Write writes the trace of one rank as Read reads it: fields in the order of the schema,
// defaults left out, lists of numbers packed.
func Write(w io.Writer, t *Trace) error {
	var d encoder
	d.text(1, t.Metadata.Version)
	d.attrs(2, t.Metadata.Attrs)
	if err := d.delimited(w); err != nil {
		return err
	}
	for i := range t.Nodes {
		d = d[:0]
		d.node(&t.Nodes[i])
		if err := d.delimited(w); err != nil {
			return err
		}
	}
	return nil
}

// node writes the fields of a node.
func (e *encoder) node(n *Node) {
	e.uint(1, n.ID)
	e.text(2, n.Name)
	e.uint(3, uint64(n.Type))
	e.uints(4, n.CtrlDeps)
	e.uints(5, n.DataDeps)
	e.uint(6, n.Start)
	e.uint(7, n.Duration)
	e.io(8, n.Inputs)
	e.io(9, n.Outputs)
	e.attrs(10, n.Attrs)
}

// encoder is the encoding of a message, being written.
type encoder []byte

// delimited writes the message after its length.
func (e encoder) delimited(w io.Writer) error {
	if _, err := w.Write(binary.AppendUvarint(nil, uint64(len(e)))); err != nil {
		return err
	}
	_, err := w.Write(e)
	return err
}

func (e *encoder) key(number, wire int) {
	*e = binary.AppendUvarint(*e, uint64(number)<<3|uint64(wire))
}

func (e *encoder) bytes(number int, b []byte) {
	e.key(number, wireBytes)
	*e = append(binary.AppendUvarint(*e, uint64(len(b))), b...)
}

func (e *encoder) text(number int, s string) {
	if s != "" {
		e.bytes(number, []byte(s))
	}
}

func (e *encoder) uint(number int, v uint64) {
	if v != 0 {
		e.key(number, wireVarint)
		*e = binary.AppendUvarint(*e, v)
	}
}

func (e *encoder) uints(number int, list []uint64) {
	if len(list) == 0 {
		return
	}
	var packed []byte
	for _, v := range list {
		packed = binary.AppendUvarint(packed, v)
	}
	e.bytes(number, packed)
}

func (e *encoder) io(number int, info IOInfo) {
	if info == (IOInfo{}) {
		return
	}
	var m encoder
	m.text(1, info.Values)
	m.text(2, info.Shapes)
	m.text(3, info.Types)
	e.bytes(number, m)
}

func (e *encoder) attrs(number int, attrs []Attr) {
	for _, a := range attrs {
		var m encoder
		m.text(1, a.Name)
		m.text(2, a.Doc)
		m.value(a.Value)
		e.bytes(number, m)
	}
}

// value writes the value of an attribute. A member of a oneof is written even if it is zero.
func (e *encoder) value(v Value) {
	number, t := int(v.Type), v.Type.element()
	switch {
	case v.Type == NoValue:
	case !v.Type.IsList() && wireOf(t) == wireBytes:
		for _, s := range v.Texts {
			e.bytes(number, []byte(s))
		}
	case !v.Type.IsList():
		for _, n := range v.Numbers {
			e.key(number, wireOf(t))
			e.number(t, n)
		}
	default:
		var m encoder
		for _, s := range v.Texts {
			m.bytes(1, []byte(s))
		}
		var packed encoder
		for _, n := range v.Numbers {
			packed.number(t, n)
		}
		if len(packed) > 0 {
			m.bytes(1, packed)
		}
		e.bytes(number, m)
	}
}

// number writes an element without a key.
func (e *encoder) number(t ValueType, n uint64) {
	bits := encode(t, n)
	switch wireOf(t) {
	case wireFixed64:
		*e = binary.LittleEndian.AppendUint64(*e, bits)
	case wireFixed32:
		*e = binary.LittleEndian.AppendUint32(*e, uint32(bits))
	default:
		*e = binary.AppendUvarint(*e, bits)
	}
}
