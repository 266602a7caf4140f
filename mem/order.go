package mem

import (
	"fmt"
	"strings"
)

// Ordering is the order that a machine guarantees for one PE's puts, stores and notifications:
// when they take effect in the memory of others. Channels are the traffic classes: puts
// travel on one, notifications and atomics on another.
type Ordering uint8

// The orderings, weakest first: each guarantees what the one before does, and more.
const (
	PutSignal  Ordering = iota // put with signal: the signal comes after its own data; no other order
	ByChannel                  // in order per source, destination and channel; unordered across channels
	InOrder                    // in order per source and destination, as if there were one channel
	Sequential                 // each takes effect before the next begins: hides missing fences
)

var orderings = [...]string{"put_signal", "by_channel", "in_order", "sequential"}

func (o Ordering) String() string {
	if int(o) < len(orderings) {
		return orderings[o]
	}
	return fmt.Sprintf("Ordering(%d)", uint8(o))
}

// ParseOrdering reads put_signal, by_channel, in_order or sequential.
func ParseOrdering(s string) (Ordering, error) {
	for i, name := range orderings {
		if name == s {
			return Ordering(i), nil
		}
	}
	return 0, fmt.Errorf("unknown memory order %q: want one of %s", s, strings.Join(orderings[:], ", "))
}
