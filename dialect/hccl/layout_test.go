package hccl_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/mem"
)

// uneven is the example of the documents: a row of counts for each sender.
var uneven = [][]uint64{{3, 3, 3, 3}, {2, 2, 3, 2}, {1, 4, 4, 4}, {3, 3, 3, 3}}

// packed returns an AlltoAllV of such counts, with the turns of a block contiguous and the blocks
// contiguous.
func packed(counts [][]uint64, repeat int) *form {
	f := &form{op: hccl.OpAlltoAllV, typ: hccl.FP16, repeat: repeat, sendCounts: counts}
	for r := range counts {
		var col, rows, cols []uint64
		row, at := uint64(0), uint64(0)
		for j := range counts {
			rows, row = append(rows, row), row+counts[r][j]*uint64(repeat)
			col = append(col, counts[j][r])
			cols, at = append(cols, at), at+counts[j][r]*uint64(repeat)
		}
		f.sendAt, f.recvCounts, f.recvAt = append(f.sendAt, rows), append(f.recvCounts, col), append(f.recvAt, cols)
	}
	return f
}

// The displacements of the example are as the documents have them.
func TestPacked(t *testing.T) {
	f := packed(uneven, 1)
	if got := fmt.Sprint(f.sendAt); got != "[[0 3 6 9] [0 2 4 7] [0 1 5 9] [0 3 6 9]]" {
		t.Errorf("sdispls %v", got)
	}
	if got := fmt.Sprint(f.recvAt); got != "[[0 3 5 6] [0 3 5 9] [0 3 6 10] [0 3 5 9]]" {
		t.Errorf("rdispls %v", got)
	}
}

// part is a task of a program, at elements of the buffers.
type part struct {
	form
	at int
}

// Each turn writes exactly the elements that the documents define.
func TestLayouts(t *testing.T) {
	all := func(op hccl.OpType, stride int, counts ...[2]int) (list []part) { // counts and repeats
		at := 0
		for _, c := range counts {
			list = append(list, part{form{op: op, count: c[0], stride: stride, repeat: c[1], typ: hccl.FP16}, at})
			at += c[0] * c[1]
		}
		return list
	}
	v := func(f *form) []part { return []part{{*f, 0}} }
	none := [][]uint64{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}
	some := [][]uint64{{0, 5, 0, 0}, {0, 0, 0, 0}, {0, 0, 9, 1}, {0, 0, 0, 0}}
	tests := []struct {
		name   string
		tasks  []part
		filled []int // elements that are written after each turn; nil: not counted
	}{
		{"AllReduce", all(hccl.OpAllReduce, 0, [2]int{128, 2}, [2]int{44, 1}), []int{128, 256, 300}},
		{"AllGather", all(hccl.OpAllGather, 300, [2]int{128, 2}, [2]int{44, 1}), []int{512, 1024, 1200}},
		{"AllGather in one", all(hccl.OpAllGather, 0, [2]int{300, 1}), []int{1200}},
		{"ReduceScatter in turns", all(hccl.OpReduceScatter, 300, [2]int{100, 3}), []int{100, 200, 300}},
		{"ReduceScatter in calls", all(hccl.OpReduceScatter, 300, [2]int{100, 1}, [2]int{100, 1}, [2]int{100, 1}), []int{100, 200, 300}},
		{"ReduceScatter with gaps", all(hccl.OpReduceScatter, 300, [2]int{77, 2}), []int{77, 154}},
		{"AlltoAll", all(hccl.OpAlltoAll, 356, [2]int{128, 2}, [2]int{100, 1}), []int{512, 1024, 1424}},
		{"AlltoAll with gaps", all(hccl.OpAlltoAll, 356, [2]int{99, 3}), []int{396, 792, 1188}},
		{"AlltoAllV", v(packed(uneven, 1)), nil},
		{"AlltoAllV in turns", v(packed(uneven, 3)), nil},
		{"AlltoAllV of nothing", v(packed(none, 2)), []int{0, 0}},
		{"AlltoAllV of little", v(packed(some, 2)), nil},
	}
	for _, tt := range tests {
		for _, buffer := range []hccl.Options{{}, {Buffer: 96}} {
			t.Run(fmt.Sprintf("%s %d", tt.name, buffer.Buffer), func(t *testing.T) {
				onEach(t, func(t *testing.T, r *rig) { r.layout(tt.tasks, buffer, tt.filled) })
			})
		}
	}
}

// layout runs tasks one turn after the other, and looks at all memory after each.
func (r *rig) layout(tasks []part, o hccl.Options, filled []int) {
	const world = 4
	var send, recv, turns int
	for i := range tasks {
		s, e := tasks[i].extent(world)
		send, recv, turns = max(send, s+tasks[i].at), max(recv, e+tasks[i].at), turns+tasks[i].repeat
	}
	typ := tasks[0].carrier()
	g := r.on(first(world), o)
	x, y := r.spread(g.PEs(), send, typ, tasks[0].input), r.spread(g.PEs(), recv, typ, constant(untouched))
	seen := make([]*memory, turns)
	for i := range seen {
		seen[i] = r.spread(g.PEs(), recv, typ, constant(untouched))
	}
	r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
		var handles []hccl.Handle
		for i := range tasks {
			at := mem.Addr(tasks[i].at * typ.Size())
			handles = append(handles, tasks[i].prepare(h, hccl.CommitLater, k.GM(0)+at, k.GM(1)+at))
		}
		turn := 0
		for i, id := range handles {
			for range tasks[i].repeat {
				h.Commit(id)
				if h.Wait(id) != hccl.Success {
					r.Errorf("Wait of handle %d", id)
				}
				k.Copy(k.Buffer(2+turn), k.Buffer(1))
				k.PipeBarrier() // the copy is there before the next turn begins
				turn++
			}
		}
		h.Finalize()
	}, append([]*memory{x, y}, seen...), usual(tasks[0].op)))
	in, want := x.read(), make([][]float64, world)
	for rank := range want {
		want[rank] = slices.Repeat([]float64{untouched}, recv)
	}
	turn := 0
	for i := range tasks {
		for u := range tasks[i].repeat {
			at := tasks[i].at
			tasks[i].apply(u, cutAll(in, at), cutAll(want, at))
			seen[turn].holds(fmt.Sprintf("after turn %d", turn), want)
			for rank := range want {
				if n := count(want[rank]); filled != nil && n != filled[turn] {
					r.Errorf("after turn %d rank %d has %d elements, not %d", turn, rank, n, filled[turn])
				}
			}
			turn++
		}
	}
	for rank, values := range in {
		for i, v := range values {
			if v != tasks[0].input(rank, i) {
				r.Fatalf("rank %d: element %d of what is sent has become %v", rank, i, v)
			}
		}
	}
	if len(r.Judged) != turns {
		r.Errorf("judged were %v, of %d turns", r.judged(), turns)
	}
}

// cutAll returns what follows an element in each list.
func cutAll(lists [][]float64, at int) [][]float64 {
	rest := make([][]float64, len(lists))
	for i, l := range lists {
		rest[i] = l[at:]
	}
	return rest
}

// count returns how many elements are written.
func count(values []float64) int {
	n := 0
	for _, v := range values {
		if v != untouched {
			n++
		}
	}
	return n
}

// The bytes that a turn of an AllReduce reads are those that the judge is shown.
func TestTurnsOfTheJudge(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		r.layout([]part{
			{form{op: hccl.OpAllReduce, count: 128, repeat: 2, typ: hccl.FP16}, 0},
			{form{op: hccl.OpAllReduce, count: 44, repeat: 1, typ: hccl.FP16}, 256},
		}, hccl.Options{}, nil)
		r.titles("AllReduce handle 0 turn 0", "AllReduce handle 0 turn 1", "AllReduce handle 1 turn 0")
		for i, bytes := range []int{256, 256, 88} {
			for rank, in := range r.Judged[i].Groups[0].Inputs {
				if len(in) != bytes {
					t.Errorf("turn %d of rank %d: %d bytes, not %d", i, rank, len(in), bytes)
				}
			}
		}
	})
}

// A result may take the place of the contribution, or of its own block.
func TestInPlace(t *testing.T) {
	const world, n = 4, 50
	for _, f := range []*form{
		{op: hccl.OpAllReduce, count: n, repeat: 3, typ: hccl.FP32},
		{op: hccl.OpAllGather, count: n, stride: 3 * n, repeat: 3, typ: hccl.FP32},
		{op: hccl.OpReduceScatter, count: n, repeat: 1, typ: hccl.FP32},
	} {
		t.Run(f.op.String(), func(t *testing.T) {
			onEach(t, func(t *testing.T, r *rig) {
				_, elems := f.extent(world)
				send, _ := f.extent(world)
				elems = max(elems, send)
				g := r.on(first(world), hccl.Options{Buffer: 128})
				x := r.spread(g.PEs(), elems, f.carrier(), f.input)
				at := func(rank int) int { // where a contribution lies
					if f.op == hccl.OpAllGather {
						return rank * f.stride
					}
					return 0
				}
				want := x.read()
				in := make([][]float64, world)
				for rank := range in {
					in[rank] = want[rank][at(rank):]
				}
				r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
					f.prepare(h, hccl.CommitNow, k.GM(0)+mem.Addr(4*at(h.GetRankID())), k.GM(0))
					h.Finalize()
				}, []*memory{x}, usual(f.op)))
				for u := range f.repeat {
					f.apply(u, in, want)
				}
				x.holds("in place", want)
			})
		})
	}
}
