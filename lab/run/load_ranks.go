package run

import (
	"errors"
	"fmt"
	"kernbench/unit"
	"slices"
	"strings"
)

// ranks finds the PEs that take part: the devices, in the machine's rank order, or the first Ranks.
func (x *Job) ranks() error {
	have := x.Machine.NumPEs()
	if x.Ranks > have {
		return &TooManyRanks{x.Ranks, have, x.enough()}
	}
	if x.Devices != nil {
		return x.useDevices(have)
	}
	x.world = x.program.DefaultRanks(have)
	world := x.World()
	if !x.program.Parallel || world == 0 {
		return nil
	}
	if world > have {
		return fmt.Errorf("%d ranks: the machine has %d PEs", world, have)
	}
	x.pes = make([]int32, world)
	for i := range x.pes {
		x.pes[i] = int32(i)
	}
	return nil
}

// checkTracedRanks returns an error if a rank of the trace cannot take part.
func (x *Job) checkTracedRanks() error {
	traced := x.TraceScope.Ranks
	if len(traced) == 0 {
		return nil
	}
	n := len(x.Participants())
	if i, _ := slices.BinarySearch(traced, n); i < len(traced) {
		return fmt.Errorf("trace of rank %d: the ranks are 0 to %d", traced[i], n-1)
	}
	return nil
}

// useDevices takes the devices of the spec.
func (x *Job) useDevices(have int) error {
	x.pes = make([]int32, 0, len(x.Devices))
	for _, d := range x.Devices {
		if d < 0 || d >= have {
			return fmt.Errorf("device %d: the machine has %s, 0 to %d", d, unit.Count(have, "PE"), have-1)
		}
		x.pes = append(x.pes, int32(d))
	}
	sorted := slices.Sorted(slices.Values(x.Devices))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("device %d is named twice", sorted[i])
		}
	}
	if !slices.Equal(sorted, x.Devices) {
		return fmt.Errorf("devices %s: ranks have the machine's order: write %s", deviceList(x.Devices), deviceList(sorted))
	}
	if len(x.pes) == 0 {
		return errors.New("a list of no devices: at least one must take part")
	}
	return nil
}

// deviceList returns a list of devices as a person writes it: 0,2,5-7.
func deviceList(devices []int) string {
	var b strings.Builder
	for lo := 0; lo < len(devices); {
		hi := lo + 1
		for hi < len(devices) && devices[hi] == devices[hi-1]+1 {
			hi++
		}
		if lo > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, devices[lo])
		if hi-lo > 1 {
			fmt.Fprintf(&b, "-%d", devices[hi-1])
		}
		lo = hi
	}
	return b.String()
}
