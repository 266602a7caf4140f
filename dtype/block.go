package dtype

import (
	"encoding/binary"
	"math"
)

// blockLen is the number of elements that are decoded, computed and encoded at a time. A block fits
// on the stack and in the first-level cache. It is long enough that the time to select the type and
// the operation does not matter.
const blockLen = 256

// load32 decodes len(dst) elements of F16, BF16 or F32, exactly.
func load32(t Type, dst []float32, src []byte) {
	switch t {
	case F16:
		src = src[:2*len(dst)]
		table := f16Table()
		for i := range dst {
			dst[i] = table[binary.LittleEndian.Uint16(src[2*i:])]
		}
	case BF16:
		src = src[:2*len(dst)]
		for i := range dst {
			dst[i] = bf16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case F32:
		src = src[:4*len(dst)]
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	default:
		panic("dtype: load32 of " + t.String())
	}
}

// store32 rounds src to F16, BF16 or F32 and writes it to dst.
func store32(t Type, dst []byte, src []float32) {
	switch t {
	case F16:
		dst = dst[:2*len(src)]
		for i, v := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], f16FromF32(v))
		}
	case BF16:
		dst = dst[:2*len(src)]
		for i, v := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], bf16FromF32(v))
		}
	case F32:
		dst = dst[:4*len(src)]
		for i, v := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], bits32(v))
		}
	default:
		panic("dtype: store32 of " + t.String())
	}
}

// load64 decodes len(dst) elements of any type; only an I64 beyond 2^53 is rounded.
func load64(t Type, dst []float64, src []byte) {
	switch t {
	case F32:
		src = src[:4*len(dst)]
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case F64:
		src = src[:8*len(dst)]
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
	default:
		for i := range dst {
			dst[i] = At(t, src, i)
		}
	}
}

// store64 writes each element of src as Set does.
func store64(t Type, dst []byte, src []float64) {
	if t == F64 {
		dst = dst[:8*len(src)]
		for i, v := range src {
			binary.LittleEndian.PutUint64(dst[8*i:], bits64(v))
		}
		return
	}
	for i, v := range src {
		Set(t, dst, i, v)
	}
}

// loadInt decodes len(dst) elements of an integer type.
func loadInt(t Type, dst []int64, src []byte) {
	src = src[:t.Size()*len(dst)]
	switch t {
	case I8:
		for i := range dst {
			dst[i] = int64(int8(src[i]))
		}
	case U8:
		for i := range dst {
			dst[i] = int64(src[i])
		}
	case I16:
		for i := range dst {
			dst[i] = int64(int16(binary.LittleEndian.Uint16(src[2*i:])))
		}
	case I32:
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case I64:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
		}
	default:
		panic("dtype: loadInt of " + t.String())
	}
}

// storeInt writes the low bits of each value.
func storeInt(t Type, dst []byte, src []int64) {
	dst = dst[:t.Size()*len(src)]
	switch t.Size() {
	case 1:
		for i, v := range src {
			dst[i] = byte(v)
		}
	case 2:
		for i, v := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(v))
		}
	case 4:
		for i, v := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
		}
	case 8:
		for i, v := range src {
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(v))
		}
	}
}
