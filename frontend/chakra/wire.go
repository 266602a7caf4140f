package chakra

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// The wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// message is the encoding of one message, being read. at is where it starts in the file.
type message struct {
	data []byte
	pos  int
	at   int64
}

// wireError is a mistake in the encoding, at a place in the file.
type wireError struct {
	at     int64
	reason string
}

func (e *wireError) Error() string { return e.reason }

// fail returns an error at the place where the message is being read.
func (m *message) fail(format string, args ...any) error {
	return &wireError{m.at + int64(m.pos), fmt.Sprintf(format, args...)}
}

func (m *message) more() bool { return m.pos < len(m.data) }

func (m *message) varint() (uint64, error) {
	v, n := binary.Uvarint(m.data[m.pos:])
	switch {
	case n == 0:
		return 0, m.fail("the message ends within a number")
	case n < 0:
		return 0, m.fail("a number has more than 64 bits")
	}
	m.pos += n
	return v, nil
}

// field is one field of a message: its number, how it is encoded, and its content.
type field struct {
	number int
	wire   int
	bits   uint64  // of wireVarint, wireFixed64 and wireFixed32
	body   message // of wireBytes
	at     int64   // where its key starts in the file
}

func (m *message) field() (field, error) {
	f := field{at: m.at + int64(m.pos)}
	key, err := m.varint()
	if err != nil {
		return f, err
	}
	if key>>3 == 0 || key>>3 > 1<<29-1 {
		return f, &wireError{f.at, fmt.Sprintf("field number %d, want 1 to 536870911", key>>3)}
	}
	f.number, f.wire = int(key>>3), int(key&7)
	switch f.wire {
	case wireVarint:
		f.bits, err = m.varint()
	case wireFixed64, wireFixed32:
		f.bits, err = m.fixed(f.wire)
	case wireBytes:
		var n uint64
		if n, err = m.varint(); err != nil {
			break
		}
		if left := len(m.data) - m.pos; n > uint64(left) {
			return f, m.fail("field %d has %d bytes, the message has %d left", f.number, n, left)
		}
		f.body = message{data: m.data[m.pos : m.pos+int(n)], at: m.at + int64(m.pos)}
		m.pos += int(n)
	default:
		return f, &wireError{f.at, fmt.Sprintf("field %d has wire type %d, want 0, 1, 2 or 5", f.number, f.wire)}
	}
	return f, err
}

// fixed reads the bytes of a wireFixed64 or a wireFixed32.
func (m *message) fixed(wire int) (uint64, error) {
	if wire == wireFixed64 {
		if len(m.data)-m.pos < 8 {
			return 0, m.fail("the message ends within a number of 8 bytes")
		}
		m.pos += 8
		return binary.LittleEndian.Uint64(m.data[m.pos-8:]), nil
	}
	if len(m.data)-m.pos < 4 {
		return 0, m.fail("the message ends within a number of 4 bytes")
	}
	m.pos += 4
	return uint64(binary.LittleEndian.Uint32(m.data[m.pos-4:])), nil
}

// wants returns an error unless the field has the encoding of its type.
func (f field) wants(wire int, what string) error {
	if f.wire != wire {
		return &wireError{f.at, fmt.Sprintf("field %d (%s) has wire type %d, want %d", f.number, what, f.wire, wire)}
	}
	return nil
}

func (f field) text(what string) (string, error) {
	if err := f.wants(wireBytes, what); err != nil {
		return "", err
	}
	if !utf8.Valid(f.body.data) {
		return "", &wireError{f.at, fmt.Sprintf("field %d (%s) is not UTF-8", f.number, what)}
	}
	return string(f.body.data), nil
}

func (f field) uint(what string) (uint64, error) { return f.bits, f.wants(wireVarint, what) }

// uints appends the field to a repeated number, which may be packed or not.
func (f field) uints(list []uint64, what string) ([]uint64, error) {
	if f.wire != wireBytes {
		return append(list, f.bits), f.wants(wireVarint, what)
	}
	for m := f.body; m.more(); {
		v, err := m.varint()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// wireOf returns how elements of a type are encoded.
func wireOf(t ValueType) int {
	switch t.element() {
	case Double, Fixed64, Sfixed64:
		return wireFixed64
	case Float, Fixed32, Sfixed32:
		return wireFixed32
	case String, Bytes:
		return wireBytes
	}
	return wireVarint
}

// decode turns the bits of an element into what Value.Numbers holds.
func decode(t ValueType, bits uint64) (uint64, error) {
	out := bits
	switch t {
	case Float:
		return math.Float64bits(float64(math.Float32frombits(uint32(bits)))), nil
	case Sfixed32:
		return uint64(int32(bits)), nil
	case Sint32, Sint64:
		out = bits>>1 ^ -(bits & 1)
	}
	fits := true
	switch t {
	case Int32, Sint32:
		fits = int64(out) == int64(int32(out))
	case Uint32:
		fits = out <= math.MaxUint32
	case Bool:
		fits = out <= 1
	}
	if !fits {
		return 0, fmt.Errorf("%d is no %v", int64(out), t)
	}
	return out, nil
}

// encode returns the inverse of decode.
func encode(t ValueType, number uint64) uint64 {
	switch t {
	case Float:
		return uint64(math.Float32bits(float32(math.Float64frombits(number))))
	case Sfixed32:
		return uint64(uint32(number))
	case Sint32, Sint64:
		return number<<1 ^ uint64(int64(number)>>63)
	}
	return number
}
