package run_test

import (
	"regexp"
	"testing"

	"kernbench/algorithm"
	_ "kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/tl"
)

// Kernels that combine nothing. The report describes the contents of their shards, and what wrote
// them, in these words.
var nothingCombined = []struct {
	name   string
	loop   func(c *tl.Context, a tl.Args, mine, acc tl.Tensor) tl.Tensor
	store  bool
	reason string
}{
	{"forgotten_store", combined, false, `^still holds its untouched input: nothing was written to it$`},
	{"never_combines", func(c *tl.Context, a tl.Args, mine, acc tl.Tensor) tl.Tensor {
		c.Send(tl.East, mine)
		c.Recv(tl.West, mine.Shape(), a.DType)
		return acc
	}, true, `^holds only its own input: written by rank 0 \(sip0.cube0.pe0\) store at run/untouched_test.go:\d+`},
	{"empty_messages", func(c *tl.Context, a tl.Args, mine, acc tl.Tensor) tl.Tensor {
		none := mine.Slice(0, 0)
		c.Send(tl.East, none)
		c.Recv(tl.West, none.Shape(), a.DType)
		return acc
	}, true, `^holds only its own input: written by rank 0 \(sip0.cube0.pe0\) store at run/untouched_test.go:\d+`},
	{"send_to_self", combined, true,
		`^holds only its own input, 4 times: written by rank 0 \(sip0.cube0.pe0\) store at run/untouched_test.go:\d+`},
	{"keeps_the_last", func(c *tl.Context, a tl.Args, mine, acc tl.Tensor) tl.Tensor {
		c.Send(tl.East, mine)
		return c.Recv(tl.West, mine.Shape(), a.DType)
	}, true, `^holds only the input of rank 3 \(input element 0\): written by rank 0 \(sip0.cube0.pe0\) store at run/untouched_test.go:\d+`},
}

func combined(c *tl.Context, a tl.Args, mine, acc tl.Tensor) tl.Tensor {
	c.Send(tl.East, mine)
	return c.Combine(a.Op, acc, c.Recv(tl.West, mine.Shape(), a.DType))
}

func init() {
	for _, tt := range nothingCombined {
		row := algorithm.Algorithm{
			Name: "lab_" + tt.name, Collective: "all_reduce", Topology: "ring_1d",
			Kernel: func(c *tl.Context, a tl.Args) {
				shard := a.Shard(c.Rank())
				mine := c.Load(shard)
				acc := mine
				for range c.WorldSize() - 1 {
					acc = tt.loop(c, a, mine, acc)
				}
				if tt.store {
					c.Store(shard, acc)
				}
			},
		}
		if tt.name == "send_to_self" {
			row.Neighbors = func(rank, _ int, m map[tl.Dir]int) map[tl.Dir]int {
				m[tl.East], m[tl.West] = rank, rank
				return m
			}
		}
		algorithm.Register(row)
	}
}

// A shard that holds one input alone has lost no contributions: it never had them.
func TestNothingWasCombined(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, tt := range nothingCombined {
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_" + tt.name, Ranks: 4, NElem: 6, VerifyData: true, Executor: executor})
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if r.OK() || r.RanksFailed != 4 || r.Failures[0].Question != "provenance" {
				t.Fatalf("%s: %+v", tt.name, r)
			}
			if f := r.Failures[0]; !regexp.MustCompile(tt.reason).MatchString(f.Reason) || len(f.Missing) != 3 {
				t.Errorf("%s: %q, missing %v; want %q", tt.name, f.Reason, f.Missing, tt.reason)
			}
		}
	})
}
