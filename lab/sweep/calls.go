package sweep

import (
	"fmt"

	"kernbench/collective"
	"kernbench/device"
	"kernbench/unit"
)

// Largest returns the most elements of a contribution or a result, when each rank has one element
// for each rank.
func Largest(what *collective.Collective, c collective.Call) int {
	c.Elems = c.World
	most := 0
	for r := range c.World {
		most = max(most, what.In(c, r), what.Out(c, r))
	}
	return most
}

// Parts returns the size of the largest vector of a call, in counts of the call. It is
// the number of ranks if a vector has a block for each rank. It is that, too, if a rank has a part
// of another rank's vector. Otherwise it is one.
func Parts(what *collective.Collective, c collective.Call) unit.Bytes {
	if what.Blocks {
		return unit.Bytes(c.World)
	}
	most := Largest(what, c)
	c.Elems = c.World
	for r := range c.World {
		for _, n := range []int{what.In(c, r), what.Out(c, r)} {
			if n > 0 && n < most {
				return unit.Bytes(c.World)
			}
		}
	}
	return 1
}

// Counts returns the count of the NCCL call for a size, and the number of elements that a rank
// contributes to the call here. The first is a part of the largest vector. The second is that
// vector or a part of it.
func Counts(what *collective.Collective, c collective.Call, size unit.Bytes) (count, elems int) {
	most := Largest(what, c)
	if most == 0 {
		return 0, 0
	}
	n := Parts(what, c)
	count = int(size / (n * unit.Bytes(c.Type.Size())))
	return count, count * int(n) * c.World / most
}

// Refusal returns the reason why a plan cannot perform a call, or nil. A panic of the algorithm's
// functions is a reason too.
func Refusal(p *device.Plan, c collective.Call) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its Check panicked: %v", v)
		}
	}()
	return p.Refuses(c)
}

// FitsInPlace reports whether contributions and results can share memory.
func FitsInPlace(what *collective.Collective, c collective.Call) bool {
	return !what.Apart && c.Elems > 0 && (what.InPlace != nil || mostOut(what, c) <= c.Elems)
}

func mostOut(what *collective.Collective, c collective.Call) int {
	most := 0
	for r := range c.World {
		most = max(most, what.Out(c, r))
	}
	return most
}

// Data returns the size of the contributions of all ranks, plus that of the results if they are out
// of place.
func Data(what *collective.Collective, c collective.Call, inPlace bool) unit.Bytes {
	n := c.Elems + mostOut(what, c)
	if inPlace {
		_, _, space := what.Shared(c, 0)
		n = max(space, c.Elems)
	}
	return unit.Bytes(n) * unit.Bytes(c.World) * unit.Bytes(c.Type.Size())
}

// NumbersBelow returns the numbers from 0 to n-1.
func NumbersBelow(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}
