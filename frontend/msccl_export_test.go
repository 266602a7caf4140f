package frontend_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kernbench/frontend"
	"kernbench/lab/run"
)

// exported records an algorithm and makes MSCCL XML from it.
func exported(algorithm string, ranks, channels int) (*frontend.Exported, error) {
	f, err := run.Record(context.Background(), run.Spec{Algorithm: algorithm, Ranks: ranks, NElem: 4 * ranks})
	if err != nil {
		return nil, err
	}
	for _, to := range frontend.Formats() {
		if to.Name == "msccl" {
			return to.Export(f, algorithm, frontend.ExportOptions{Channels: channels})
		}
	}
	return nil, errors.New("no format msccl")
}

// Each of these becomes a file that is judged right when it is read again, for every number of
// channels.
func TestExport(t *testing.T) {
	for _, name := range []string{
		"ring_allreduce_chunked", "tree_allreduce", "halving_doubling_allreduce", "direct_allreduce", "hierarchical_allreduce",
		"ring_allgather", "ring_reduce_scatter", "pairwise_all_to_all", "window_reduce_scatter_push", "binomial_broadcast", "chain_reduce",
	} {
		for ranks, channels := range map[int]int{2: 1, 3: 4, 8: 2} {
			t.Run(fmt.Sprintf("%s/%d ranks/%d channels", name, ranks, channels), func(t *testing.T) {
				e, err := exported(name, ranks, channels)
				if err != nil {
					t.Fatal(err)
				}
				j := e.Verdict.Calls[0]
				if !e.Verdict.OK() || j.Right != j.Cells || j.Cells == 0 {
					t.Errorf("verdicts %v, %d of %d chunks", e.Verdict.Verdicts, j.Right, j.Cells)
				}
				if ranks != 3 {
					return
				}
				if again, err := exported(name, ranks, channels); err != nil || string(again.Files[0].Data) != string(e.Files[0].Data) {
					t.Errorf("a second file differs (%v)", err)
				}
			})
		}
	}
}

// A ring becomes a file as written by hand: one block for each rank and channel, and no more steps
// than the algorithm has.
func TestExportedRingIsFused(t *testing.T) {
	e, err := exported("ring_allreduce_chunked", 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	text := string(e.Files[0].Data)
	for what, want := range map[string]int{"<tb ": 8, "<step ": 8 * 7, `type="s"`: 8, `type="rrs"`: 8 * 2,
		`type="rrcs"`: 8, `type="rcs"`: 8 * 2, `type="r"`: 8, `depid="-1"`: 8 * 7} {
		if got := strings.Count(text, what); got != want {
			t.Errorf("%d of %s, want %d", got, what, want)
		}
	}
}

// A program that the format cannot express is refused with a reason.
func TestExportRefuses(t *testing.T) {
	for _, c := range []struct{ algorithm, want string }{
		{"window_barrier", "no collective barrier"},
		{"linear_gather", "no collective gather"},
	} {
		_, err := exported(c.algorithm, 4, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.algorithm, err, c.want)
		}
	}
}
