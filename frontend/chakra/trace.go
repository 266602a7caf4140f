// Package chakra reads and writes Chakra execution traces. The file of one rank is a stream of
// length-delimited protobuf messages, one GlobalMetadata and then one Node each. The wire
// format is read here, without generated code. Traces become a plan (frontend/plan); this
// package does not judge or time them.
//
// It may import frontend/msccl, frontend/plan, program/text and tl.
package chakra

import (
	"fmt"
	"math"
	"strings"
)

// Trace is one .et file: the operations of one rank.
type Trace struct {
	File     string
	Metadata Metadata
	Nodes    []Node
}

// Metadata is the first message of a trace. Each converter writes its own version, in the field or
// in an attribute such as "schema". It is kept unchanged.
type Metadata struct {
	Version string
	Attrs   []Attr
}

// Node is one operation of a trace.
type Node struct {
	ID       uint64
	Name     string
	Type     NodeType
	CtrlDeps []uint64 // nodes that must have finished
	DataDeps []uint64 // nodes that must have finished, whose result this one uses
	Start    uint64   // microseconds, as recorded
	Duration uint64   // microseconds
	Inputs   IOInfo
	Outputs  IOInfo
	Attrs    []Attr

	Offset int64 // where the node's message starts in the file
}

// IOInfo describes tensors that go into a node or come out of it, as text.
type IOInfo struct{ Values, Shapes, Types string }

// NodeType is the type of a node.
type NodeType int32

// The node types of the schema.
const (
	InvalidNode NodeType = iota
	MetadataNode
	MemLoadNode
	MemStoreNode
	CompNode
	CommSendNode
	CommRecvNode
	CommCollNode
)

var nodeTypes = []string{"INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE",
	"COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"}

// String returns the schema's name of the type.
func (t NodeType) String() string {
	if t >= 0 && int(t) < len(nodeTypes) {
		return nodeTypes[t]
	}
	return fmt.Sprintf("NodeType(%d)", int32(t))
}

// CollectiveType is the value of the attribute comm_type of a CommCollNode.
type CollectiveType int64

// The collectives of the schema.
const (
	AllReduce CollectiveType = iota
	Reduce
	AllGather
	Gather
	Scatter
	Broadcast
	AllToAll
	ReduceScatter
	ReduceScatterBlock
	Barrier
)

var collectiveTypes = []string{"ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST",
	"ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"}

// String returns the schema's name of the collective.
func (c CollectiveType) String() string {
	if c >= 0 && int(c) < len(collectiveTypes) {
		return collectiveTypes[c]
	}
	return fmt.Sprintf("CollectiveCommType(%d)", int64(c))
}

// canonical returns the name that kernbench has for the collective.
func (c CollectiveType) canonical() string {
	if c == ReduceScatterBlock {
		c = ReduceScatter
	}
	return strings.ToLower(c.String())
}

// Attr is a named value of the metadata or of a node.
type Attr struct {
	Name  string
	Doc   string
	Value Value
}

// Find returns the value of the attribute with the name, and whether there is one. Of several, the
// last one counts, as in protobuf.
func Find(attrs []Attr, name string) (Value, bool) {
	for i := len(attrs) - 1; i >= 0; i-- {
		if attrs[i].Name == name {
			return attrs[i].Value, true
		}
	}
	return Value{}, false
}

// Value holds what an attribute holds: a number, a text, or a list of either.
// The zero Value holds nothing.
type Value struct {
	Type ValueType
	// Numbers hold integers in two's complement, booleans as 0 and 1, and floating-point
	// numbers as the bits of a float64.
	Numbers []uint64
	Texts   []string
}

// ValueType is the number of an attribute's field in the schema, which determines its encoding.
// Even ones are lists.
type ValueType int

// The types of attribute values.
const (
	NoValue   ValueType = 0
	Double    ValueType = 3
	Float     ValueType = 5
	Int32     ValueType = 7
	Int64     ValueType = 9
	Uint32    ValueType = 11
	Uint64    ValueType = 13
	Sint32    ValueType = 15
	Sint64    ValueType = 17
	Fixed32   ValueType = 19
	Fixed64   ValueType = 21
	Sfixed32  ValueType = 23
	Sfixed64  ValueType = 25
	Bool      ValueType = 27
	String    ValueType = 29
	Bytes     ValueType = 31
	lastValue ValueType = 32
)

var valueTypes = [...]string{"double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64",
	"fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"}

// List returns the type of lists of the element type t.
func (t ValueType) List() ValueType { return t.element() + 1 }

// IsList reports whether values of the type are lists.
func (t ValueType) IsList() bool { return t >= Double && t%2 == 0 }

// element returns the type of an element: t itself unless t is a list.
func (t ValueType) element() ValueType {
	if t.IsList() {
		return t - 1
	}
	return t
}

// String returns the name of the type in the schema: int64, or list of int64.
func (t ValueType) String() string {
	if t < Double || t > lastValue {
		return fmt.Sprintf("ValueType(%d)", int(t))
	}
	name := valueTypes[(t.element()-Double)/2]
	if t.IsList() {
		return "list of " + name
	}
	return name
}

// NewInt returns a value of one integer in an integer type, or a boolean.
func NewInt(t ValueType, v int64) Value { return Value{Type: t, Numbers: []uint64{uint64(v)}} }

// NewText returns a value of one text.
func NewText(text string) Value { return Value{Type: String, Texts: []string{text}} }

// Int returns the value as an integer, and whether it is one that int64 can hold.
// An integer may have any width and any encoding: files of different converters differ.
func (v Value) Int() (int64, bool) {
	if len(v.Numbers) != 1 || v.Type.IsList() {
		return 0, false
	}
	switch v.Type {
	case Double, Float:
		f := math.Float64frombits(v.Numbers[0])
		if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return 0, false
		}
		return int64(f), true
	case Uint64, Fixed64:
		return int64(v.Numbers[0]), v.Numbers[0] <= math.MaxInt64
	}
	return int64(v.Numbers[0]), true
}

// Text returns the value as text, and whether it is a string or bytes.
func (v Value) Text() (string, bool) {
	if len(v.Texts) != 1 || v.Type.IsList() {
		return "", false
	}
	return v.Texts[0], true
}

// Error is a mistake in a trace: its place, what was found, and what would be right.
type Error struct {
	File   string
	Offset int64  // in bytes, from the start of the file
	Node   string // "node 7", "metadata", or "" if not known yet
	Reason string
}

// Error returns file, offset, node and reason.
func (e *Error) Error() string {
	where := fmt.Sprintf("%s:byte %d", e.File, e.Offset)
	if e.Node != "" {
		where += ": " + e.Node
	}
	return where + ": " + e.Reason
}
