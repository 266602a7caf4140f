package hccl_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/dialect/hccl"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest/hosttest"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// drawPlace draws where a group lies: in one SIP, or in both with half of it each. even keeps
// those of a SIP together.
func drawPlace(t *rapid.T, even bool) []int32 {
	world := rapid.IntRange(1, 6).Draw(t, "ranks")
	if world%2 == 0 && rapid.Bool().Draw(t, "two SIPs") {
		const perSIP = 8
		half := rapid.Permutation([]int32{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "members")[:world/2]
		pes := slices.Clone(half)
		for _, p := range half {
			pes = append(pes, p+perSIP)
		}
		if !even && rapid.Bool().Draw(t, "mixed") {
			pes = rapid.Permutation(pes).Draw(t, "ranks")
		}
		return pes
	}
	return rapid.Permutation([]int32{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "members")[:world]
}

// drawForm draws a task for an algorithm string, of the types that it takes.
func drawForm(t *rapid.T, alg string, world int) *form {
	parsed, err := hccl.ParseAlgConfig(alg)
	if err != nil {
		t.Fatal(err)
	}
	var types []hccl.DataType
	for _, typ := range hccl.DataTypes() {
		if _, ok := typ.Carrier(); ok && (typ.Reducible() || !parsed.Op.Reduces()) {
			types = append(types, typ)
		}
	}
	f := &form{op: parsed.Op, repeat: rapid.IntRange(1, 4).Draw(t, "repeat")}
	if f.op == hccl.OpAlltoAll && rapid.Bool().Draw(t, "uneven") || f.op == hccl.OpAlltoAllV {
		counts := make([][]uint64, world)
		for r := range counts {
			counts[r] = rapid.SliceOfN(rapid.Uint64Range(0, 40), world, world).Draw(t, "counts")
		}
		f = packed(counts, f.repeat)
		for r := range counts { // with gaps
			for j := range counts {
				f.sendAt[r][j] += uint64(5 * j)
				f.recvAt[r][j] += uint64(3 * j)
			}
		}
	} else {
		f.count = rapid.IntRange(1, 70).Draw(t, "count")
		if gap := rapid.IntRange(-1, 9).Draw(t, "gap"); gap >= 0 || f.repeat > 1 {
			f.stride = f.count*f.repeat + max(0, gap)
		}
	}
	f.typ = rapid.SampledFrom(types).Draw(t, "type")
	f.reduce = rapid.SampledFrom([]hccl.ReduceOp{hccl.ReduceSum, hccl.ReduceMax, hccl.ReduceMin}).Draw(t, "op")
	return f
}

// style holds the choices of a kernel that uses a task.
type style struct {
	cores            int
	now, waits, back bool // commits at once; waits before Finalize; the order of commits is the reverse of that of tasks
}

// kernel prepares the same task twice, into two buffers, and uses it.
func (s style) kernel(t tester, f *form) func(k *hccl.Kernel, h *hccl.Hccl) {
	return func(k *hccl.Kernel, h *hccl.Hccl) {
		release := hccl.CommitLater
		if s.now {
			release = hccl.CommitNow
		}
		ids := []hccl.Handle{f.prepare(h, release, k.GM(0), k.GM(1)), f.prepare(h, release, k.GM(0), k.GM(2))}
		committed := slices.Clone(ids)
		if s.back {
			slices.Reverse(committed)
		}
		for _, id := range committed {
			for range f.repeat {
				if !s.now {
					h.Commit(id)
				}
			}
		}
		for _, id := range ids {
			for range f.repeat {
				if s.waits && h.Wait(id) != hccl.Success {
					t.Errorf("Wait of handle %d", id)
				}
			}
		}
		k.SyncAll(hccl.AIVOnly)
		h.Finalize()
	}
}

// Every task, in every use, has the result that the documents state. The memory between is
// unchanged, and every two accesses have an order.
func TestRandomTasks(t *testing.T) {
	algs := slices.DeleteFunc(hccl.KnownAlgConfigs(), func(s string) bool { return s == hccl.DefaultAlgConfig(hccl.OpBatchWrite) })
	seen := map[string]int{}
	check := func(t *rapid.T) {
		alg := rapid.SampledFrom(algs).Draw(t, "algorithm")
		parsed, _ := hccl.ParseAlgConfig(alg)
		pes := drawPlace(t, parsed.Level1 != "")
		f := drawForm(t, alg, len(pes))
		buffer := unit.Bytes(rapid.SampledFrom([]int{64, 96, 200, 1024, 0}).Draw(t, "buffer"))
		s := style{
			cores: rapid.IntRange(1, 3).Draw(t, "cores"), now: rapid.Bool().Draw(t, "now"), waits: rapid.Bool().Draw(t, "waits"),
			back: rapid.Bool().Draw(t, "backwards"),
		}
		var bytes [][][]float64
		perform := func(mode runMode) {
			r := openRig(t, mode)
			send, recv := f.extent(len(pes))
			g := r.on(pes, hccl.Options{Buffer: buffer})
			x := r.spread(pes, send, f.carrier(), f.input)
			y, z := r.spread(pes, recv, f.carrier(), constant(untouched)), r.spread(pes, recv, f.carrier(), constant(untouched))
			in, want := x.read(), y.read()
			r.run(r.launch(g, hccl.Cores{AIV: s.cores}, s.kernel(t, f), []*memory{x, y, z}, hccl.NewCcTiling("world", f.op, alg)))
			for turn := range f.repeat {
				f.apply(turn, in, want)
			}
			y.holds("first task", want)
			z.holds("second task", want)
			x.holds("what is sent", in)
			if len(r.Judged) != 2*f.repeat {
				t.Fatalf("judged were %v", r.judged())
			}
			bytes = append(bytes, slices.Concat(x.read(), y.read(), z.read()))
		}
		t.Logf("%v by %s on %v, %+v", f, alg, pes, s)
		content(t, hosttest.Races(func(judge *race.Detector) { perform(runMode{judge: judge}) }))
		perform(runMode{seed: rapid.Uint64Range(1, 1<<60).Draw(t, "seed")})
		perform(runMode{timed: true})
		for _, b := range bytes[1:] {
			if fmt.Sprint(b) != fmt.Sprint(bytes[0]) {
				t.Fatalf("executors differ: %v and %v", bytes[0], b)
			}
		}
		seen[alg]++
	}
	for range map[bool]int{false: 1, true: 20}[exhaustive.On()] {
		rapid.Check(t, check)
	}
	for _, alg := range algs {
		if exhaustive.On() && seen[alg] == 0 {
			t.Errorf("%q was not among what was drawn", alg)
		}
	}
}

// content checks that a judge of races found nothing.
func content(t tester, rep *race.Report) {
	t.Helper()
	if rep.Total > 0 || rep.Unsettled || rep.Class == race.Scheduled {
		t.Fatalf("class %v: %v%v", rep.Class, rep.Hazards, rep.Depends)
	}
}
