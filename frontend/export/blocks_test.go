package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/msccl"
	"kernbench/program/text"
)

// algorithm exports a program of an all_reduce of some ranks, with the rings between them.
func algorithm(t *testing.T, world int, wires, blocks string) *msccl.Algorithm {
	t.Helper()
	source := fmt.Sprintf(`kernbench program 1
algorithm x
collective all_reduce
operator sum
type f32
elements 4
results in place
world %d
slots 4 of 64 bytes
scratch 65536 bytes
window w0 128 bytes
part w0 staged f32[4] staging
window w1 128 bytes
part w1 done int64[4]
%s
%s`, world, wires, blocks)
	f, err := text.Parse("x.txt", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	a, err := MSCCL(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// blocksOf lists the thread blocks of a rank, with the chunks and dependencies of steps.
func blocksOf(a *msccl.Algorithm, rank int) (out []string) {
	for _, tb := range a.GPUs[rank].Blocks {
		line := fmt.Sprintf("%d<%d chan %d:", tb.Send, tb.Recv, tb.Channel)
		for _, s := range tb.Steps {
			line += fmt.Sprintf(" %s %c%d>%c%d", s.Type, s.SrcBuf, s.SrcOff, s.DstBuf, s.DstOff)
			if s.DepBlock >= 0 {
				line += fmt.Sprintf(" after %d.%d", s.DepBlock, s.DepStep)
			}
			if s.HasDep {
				line += "!"
			}
		}
		out = append(out, line)
	}
	return out
}

func TestThreadBlocksOfBlocks(t *testing.T) {
	for _, c := range []struct {
		name, wires, blocks string
		world, rank         int
		want                []string
	}{
		{"a wait without shared memory", "wire 0 E->1.W dim0->1.dim0", `
rank 0
  send E data[0:1]
  notify w1.done[0] set 1
  send E data[1:2]
  notify w1.done[0] set 2
rank 0 block 1
  wait_until w1.done[0] >= 1
  send dim0 data[2:3]
rank 1
  recv W data[0:1]
  recv W data[1:2]
rank 1 block 1
  recv dim0 data[2:3]
`, 2, 0, []string{"1<-1 chan 0: s i0>i0! s i1>i1!", "1<-1 chan 1: s i2>i2 after 0.0"}},
		{"a wait handed on by a block without steps", "wire 0 E->1.W dim0->1.dim0", `
rank 0
  send E data[0:1]
  notify w1.done[0] set 1
rank 0 block 1
  wait_until w1.done[2] >= 1
  send dim0 data[2:3]
rank 0 block 2
  wait_until w1.done[0] >= 1
  notify w1.done[2] set 1
rank 1
  recv W data[0:1]
rank 1 block 1
  recv dim0 data[2:3]
`, 2, 0, []string{"1<-1 chan 0: s i0>i0!", "1<-1 chan 1: s i2>i2 after 0.0", "-1<-1 chan 0:"}},
		{"one block for two peers", "wire 0 E->1.W\nwire 2 W->0.dim0", `
rank 0
  send E data[0:1]
  recv dim0 data[1:2]
rank 0 block 1
  fence
rank 1
  recv W data[0:1]
rank 2
  send W data[1:2]
`, 3, 0, []string{"1<2 chan 0: s i0>i0 r i1>i1", "-1<-1 chan 0:"}},
		{"no step of two blocks", "wire 0 E->1.W\nwire 1 E->2.W", `
rank 0
  send E data[0:1]
  send E data[1:2]
rank 1
  recv W data[0:1]
  notify w1.done[0] set 1
  recv W data[1:2]
rank 1 block 1
  wait_until w1.done[0] >= 1
  send E data[0:1]
  send E data[3:4]
rank 2
  recv W data[0:1]
  recv W data[3:4]
`, 3, 1, []string{"-1<0 chan 0: r i0>i0! r i1>i1", "2<-1 chan 0: s i0>i0 after 0.0 s i3>i3"}},
		{"rings that are read in another order", "wire 0 E->1.W dim0->1.dim0", `
rank 0
  send E data[0:1]
  send dim0 data[1:2]
rank 0 block 1
  fence
rank 1
  recv dim0 data[1:2]
  recv W data[0:1]
`, 2, 1, []string{"-1<0 chan 0: r i0>i0", "-1<0 chan 1: r i1>i1"}},
		{"a chain of blocks there and back", "wire 0 E->1.W dim1->1.dim1\nwire 1 E->0.W dim1->0.dim1", `
rank 0
  send E data[0:1]
rank 0 block 1
  recv W data[0:1]
  send dim1 data[0:1]
rank 1
  recv W data[0:1]
  send E data[0:1]
rank 1 block 1
  recv dim1 data[0:1]
`, 2, 0, []string{"1<-1 chan 0: s i0>i0!", "1<-1 chan 1: s i0>i0 after 2.0", "-1<1 chan 0: r i0>i0 after 0.0!"}},
		{"what another rank reads", "", `
rank 0
  notify w1.done[0]@1 set 1
rank 0 block 1
  fence
rank 1
  wait_until w1.done[0] >= 1
  t0 = load data[0:1]@0
  store data[1:2] t0
`, 2, 0, []string{"-1<-1 chan 0:", "-1<-1 chan 0:", "1<-1 chan 0: s i0>i0"}},
		{"memory that a block still holds", "wire 0 E->1.W dim0->1.dim0\nwire 1 E->0.W", `
rank 0
  recv W data[2:3]
  pipe_barrier
  notify w1.done[0] set 1
  wait_until w1.done[1] >= 1
  t0 = load data[2:3]
  store data[1:2] t0
  pipe_barrier
  notify w1.done[0] set 2
rank 0 block 1
  t0 = load data[1:2]
  pipe_barrier
  notify w1.done[1] set 1
  wait_until w1.done[0] >= 2
  send dim0 t0
rank 1
  send E data[2:3]
  recv dim0 data[1:2]
`, 2, 0, []string{"-1<1 chan 0: r i2>i2! cpy i2>i1 after 1.0!", "1<-1 chan 0: cpy i1>s0! s s0>s0 after 0.1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := algorithm(t, c.world, c.wires, c.blocks)
			if got := blocksOf(a, c.rank); !slices.Equal(got, c.want) {
				t.Errorf("thread blocks\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A sum with the memory that it goes to is made there, if the memory is in it once.
func TestSumInPlace(t *testing.T) {
	in, two := piece{bufIn, 0, 1}, piece{bufIn, 1, 1}
	sum := piece{bufScratch, 7, 1}
	local := func(k kind, src, dst piece) op { return op{kind: k, to: none, from: none, src: src, dst: dst} }
	start, add, end := local(opCpy, two, sum), local(opRe, in, sum), local(opCpy, sum, in)
	for _, c := range []struct {
		name string
		ops  []op
		want int
	}{
		{"once", []op{start, add, end}, 1},
		{"twice", []op{start, add, add, end}, 4},
		{"written between", []op{start, local(opCpy, two, in), add, end}, 4},
		{"read later", []op{start, add, end, local(opCpy, sum, two)}, 4},
		{"not in it", []op{start, local(opRe, two, sum), end}, 3},
		{"no start", []op{add, end}, 2},
	} {
		if got := fuse(slices.Clone(c.ops), 7, nil); len(got) != c.want {
			t.Errorf("%s: %d operations, want %d: %+v", c.name, len(got), c.want, got)
		}
	}
}
