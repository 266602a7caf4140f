package buffer

import (
	"fmt"

	"kernbench/unit"
)

// Check returns an error if a buffer holds more than its space, or less than is to be released. It
// also returns one if its releases are out of order.
func (b *Buffer) Check(p *Pool, space int32) error {
	if b.held < 0 || b.held > space {
		return fmt.Errorf("a buffer of %d bytes holds %d", space, b.held)
	}
	if b.first[0] > b.first[1] {
		return fmt.Errorf("the first release is at %v, the second at %v", b.first[0], b.first[1])
	}
	coming := int64(0)
	if b.first[0] != Never {
		coming += int64(b.part[0])
	}
	switch {
	case b.first[1] == Never:
	case b.overflows():
		bytes, err := p.check(uint32(-b.part[1]), b.first[1])
		if err != nil {
			return err
		}
		coming += bytes
	default:
		coming += int64(b.part[1])
	}
	if coming > int64(b.held) {
		return fmt.Errorf("a buffer holds %d bytes, and %d are to be released", b.held, coming)
	}
	return nil
}

// check sums up a list of releases, the first of which is at a time.
func (p *Pool) check(first uint32, at unit.Time) (bytes int64, err error) {
	if p.list[first].at != at {
		return 0, fmt.Errorf("the list of releases begins at %v, and %v is noted", p.list[first].at, at)
	}
	last, length := first, 0
	for k := first; k != 0; k = p.list[k].next {
		r := &p.list[k]
		if length++; length > len(p.list) {
			return 0, fmt.Errorf("the releases stand in a circle")
		}
		if r.at < at {
			return 0, fmt.Errorf("a release at %v stands behind one at %v", r.at, at)
		}
		bytes, at, last = bytes+int64(r.bytes), r.at, k
	}
	if p.list[first].last != last || length < 2 {
		return 0, fmt.Errorf("the list of %d releases ends with %d, and %d is noted", length, last, p.list[first].last)
	}
	return bytes, nil
}
