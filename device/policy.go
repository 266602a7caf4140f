package device

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrPolicy is wrapped by every error about a DPPolicy.
var ErrPolicy = errors.New("placement policy")

// Placement is the division of a matrix at one level of the machine.
type Placement uint8

// The placements. With ColumnWise each member gets some of the columns, with RowWise some of the
// rows. With Tiled, n members form a grid of h rows and w columns, the most square one with h <= w.
// It is 2×4 for 8, 4×4 for 16, and 1×7 for 7. Each member gets the tile of its place.
const (
	Replicate Placement = iota
	ColumnWise
	RowWise
	Tiled
)

var placementNames = [...]string{Replicate: "replicate", ColumnWise: "column_wise", RowWise: "row_wise", Tiled: "tiled"}

func (p Placement) String() string {
	if int(p) < len(placementNames) {
		return placementNames[p]
	}
	return fmt.Sprintf("placement(%d)", uint8(p))
}

// ParsePlacement returns the inverse of String.
func ParsePlacement(s string) (Placement, error) {
	for i, name := range placementNames {
		if name == s {
			return Placement(i), nil
		}
	}
	return 0, fmt.Errorf("%w: unknown placement %q: want one of %s", ErrPolicy, s, strings.Join(placementNames[:], ", "))
}

// DPPolicy places a matrix within one SIP: first over cubes, then each cube's part over its PEs.
// SetDevice chooses the SIP, so there is no SIP axis.
type DPPolicy struct {
	Cube, PE Placement
	NumCubes int // the first NumCubes of the SIP; 0: all
	NumPEs   int // the first NumPEs of each cube; 0: all
}

func (p DPPolicy) String() string {
	s := fmt.Sprintf("cube=%v,pe=%v", p.Cube, p.PE)
	if p.NumCubes > 0 {
		s += fmt.Sprintf(",num_cubes=%d", p.NumCubes)
	}
	if p.NumPEs > 0 {
		s += fmt.Sprintf(",num_pes=%d", p.NumPEs)
	}
	return s
}

// ParsePolicy returns the inverse of String: "cube=replicate,pe=column_wise,num_cubes=1". A
// SIP axis and flat PE numbers, which other tools had and which meant different things to
// different readers, are refused by name.
func ParsePolicy(s string) (DPPolicy, error) {
	var p DPPolicy
	for field := range strings.SplitSeq(s, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(field), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		var err error
		switch key {
		case "cube":
			p.Cube, err = ParsePlacement(value)
		case "pe":
			p.PE, err = ParsePlacement(value)
		case "num_cubes":
			p.NumCubes, err = parseCount(key, value)
		case "num_pes":
			p.NumPEs, err = parseCount(key, value)
		case "sip", "num_sips":
			err = fmt.Errorf("%w: %s: a policy lies within one SIP; choose the SIP with SetDevice", ErrPolicy, key)
		case "pe_index":
			err = fmt.Errorf("%w: %s: flat PE numbers are not understood; a shard's place is (sip, cube, pe)", ErrPolicy, key)
		default:
			err = fmt.Errorf("%w: unknown key %q: want one of cube, pe, num_cubes, num_pes", ErrPolicy, key)
		}
		if err == nil && !found {
			err = fmt.Errorf("%w: %q has no value", ErrPolicy, key)
		}
		if err != nil {
			return DPPolicy{}, err
		}
	}
	return p, nil
}

func parseCount(key, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %s=%s: want a number of at least 1", ErrPolicy, key, value)
	}
	return n, nil
}
