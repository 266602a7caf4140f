//go:build invariants

package des

import "testing"

// An event out of order is noticed.
func TestCheck(t *testing.T) {
	key := func(counter uint32) Key { return MakeKey(Arrive, 0, 0, counter) }
	for _, c := range []struct {
		name   string
		events []Event
		posted bool // between them
		wrong  bool
	}{
		{"in order", []Event{{Time: 1, Key: key(1)}, {Time: 1, Key: key(2)}, {Time: 2, Key: key(1)}}, false, false},
		{"time goes back", []Event{{Time: 2}, {Time: 1}}, false, true},
		{"keys go back", []Event{{Time: 1, Key: key(2)}, {Time: 1, Key: key(1)}}, false, true},
		{"posted later", []Event{{Time: 1, Key: key(2)}, {Time: 1, Key: key(1)}}, true, false},
	} {
		func() {
			defer func() {
				if wrong := recover() != nil; wrong != c.wrong {
					t.Errorf("%s: noticed %v, want %v", c.name, wrong, c.wrong)
				}
			}()
			q := From(0)
			for i := range c.events {
				q.check(&c.events[i])
				if c.posted {
					q.posted++
				}
			}
		}()
	}
}
