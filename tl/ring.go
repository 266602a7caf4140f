package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/unit"
)

// Ring is the configuration of the IPCQ rings of a launch.
type Ring struct {
	Slots       int       // per direction
	Mixed       bool      // some rings have numbers of slots of their own: those of their ports
	SlotBytes   int64     // the largest message; longer payloads go as several
	Space       mem.Space // where slots lie: TCM, HBM or SRAM (buffer_kind)
	CreditBytes int64     // size of a credit
	Poll        bool      // a blocked PE re-reads its pointers; otherwise it sleeps
	PollEvery   unit.Time // between two reads
	WakeCost    unit.Time // of the interrupt that ends a sleep
	OnRecv      bool      // the older rule: the credit leaves inside the receive
	Strict      bool      // a receive must agree with what was sent in type and shape
	Protocol    Protocol  // of its messages, and of those to windows
	LL, LL128   Protocol  // of packets: see Lines
}

// Validate checks the limits of the ring's fields.
func (r *Ring) Validate() error {
	switch {
	case r.Slots < 1 || r.Slots > 1<<15:
		return fmt.Errorf("n_slots %d: must be 1 to 32768", r.Slots)
	case r.SlotBytes < 8:
		return fmt.Errorf("slot_size %d: must be at least 8 bytes", r.SlotBytes)
	case r.Space < mem.HBM || r.Space > mem.SRAM:
		return fmt.Errorf("buffer_kind %v: want one of tcm, hbm, sram", r.Space)
	case r.Poll && r.PollEvery <= 0:
		return fmt.Errorf("poll interval %v: must be positive when backpressure is poll", r.PollEvery)
	case r.CreditBytes < 0 || r.WakeCost < 0:
		return fmt.Errorf("credit size and wake cost must not be negative")
	}
	if err := r.LL.Validate(); err != nil {
		return err
	}
	if err := r.LL128.Validate(); err != nil {
		return err
	}
	return r.Protocol.Validate()
}

// SlotsOf returns the slots of a ring, given those of its port.
func (r *Ring) SlotsOf(port uint16) int {
	if port > 0 {
		return int(port)
	}
	return r.Slots
}

// Parts returns the number of slot messages in which n elements of a type travel.
func (r *Ring) Parts(n int, t dtype.Type) int {
	per := r.SlotElems(t)
	return max(1, (n+per-1)/per)
}

// SlotElems returns the number of elements of a type that one slot holds.
func (r *Ring) SlotElems(t dtype.Type) int { return int(r.SlotBytes) / t.Size() }
