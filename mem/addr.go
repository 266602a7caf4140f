package mem

import "fmt"

// Space is a kind of memory.
type Space uint8

// The memories of the machine. A virtual address denotes a place in HBM. The address map maps it.
const (
	Virtual Space = iota
	HBM           // one slice per PE
	TCM           // one per PE
	SRAM          // one per cube
)

var spaceNames = [...]string{Virtual: "virtual", HBM: "hbm", TCM: "tcm", SRAM: "sram"}

func (s Space) String() string {
	if int(s) < len(spaceNames) {
		return spaceNames[s]
	}
	return fmt.Sprintf("space(%d)", uint8(s))
}

// ParseSpace reads tcm, hbm or sram.
func ParseSpace(s string) (Space, error) {
	for i := HBM; i <= SRAM; i++ {
		if spaceNames[i] == s {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown memory %q: want one of tcm, hbm, sram", s)
}

// Addr is an address. A physical one has 4 bits of space, 24 bits of unit (the PE, or the cube for
// SRAM) and 36 bits of offset. A virtual one has 60 bits of offset. Addresses of one space and unit
// are contiguous, so address arithmetic is plain addition.
type Addr uint64

const (
	offsetBits = 36
	unitBits   = 24
	spaceShift = offsetBits + unitBits

	// MaxOffset is the largest offset in one memory: 64 GiB less one byte.
	MaxOffset = 1<<offsetBits - 1
)

// At returns the address of byte offset in memory unit of a space.
func At(s Space, unit int, offset int64) Addr {
	return Addr(s)<<spaceShift | Addr(unit)<<offsetBits | Addr(offset)
}

// Space returns the kind of memory of the address.
func (a Addr) Space() Space { return Space(a >> spaceShift) }

// Unit returns the PE, or the cube for SRAM, whose memory it is. It is 0 for a virtual address.
func (a Addr) Unit() int {
	if a.Space() == Virtual {
		return 0
	}
	return int(a>>offsetBits) & (1<<unitBits - 1)
}

// Offset returns the byte within the memory (or the whole virtual address).
func (a Addr) Offset() int64 {
	if a.Space() == Virtual {
		return int64(a)
	}
	return int64(a & MaxOffset)
}

func (a Addr) String() string {
	if a.Space() == Virtual {
		return fmt.Sprintf("va:%#x", uint64(a))
	}
	return fmt.Sprintf("%v[%d]:%#x", a.Space(), a.Unit(), a.Offset())
}
