package mscclpp

import (
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

func TestWhyNot(t *testing.T) {
	p, _ := Program(plan.File{Name: "p.json", Data: []byte(base)})
	fits := plan.Query{Collective: "all_reduce", World: 2, Bytes: 64, Elem: 2, Op: "sum", InPlace: true}
	for _, c := range []struct {
		name   string
		change func(q *plan.Query)
		want   string
	}{
		{"fits", func(*plan.Query) {}, ""},
		{"collective", func(q *plan.Query) { q.Collective = "all_gather" }, "collective is allreduce, the call is all_gather"},
		{"ranks", func(q *plan.Query) { q.World = 4 }, "it has 2 gpus, the call has 4 ranks"},
		{"out of place", func(q *plan.Query) { q.InPlace = false }, "inplace is true, the call is out of place"},
		{"too few bytes", func(q *plan.Query) { q.Bytes = 32 }, "it is for 64 to 18446744073709551615 bytes, the call has 32"},
		{"no whole units", func(q *plan.Query) { q.Bytes = 72 }, "72 bytes of input in 2 chunks"},
		{"unequal chunks", func(q *plan.Query) { q.Bytes = 80 }, "the executor wants whole units of 16 bytes in each chunk"},
	} {
		q := fits
		c.change(&q)
		why, _ := p.WhyNot("microsoft/mscclpp", q)
		if got := strings.Join(why, "; "); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
