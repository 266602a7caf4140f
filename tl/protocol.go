package tl

import (
	"fmt"
	"math/bits"
	"slices"

	"kernbench/unit"
)

// Protocol is what software adds to a message: how its receiver learns that it is there, and what
// that takes of the links. The zero value adds nothing.
type Protocol struct {
	// Latency is from the arrival of a message until its receiver sees it, and Credit the same of a
	// credit: by the outermost level of the network between SIPs that it has taken, of one that has
	// taken none first. Of those levels that are not there it is as of the last one; nil: none.
	Latency, Credit []unit.Time

	// Payload is how many of a million bytes on the links are data, the others being flags. 0: all.
	Payload int64

	// Copy is how fast the sender's channels write the data of a token, beside what the links take:
	// its receiver sees it so much later. 0: as fast as the links.
	Copy unit.Rate
}

// million bytes on the links are what a Payload is a part of.
const million = 1_000_000

// Late is the latency of a message, and of a credit, that has taken a level of the network; -1:
// none.
func (p *Protocol) Late(level int) (message, credit unit.Time) {
	return of(p.Latency, level), of(p.Credit, level)
}

func of(latencies []unit.Time, level int) unit.Time {
	if len(latencies) == 0 {
		return 0
	}
	return latencies[min(level+1, len(latencies)-1)]
}

// Copied is by how much channels delay a token of so many bytes.
func (p *Protocol) Copied(data int64) unit.Time {
	if p.Copy == 0 {
		return 0
	}
	return p.Copy.Time(data)
}

// Wire is how many bytes on the links so many bytes of data take.
func (p *Protocol) Wire(data int64) int64 {
	if p.Payload == 0 || p.Payload == million {
		return data
	}
	return p.flagged(data)
}

func (p *Protocol) flagged(data int64) int64 {
	high, low := bits.Mul64(uint64(data), million)
	low, carry := bits.Add64(low, uint64(p.Payload)-1, 0)
	wire, _ := bits.Div64(high+carry, low, uint64(p.Payload))
	return int64(wire)
}

// Data is how fast data go over a link of such a rate, at most.
func (p *Protocol) Data(link unit.Rate) unit.Rate {
	if p.Payload == 0 || p.Payload == million {
		return link
	}
	high, low := bits.Mul64(uint64(link), uint64(p.Payload))
	low, carry := bits.Add64(low, million-1, 0)
	rate, _ := bits.Div64(high+carry, low, million)
	return unit.Rate(rate)
}

// Validate checks the limits of the protocol's fields.
func (p *Protocol) Validate() error {
	for _, late := range slices.Concat(p.Latency, p.Credit) {
		if late < 0 {
			return fmt.Errorf("latency of a message or credit %v: cannot be negative", late)
		}
	}
	switch {
	case p.Copy < 0:
		return fmt.Errorf("tokens are copied at %v: must be positive, or 0 for no limit", p.Copy)
	case p.Payload < 0 || p.Payload > million:
		return fmt.Errorf("%d of a million bytes on the links are data: must be 1 to %d, or 0 for all", p.Payload, million)
	}
	return nil
}
