package trace

import "encoding/binary"

// This file encodes the few forms of protobuf fields that a Perfetto trace needs. Nested messages
// are built in a buffer of their own, because their length stands before them.

// Wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

func appendTag(b []byte, field, wire uint64) []byte {
	return binary.AppendUvarint(b, field<<3|wire)
}

func appendUint(b []byte, field, v uint64) []byte {
	return binary.AppendUvarint(appendTag(b, field, wireVarint), v)
}

func appendFixed64(b []byte, field, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(b, field, wireFixed64), v)
}

func appendText(b []byte, field uint64, s string) []byte {
	return append(binary.AppendUvarint(appendTag(b, field, wireBytes), uint64(len(s))), s...)
}

func appendMessage(b []byte, field uint64, m []byte) []byte {
	return append(binary.AppendUvarint(appendTag(b, field, wireBytes), uint64(len(m))), m...)
}
