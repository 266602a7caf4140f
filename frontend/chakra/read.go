package chakra

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Limits of Read: a file that exceeds them is rejected, not loaded.
const (
	MaxMessage = 64 << 20 // bytes of one message
	MaxNodes   = 16 << 20 // nodes of one trace
)

// Read reads the trace of one rank. Memory grows with the bytes read, not with the lengths in the
// file. A mistake is an *Error with name as its file; fields that the schema does not know are
// skipped.
func Read(name string, r io.Reader) (*Trace, error) {
	in := newStream(r)
	t := &Trace{File: name}
	where := "metadata"
	fail := func(err error) (*Trace, error) {
		e := &Error{File: name, Offset: in.pos, Node: where, Reason: err.Error()}
		if w, ok := errors.AsType[*wireError](err); ok {
			e.Offset = w.at
		}
		return nil, e
	}
	first, err := in.next()
	if err == io.EOF {
		return fail(errors.New("the file is empty, want a GlobalMetadata message"))
	}
	if err == nil {
		t.Metadata, err = readMetadata(first)
	}
	if err != nil {
		return fail(err)
	}
	for {
		where = fmt.Sprintf("node number %d", len(t.Nodes))
		m, err := in.next()
		if err == io.EOF {
			return t, nil
		}
		if err == nil && len(t.Nodes) == MaxNodes {
			err = fmt.Errorf("more than %d nodes", MaxNodes)
		}
		if err != nil {
			return fail(err)
		}
		var n Node
		if err := n.read(m, &where); err != nil {
			return fail(err)
		}
		t.Nodes = append(t.Nodes, n)
	}
}

// stream yields the messages of a file.
type stream struct {
	r   *bufio.Reader
	pos int64
}

func newStream(r io.Reader) *stream { return &stream{r: bufio.NewReader(r)} }

// next returns the next message, or io.EOF where the file ends between two.
func (s *stream) next() (*message, error) {
	start := s.pos
	var size uint64
	for shift := 0; ; shift += 7 {
		b, err := s.r.ReadByte()
		switch {
		case err == io.EOF && shift == 0:
			return nil, io.EOF
		case err == io.EOF:
			return nil, &wireError{start, "the file ends within the length of a message"}
		case err != nil:
			return nil, err
		}
		s.pos++
		if shift > 28 {
			return nil, &wireError{start, "the length of a message has more than 5 bytes: is this a delimited protobuf file?"}
		}
		size |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	if size > MaxMessage {
		return nil, &wireError{start, fmt.Sprintf("a message of %d bytes, the limit is %d", size, MaxMessage)}
	}
	m := &message{at: s.pos}
	for left := int(size); left > 0; {
		part := min(left, 1<<16)
		have := len(m.data)
		m.data = append(m.data, make([]byte, part)...)
		n, err := io.ReadFull(s.r, m.data[have:])
		s.pos += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, &wireError{start, fmt.Sprintf("a message of %d bytes, the file has %d left", size, have+n)}
		}
		if err != nil {
			return nil, err
		}
		left -= part
	}
	return m, nil
}

func readMetadata(m *message) (Metadata, error) {
	var d Metadata
	for m.more() {
		f, err := m.field()
		if err != nil {
			return d, err
		}
		switch f.number {
		case 1:
			d.Version, err = f.text("version")
		case 2:
			var a Attr
			a, err = readAttr(f)
			d.Attrs = append(d.Attrs, a)
		}
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

// read fills the node, and where with its name for errors as soon as the id is known.
func (n *Node) read(m *message, where *string) error {
	n.Offset = m.at
	*where = "node 0"
	for m.more() {
		f, err := m.field()
		if err != nil {
			return err
		}
		switch f.number {
		case 1:
			n.ID, err = f.uint("id")
			*where = fmt.Sprintf("node %d", n.ID)
		case 2:
			n.Name, err = f.text("name")
		case 3:
			var v uint64
			v, err = f.uint("type")
			if n.Type = NodeType(v); err == nil && v >= uint64(len(nodeTypes)) {
				err = &wireError{f.at, fmt.Sprintf("type %d, want 0 to %d", v, len(nodeTypes)-1)}
			}
		case 4:
			n.CtrlDeps, err = f.uints(n.CtrlDeps, "ctrl_deps")
		case 5:
			n.DataDeps, err = f.uints(n.DataDeps, "data_deps")
		case 6:
			n.Start, err = f.uint("start_time_micros")
		case 7:
			n.Duration, err = f.uint("duration_micros")
		case 8:
			n.Inputs, err = readIO(f, "inputs")
		case 9:
			n.Outputs, err = readIO(f, "outputs")
		case 10:
			var a Attr
			a, err = readAttr(f)
			n.Attrs = append(n.Attrs, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readIO(f field, what string) (IOInfo, error) {
	var io IOInfo
	if err := f.wants(wireBytes, what); err != nil {
		return io, err
	}
	for m := f.body; m.more(); {
		part, err := m.field()
		if err != nil {
			return io, err
		}
		switch part.number {
		case 1:
			io.Values, err = part.text("values")
		case 2:
			io.Shapes, err = part.text("shapes")
		case 3:
			io.Types, err = part.text("types")
		}
		if err != nil {
			return io, err
		}
	}
	return io, nil
}

func readAttr(f field) (Attr, error) {
	var a Attr
	if err := f.wants(wireBytes, "attr"); err != nil {
		return a, err
	}
	for m := f.body; m.more(); {
		part, err := m.field()
		if err != nil {
			return a, err
		}
		switch {
		case part.number == 1:
			a.Name, err = part.text("name")
		case part.number == 2:
			a.Doc, err = part.text("doc_string")
		case part.number >= int(Double) && part.number <= int(lastValue):
			a.Value, err = readValue(ValueType(part.number), part)
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

// readValue reads one field of the attribute's value: an element, or a message that
// holds the elements of a list.
func readValue(t ValueType, f field) (Value, error) {
	v := Value{Type: t}
	if !t.IsList() {
		return v, v.add(f)
	}
	if err := f.wants(wireBytes, t.String()); err != nil {
		return v, err
	}
	for m := f.body; m.more(); {
		part, err := m.field()
		if err != nil {
			return v, err
		}
		if part.number != 1 {
			continue
		}
		if wire := wireOf(t); part.wire == wireBytes && wire != wireBytes {
			err = v.addPacked(part.body, wire)
		} else {
			err = v.add(part)
		}
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// add appends an element.
func (v *Value) add(f field) error {
	t := v.Type.element()
	if err := f.wants(wireOf(t), t.String()); err != nil {
		return err
	}
	if t == String && !utf8.Valid(f.body.data) {
		return &wireError{f.at, "a string is not UTF-8"}
	}
	if t == String || t == Bytes {
		v.Texts = append(v.Texts, string(f.body.data))
		return nil
	}
	n, err := decode(t, f.bits)
	if err != nil {
		return &wireError{f.at, err.Error()}
	}
	v.Numbers = append(v.Numbers, n)
	return nil
}

// addPacked appends the elements of a packed list.
func (v *Value) addPacked(m message, wire int) error {
	for m.more() {
		var bits uint64
		var err error
		at := m.at + int64(m.pos)
		if wire == wireVarint {
			bits, err = m.varint()
		} else {
			bits, err = m.fixed(wire)
		}
		if err != nil {
			return err
		}
		n, err := decode(v.Type.element(), bits)
		if err != nil {
			return &wireError{at, err.Error()}
		}
		v.Numbers = append(v.Numbers, n)
	}
	return nil
}
