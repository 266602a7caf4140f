package machine

import "kernbench/conf"

// A kind of network that only tests know: each member has a link to the two whose numbers differ by
// one bit from its own. This file is all that there is to it.
type square struct{ list []edge }

func newSquare() *square {
	q := &square{}
	for from := range int32(4) {
		for _, bit := range []int32{1, 2} {
			q.list = append(q.list, edge{from: from, to: from ^ bit, out: east, in: west})
		}
	}
	return q
}

func (q *square) edges() []edge      { return q.list }
func (q *square) hubs() int          { return 0 }
func (q *square) hubName(int) string { return "" }
func (q *square) channels() uint8    { return 1 }

func (q *square) next(_, at, to int) step {
	e := 2 * at
	if (at^to)&1 == 0 {
		e++
	}
	return step{edge: int32(e), site: q.list[e].to}
}

var _ = register(kind{
	Network: conf.Network{
		Name: "square", Short: "test_square", Keys: []string{"paths"},
		Missing: func(l *conf.Level) string {
			if l.Members() != 4 {
				return "four members"
			}
			return ""
		},
	},
	look:  Look{Layout: Line, Title: "a square of %s"},
	small: func(p plan) plan { return p },
	join:  func(plan) network { return newSquare() },
})
