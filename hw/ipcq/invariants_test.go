//go:build invariants

package ipcq

import (
	"fmt"
	"strings"
	"testing"
)

// Each possible error of a ring is detected.
func TestCheck(t *testing.T) {
	z := NewSizing(2)
	for _, c := range []struct {
		name  string
		ring  Ring
		state []slotState
		want  string
	}{
		{"right", Ring{Sent: 3, Visible: 3, Taken: 2, Returned: 1, Credited: 1}, []slotState{full, lent}, ""},
		{"right beyond 2^32", Ring{Sent: 1, Visible: 0, Taken: 0, Returned: ^uint32(0), Credited: ^uint32(0)},
			[]slotState{ended, ended}, ""},
		{"more sent than slots", Ring{Sent: 3}, []slotState{free, free}, "out of order"},
		{"a credit too many", Ring{Sent: 2, Visible: 2, Taken: 1, Credited: 1}, []slotState{full, full}, "out of order"},
		{"taken before it came", Ring{Sent: 2, Visible: 1, Taken: 2}, []slotState{lent, lent}, "out of order"},
		{"visible without a token", Ring{Sent: 1, Visible: 1}, []slotState{free, free}, "visible and not taken"},
		{"taken without a token", Ring{Sent: 1, Visible: 1, Taken: 1}, []slotState{full, free}, "taken and not given back"},
	} {
		func() {
			defer func() {
				got := fmt.Sprint(recover())
				if c.want == "" && got != "<nil>" || !strings.Contains(got, c.want) {
					t.Errorf("%s: %s, want %q", c.name, got, c.want)
				}
			}()
			c.ring.check([]Slot{{state: c.state[0]}, {state: c.state[1]}}, &z)
		}()
	}
}
