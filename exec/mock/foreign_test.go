package mock_test

import (
	"errors"
	"strings"
	"testing"

	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// TestTensorOfAnotherRank: ranks share a tensor through a variable of the host, which no machine
// could do. It is refused though a cell of the same number exists.
func TestTensorOfAnotherRank(t *testing.T) {
	var shared tl.Tensor
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
		mine := c.Load(a.Shard(c.Rank()))
		if c.Rank() == 0 {
			shared = mine
		}
		c.Store(a.Shard(c.Rank()), shared)
	}, kerneltest.Config{Inputs: [][]float64{{1}, {2}}})
	var f *fault.Misuse
	if !errors.As(err, &f) || f.Rank != 1 || !strings.Contains(f.Reason, "another rank") {
		t.Errorf("got %v, want rank 1 in the error", err)
	}
}
