package tl

import (
	"fmt"
	"math/bits"
	"slices"

	"kernbench/unit"
)

// Protocol is the software cost of a message: the latency until its receiver sees it, and the share
// of flags on the links. The zero value adds nothing.
type Protocol struct {
	// Latency is the time from the arrival of a message until its receiver sees it, Credit that of
	// a credit. Both are lists by the outermost level between SIPs that the message has passed;
	// entry 0 is for messages that passed none. Missing levels have the value of the last one; nil:
	// no latency.
	Latency, Credit []unit.Time

	// Payload is the number of data bytes per million bytes on the links; the others are flags. 0:
	// all are data.
	Payload int64

	// Copy is the rate at which the sender's channels write the data of a token. Its receiver sees
	// it later by that time, in addition to what the links take. 0: as fast as the links.
	Copy unit.Rate

	// Channel is the rate at which each channel of a message writes its data, if an instruction
	// names its channels. 0: as fast as the links.
	Channel unit.Rate
}

// million is the number of bytes on the links that Payload refers to.
const million = 1_000_000

// Late returns the latency of a message, and of a credit, that has taken a level of the network;
// -1: none.
func (p *Protocol) Late(level int) (message, credit unit.Time) {
	return of(p.Latency, level), of(p.Credit, level)
}

func of(latencies []unit.Time, level int) unit.Time {
	if len(latencies) == 0 {
		return 0
	}
	return latencies[min(level+1, len(latencies)-1)]
}

// Copied returns the time by which channels delay a token, given the bytes of its data.
func (p *Protocol) Copied(data int64) unit.Time {
	if p.Copy == 0 {
		return 0
	}
	return p.Copy.Time(data)
}

// Through returns the rate at which channels write the data of a message; 0: as fast as the links.
func (p *Protocol) Through(channels int32) unit.Rate { return unit.Rate(channels) * p.Channel }

// Wire returns the bytes on the links for n bytes of data.
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

// Data returns the highest data rate over a link of a given rate.
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
	case p.Channel < 0:
		return fmt.Errorf("a channel writes at %v: must be positive, or 0 for no limit", p.Channel)
	case p.Copy < 0:
		return fmt.Errorf("tokens are copied at %v: must be positive, or 0 for no limit", p.Copy)
	case p.Payload < 0 || p.Payload > million:
		return fmt.Errorf("%d of a million bytes on the links are data: must be 1 to %d, or 0 for all", p.Payload, million)
	}
	return nil
}
