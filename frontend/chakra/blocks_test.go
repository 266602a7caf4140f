package chakra

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/program/text"
)

// blocksOf is pair.txt with two blocks: one receives, and the other, which waits for it, adds. W is
// the first word of each wait.
func blocksOf(wait, answer string) string {
	head, _, _ := strings.Cut(pairText, "\nrank")
	head = strings.Replace(head, "wire 0", "window w0 128 bytes\npart w0 staged f16[8] staging\nwindow w1 128 bytes\npart w1 done int64[2]\nwire 0", 1)
	return head + `
rank 0:2
  t0 = load data[0:8]
  send E t0
  t1 = recv W f16[8]
  store w0.staged[0:8] t1
  pipe_barrier
  notify w1.done[0] set 3
  ` + answer + `
rank 0:2 block 1
  ` + wait + `
  t0 = load data[0:8]
  t1 = load w0.staged[0:8]
  t2 = add t0 t1
  store data[0:8] t2
  pipe_barrier
  notify w1.done[1] add 1
`
}

// The blocks of a rank become chains of nodes. A block that waits for a word depends on the nodes
// before its change, and on no others.
func TestBlocksOfARank(t *testing.T) {
	for wait, want := range map[string]string{
		"wait_until w1.done[0] >= 2": "[1]",
		"wait_until w1.done[0] >= 4": "[2]",
		"wait_until w1.done[0] >= 0": "[]",
		"fence":                      "[]",
	} {
		traces := exported(t, blocksOf(wait, "t2 = neg t1\n  notify w1.done[0] set 4"))
		for rank, x := range traces {
			if len(x.Nodes) != 4 || x.Nodes[3].Type != CompNode {
				t.Fatalf("%s: rank %d has %+v", wait, rank, x.Nodes)
			}
			if got := fmt.Sprint(x.Nodes[3].CtrlDeps); got != want {
				t.Errorf("%s: rank %d's addition depends on %s, want %s", wait, rank, got, want)
			}
		}
	}
}

// Blocks that wait for each other are an error, which names their statements.
func TestCircleOfBlocks(t *testing.T) {
	source := blocksOf("wait_until w1.done[0] >= 4", "wait_until w1.done[1] >= 1")
	f, err := text.Read("two.txt", strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Export(f)
	line := strings.Count(source[:strings.Index(source, "wait_until w1.done[1]")], "\n") + 1
	want := fmt.Sprintf("two.txt:%d: rank 0 block 0 waits for ever at wait_until w1.done[1] >= 1; block 1 waits for ever at wait_until w1.done[0] >= 4", line)
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// A window that other ranks reach is no part of a trace.
func TestWordsOfOtherRanks(t *testing.T) {
	f, err := text.Read("two.txt", strings.NewReader(blocksOf("fence", "notify w1.done[0]@0 add 1")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Export(f); err == nil || !strings.Contains(err.Error(), "two.txt:25: rank 0 has an operation on a window") {
		t.Error(err)
	}
}
