package hccl_test

import (
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/hw/pe"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// times holds the time at which a core of rank 0 reached each mark.
type times []unit.Time

// timeline simulates a kernel on four devices, which has one AllReduce task with some turns. It
// returns the marks and the duration.
func timeline(t *testing.T, m runMode, turns int,
	body func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle, mark func())) (times, unit.Time) {
	t.Helper()
	m.timed, m.bare = true, true
	r := openRig(t, m)
	const n = 4000
	g := r.on(first(4), hccl.Options{})
	x, y := r.spread(g.PEs(), n, dtype.F32, constant(1)), r.spread(g.PEs(), n, dtype.F32, constant(0))
	var at times
	out := r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
		id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(1), uint64(n/turns), hccl.FP32, hccl.ReduceSum, uint8(turns))
		body(k, h, id, func() {
			if k.Rank() == 0 {
				at = append(at, tl.DriverOf(k.Context).Place("").Time)
			}
		})
		h.Finalize()
	}, []*memory{x, y}, usual(hccl.OpAllReduce)))
	return at, out.Launched.Result.Duration()
}

// computes performs one vector instruction over some elements and waits for it. It uses only the
// vector unit of the PE.
func computes(k *hccl.Kernel, elems int) {
	k.Full(tl.Dims(elems), dtype.F32, 1)
	k.PipeBarrier()
}

// Arithmetic in parallel with a task adds no time as long as it is shorter than the task. In
// sequence their times add up.
func TestOverlapIsExact(t *testing.T) {
	spec := pe.FromConfig(topology(t))
	alone, end := timeline(t, runMode{}, 1, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle, mark func()) {
		h.Commit(id)
		mark()
		h.Wait(id)
		mark()
	})
	task := alone[1] - alone[0]
	there, _ := timeline(t, runMode{}, 1, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle, mark func()) {
		h.Commit(id)
		computes(k, 200_000)
		mark()
		h.Wait(id) // the task has ended already
		mark()
	})
	look := there[1] - there[0]
	if most := spec.Math.Time(200_000); task >= most || task <= spec.Math.Time(6400) {
		t.Fatalf("the task takes %v, want more than the shortest arithmetic and less than the longest, %v", task, most)
	}
	for _, elems := range []int{64, 6400, 64_000, 200_000} {
		// An instruction, the arithmetic, and the barrier, which is issued meanwhile.
		compute := spec.Issue + spec.Math.Time(elems)
		beside, besideEnd := timeline(t, runMode{}, 1, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle, mark func()) {
			h.Commit(id)
			mark()
			computes(k, elems)
			mark()
			h.Wait(id)
			mark()
		})
		if got := beside[1] - beside[0]; got != compute {
			t.Errorf("%d elements take %v, not %v", elems, got, compute)
		}
		if got, want := beside[2]-beside[0], max(task, compute+look); got != want {
			t.Errorf("%d elements beside the task: %v, not %v: the task takes %v, the arithmetic %v, a Wait for an ended task %v",
				elems, got, want, task, compute, look)
		}
		if want := end + max(task, compute+look) - task; besideEnd != want {
			t.Errorf("%d elements beside the task end at %v, not %v", elems, besideEnd, want)
		}
		_, serialEnd := timeline(t, runMode{}, 1, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle, mark func()) {
			h.Commit(id)
			h.Wait(id)
			computes(k, elems)
		})
		if want := end + compute; serialEnd != want {
			t.Errorf("the task and then %d elements end at %v, not %v", elems, serialEnd, want)
		}
	}
}

// A kernel that computes a part and then commits it does not wait for earlier turns. If a part
// takes longer than a turn, only the last turn adds to the total time.
func TestTurnsOverlap(t *testing.T) {
	const turns, elems = 4, 200_000
	spec := pe.FromConfig(topology(t))
	const commit = 2 // instructions: a barrier and a notification
	last := map[bool]unit.Time{}
	for _, early := range []bool{false, true} { // all turns but the last are committed at the start
		at, end := timeline(t, runMode{}, turns, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle, mark func()) {
			for i := 1; i < turns && early; i++ {
				h.Commit(id)
			}
			for i := range turns {
				computes(k, elems)
				mark()
				if !early || i == turns-1 {
					h.Commit(id)
				}
			}
		})
		last[early] = end - at[turns-1]
		for i := 1; i < turns && !early; i++ {
			if got, want := at[i]-at[i-1], spec.Issue+spec.Math.Time(elems)+commit*spec.Issue; got != want {
				t.Errorf("part %d takes %v, not %v", i, got, want)
			}
		}
	}
	if last[false] != last[true] || last[true] == 0 {
		t.Errorf("the last turn takes %v after a turn that has just ended, and %v after one that ended long before: want equal times, not 0", last[false], last[true])
	}
}

// The same program takes the same time and does the same at the same time, in every run and in
// every interleaving of its kernels.
func TestTimesAreDeterministic(t *testing.T) {
	run := func(yield bool, per string) (events []trace.Event, end unit.Time) {
		m := runMode{yield: yield, sets: []string{"comm_engine.per=" + per},
			trace: sink(func(e *trace.Event) { events = append(events, *e) })}
		_, end = timeline(t, m, 2, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle, _ func()) {
			h.Commit(id)
			computes(k, 6400)
			h.Commit(id)
			for h.Query(id) < 1 {
			}
			h.Wait(id)
		})
		return events, end
	}
	for _, per := range []string{"pe", "sip"} {
		want, wantEnd := run(false, per)
		if len(want) == 0 {
			t.Fatal("no events")
		}
		for _, yield := range []bool{false, true} {
			got, end := run(yield, per)
			if end != wantEnd || len(got) != len(want) {
				t.Fatalf("per %s, yield %v: %d events until %v, not %d until %v", per, yield, len(got), end, len(want), wantEnd)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("per %s, yield %v: event %d is %+v, not %+v", per, yield, i, got[i], want[i])
				}
			}
		}
	}
}

// sink is a function as a consumer of events.
type sink func(e *trace.Event)

func (s sink) Emit(e *trace.Event) { s(e) }
