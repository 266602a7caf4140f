package dtype

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Type is an element type. The zero value is Invalid.
//
// Floats follow IEEE 754: round to nearest even, overflow to infinity. A computed NaN is the one
// canonical quiet NaN of its type, because processors differ in NaN payloads. Max and Min return
// NaN if either operand is NaN, and order −0 below +0. f16 and bf16 results are the exact result
// rounded once.
//
// Integers wrap. Integer division by zero gives 0; the caller must check for it beforehand. A
// float converted to an integer is truncated towards zero and clamped to the type's range; NaN
// becomes 0.
//
// dst may be the same slice as an operand but must not overlap a part of it. An operation panics if
// the lengths of its slices do not match; the message has both lengths.
type Type uint8

// The element types.
const (
	Invalid Type = iota
	F16          // IEEE binary16
	BF16         // the upper half of an IEEE binary32
	F32
	F64
	I8
	I16
	I32
	I64
	U8
	numTypes
)

var typeNames = [numTypes]string{"invalid", "f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8"}

var typeSizes = [numTypes]uint8{0, 2, 2, 4, 8, 1, 2, 4, 8, 1}

// typeAliases are the names that other tools give to the same types.
var typeAliases = map[string]Type{
	"fp16": F16, "float16": F16, "half": F16, "float": F32, "double": F64, "bfloat16": BF16, "fp32": F32,
	"float32": F32, "fp64": F64, "float64": F64,
	"int8": I8, "int16": I16, "int32": I32, "int64": I64, "uint8": U8,
}

// Types lists every valid type, floats first.
func Types() []Type { return []Type{F16, BF16, F32, F64, I8, I16, I32, I64, U8} }

// Parse reads a type's name, "f16", or one of its common aliases, "float16".
func Parse(name string) (Type, error) {
	if i := slices.Index(typeNames[1:], name); i >= 0 {
		return Type(i + 1), nil
	}
	if t, ok := typeAliases[name]; ok {
		return t, nil
	}
	return Invalid, fmt.Errorf("unknown element type %q: want one of %s", name, strings.Join(typeNames[1:], ", "))
}

func (t Type) String() string {
	if t < numTypes {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Valid reports whether t is one of Types.
func (t Type) Valid() bool { return t > Invalid && t < numTypes }

// Size returns the bytes of one element, 0 for a type that is not valid.
func (t Type) Size() int {
	if t < numTypes {
		return int(typeSizes[t])
	}
	return 0
}

// IsFloat reports whether t is a floating-point type.
func (t Type) IsFloat() bool { return t >= F16 && t <= F64 }

// IsInt reports whether t is an integer type.
func (t Type) IsInt() bool { return t >= I8 && t <= U8 }

// Epsilon returns the unit roundoff of t: half the distance from 1 to the next value, the largest
// relative error of one rounding. It is 0 for integers.
func Epsilon(t Type) float64 {
	switch t {
	case F16:
		return 0x1p-11
	case BF16:
		return 0x1p-8
	case F32:
		return 0x1p-24
	case F64:
		return 0x1p-53
	}
	return 0
}

// MaxFinite returns the largest finite value of t. For I64 it is rounded up to 2^63.
func MaxFinite(t Type) float64 {
	switch t {
	case F16:
		return 65504
	case BF16:
		return 0x1.fep127
	case F32:
		return math.MaxFloat32
	case F64:
		return math.MaxFloat64
	}
	_, high := intRange(t)
	return float64(high)
}

// intRange returns the least and the largest value of an integer type.
func intRange(t Type) (low, high int64) {
	switch t {
	case I8:
		return math.MinInt8, math.MaxInt8
	case I16:
		return math.MinInt16, math.MaxInt16
	case I32:
		return math.MinInt32, math.MaxInt32
	case I64:
		return math.MinInt64, math.MaxInt64
	case U8:
		return 0, math.MaxUint8
	}
	panic(fmt.Sprintf("dtype: %v is not an integer type", t))
}
