package msccl

import (
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// Each case breaks one rule of the runtimes, for a call that they would otherwise take.
func TestWhyNot(t *testing.T) {
	gather := strings.NewReplacer(`coll="allreduce"`, `coll="allgather"`, `i_chunks="2"`, `i_chunks="1"`,
		`o_chunks="0"`, `o_chunks="2"`, `srcbuf="i"`, `srcbuf="o"`, `dstbuf="i"`, `dstbuf="o"`).Replace(ring(2))
	const range32 = `outofplace="0" minBytes="8" maxBytes="32" coll=`
	const microsoft, azure, plugin, rocm = "microsoft/msccl", "Azure/msccl-executor-nccl", "Azure/msccl-scheduler", "ROCm/rccl"
	call := plan.Query{Collective: "all_gather", World: 2, Bytes: 16, Elem: 2, Op: "sum", InPlace: true}
	with := func(change func(*plan.Query)) plan.Query {
		q := call
		change(&q)
		return q
	}
	for _, c := range []struct {
		name, attributes string
		q                plan.Query
		takes            string // the runtimes that take it
		why              string // of one of the others
	}{
		{"fits", range32, call, microsoft + azure + plugin + rocm, ""},
		{"no range", "coll=", call, microsoft, "it refuses the file: attribute outofplace is missing"},
		{"below the range", range32, with(func(q *plan.Query) { q.Bytes = 4 }), "", "it is for 8 to 32 bytes, the call has 4"},
		{"end of the range", range32, with(func(q *plan.Query) { q.Bytes = 32 }), azure + plugin + rocm,
			"it is for 8 to 31 bytes, the call has 32"},
		{"no end", `outofplace="0" minBytes="0" maxBytes="0" coll=`, call, azure + plugin + rocm, "maxBytes is 0: it is for no size"},
		{"more ranks", range32, with(func(q *plan.Query) { q.World = 4 }), "", "ngpus is 2, the call has 4 ranks"},
		{"another collective", range32, with(func(q *plan.Query) { q.Collective = "broadcast" }), "",
			"coll is allgather, the call is broadcast"},
		{"out of place", range32, with(func(q *plan.Query) { q.InPlace = false }), "", "the call is out of place"},
		{"both uses", `outofplace="1" minBytes="8" maxBytes="32" coll=`, with(func(q *plan.Query) { q.InPlace = false }),
			azure + plugin + rocm, "inplace is 1, the call is out of place"},
		// One element of each rank: the plugin divides it by the chunks of all ranks.
		{"count of a rank", range32, with(func(q *plan.Query) { q.Bytes, q.Elem = 8, 4 }), microsoft + azure + rocm,
			"1 elements, those of one rank of 2, are not divisible by nchunksperloop (2)"},
		{"count", range32, with(func(q *plan.Query) { q.Bytes, q.Elem = 12, 4 }), "", "3 elements are not divisible by nchunksperloop (2)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(gather, "coll=", c.attributes, 1)
			p, findings := Read(plan.File{Name: "x.xml", Data: []byte(text)})
			if p == nil {
				t.Fatal(findings)
			}
			takes, whys := "", ""
			for _, name := range Runtimes() {
				why, _ := p.WhyNot(name, c.q)
				if len(why) == 0 {
					takes += name
				}
				whys += strings.Join(why, "\n") + "\n"
			}
			if takes != c.takes || !strings.Contains(whys, c.why) {
				t.Errorf("taken by %q, want %q; why not: %q, want %q", takes, c.takes, whys, c.why)
			}
		})
	}
	// Executors of MSCCL do not support averages. The plugin ignores the operator.
	p, _ := Read(plan.File{Name: "x.xml", Data: []byte(strings.Replace(ring(2), "coll=", range32, 1))})
	avg := with(func(q *plan.Query) { q.Collective, q.Op = "all_reduce", "avg" })
	for _, name := range Runtimes() {
		if why, _ := p.WhyNot(name, avg); (len(why) == 0) != (name == plugin) {
			t.Errorf("%s: avg: why not %q", name, why)
		}
	}
}
