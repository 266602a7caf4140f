package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// decodeQueue makes a program of streams from bytes: six for its frame, then six for each
// operation.
func decodeQueue(data []byte) *queueing {
	at := func(i int) int {
		if i < len(data) {
			return int(data[i])
		}
		return 0
	}
	q := &queueing{
		devices: 1 + at(0)%4, queue: []int{1, 2, 3, 64}[at(1)%4], poll: at(2)&1 != 0, order: mem.Ordering(at(3) % 4),
		engine: []string{"", "pe", "sip"}[at(2)/2%3],
	}
	for i := range 1 + at(4)%5 {
		q.streams = append(q.streams, (i+at(5))%q.devices)
	}
	for i := 6; i+5 < len(data); i += 6 {
		a := queued{
			stream: at(i) % len(q.streams), do: streamAct(at(i+1)) % streamActs,
			from: block{at(i+2) % q.devices, at(i+2) / 16 % blocks}, to: block{at(i+3) % q.devices, at(i+3) / 16 % blocks},
			word: at(i+4) % 4, dev: at(i+4) / 16 % q.devices, count: int64(at(i+4) / 4 % 4),
			grid: 1 + at(i+5)%6, hold: 1 + at(i+5)/8%4, post: at(i+5) / 32 % 5,
		}
		q.acts = append(q.acts, a)
		q.mend()
	}
	return q
}

// mend replaces invalid blocks of the last operation by valid ones.
func (q *queueing) mend() {
	a := &q.acts[len(q.acts)-1]
	inWindow := func(b *block) { b.i = plainBlocks + b.i%(blocks-plainBlocks) }
	switch a.do {
	case actPut, actPutNBI, actPutTensor, actPutSignal, actCombine, actGroup:
		inWindow(&a.to)
	case actGet:
		inWindow(&a.from)
	}
}

type failer interface {
	Fatalf(string, ...any)
	Helper()
}

// judgeQueue runs a program of streams in every mode that must make no difference. If the program
// does not depend on timing, it also runs it in every other mode.
func judgeQueue(t failer, q *queueing) {
	t.Helper()
	get := func(o *leftover, err error) *leftover {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%+v", err, q)
		}
		return o
	}
	same := func(what string, a, b *leftover) {
		t.Helper()
		a.res.Events, b.res.Events = 0, 0
		switch {
		case errText(a.err) != errText(b.err):
			t.Fatalf("%s: %s\n%+v", what, cmp.Diff(errText(a.err), errText(b.err)), q)
		case !slices.Equal(a.trace, b.trace):
			t.Fatalf("%s: traces: %s\n%+v", what, cmp.Diff(a.trace, b.trace), q)
		case !cmp.Equal(a.res, b.res):
			t.Fatalf("%s: %s\n%+v", what, cmp.Diff(a.res, b.res), q)
		case a.err == nil && a.differ(b) != "":
			t.Fatalf("%s: %s\n%+v", what, a.differ(b), q)
		}
	}
	ahead := get(q.onSim(noc.Slot, false, 0))
	checkStall(t, ahead.err, q)
	same("two runs", ahead, get(q.onSim(noc.Slot, false, 0)))
	same("with run-ahead and without", ahead, get(q.onSim(noc.Slot, true, 0)))
	same("under random delays, with run-ahead and without", get(q.onSim(noc.Ideal, false, 7)), get(q.onSim(noc.Ideal, true, 7)))
	first := get(q.onMock(0))
	checkStall(t, first.err, q)
	for _, o := range []*leftover{ahead, first} {
		if o.err != nil || o.report.Class == race.Scheduled || o.report.Unsettled {
			continue
		}
		sure(t, q, o) // one run proves the result
		break
	}
}

// sure compares a run with those on both executors, in all fidelities and under some
// schedules.
func sure(t failer, q *queueing, want *leftover) {
	t.Helper()
	check := func(how string, o *leftover, err error) {
		t.Helper()
		switch {
		case err != nil:
			t.Fatalf("%s: %v\n%+v", how, err, q)
		case o.err != nil:
			t.Fatalf("%s: %v\n%+v", how, o.err, q)
		case want.differ(o) != "":
			t.Fatalf("%s: %s\n%+v", how, want.differ(o), q)
		case o.report.Total > 0 || (o.report.Class == race.Scheduled) != (want.report.Class == race.Scheduled):
			t.Fatalf("%s: %v\nwhere before there were %v\n%+v", how, o.report, want.report, q)
		case cmp.Diff(want.res.Traffic, o.res.Traffic) != "":
			t.Fatalf("%s: %s\n%+v", how, cmp.Diff(want.res.Traffic, o.res.Traffic), q)
		}
	}
	for seed := range uint64(3) {
		o, err := q.onMock(seed)
		check(fmt.Sprint("mock, seed ", seed), o, err)
		f := []noc.Fidelity{noc.Slot, noc.Flit, noc.Ideal}[seed]
		o, err = q.onSim(f, false, 0)
		check(f.String(), o, err)
		o, err = q.onSim(noc.Slot, seed == 1, seed+1)
		check(fmt.Sprint("sim, seed ", seed+1), o, err)
	}
}

// checkStall: a run of streams ends well, or with a fault that has the cause.
func checkStall(t failer, err error, q *queueing) {
	t.Helper()
	if err == nil {
		return
	}
	var hang *fault.Deadlock
	if !errors.As(err, &hang) {
		if _, err := placeOf(err); err != nil || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v\n%+v", err, q)
		}
		return
	}
	if len(hang.Blocked) == 0 || hang.Blocked[0].Line == "" || hang.Advice == "" && hang.Missing == "" {
		t.Fatalf("a deadlock without a place or a reason: %v\n%+v", err, q)
	}
}

// anyQueue makes a program of streams of random bytes.
func anyQueue(d *rand.Rand) *queueing {
	data := make([]byte, 6+6*(1+d.IntN(14)))
	for i := range data {
		data[i] = byte(d.Uint32())
	}
	return decodeQueue(data)
}

// TestAnyStreams: a result, or an error with the cause, is the same however far streams and
// programs run ahead. Where the judge states that one run proves it, it is the same in every other
// run.
func TestAnyStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { judgeQueue(t, anyQueue(dice(t))) })
}

// Streams whose tasks share a queue: the clock decides the order in which they reach it. The
// predecessors of the tasks of the other queue depend on that order.
func TestStreamsThatShareAQueueOfTasks(t *testing.T) {
	data, window := block{0, 0}, block{0, 3}
	const andAwaited = tl.EngineQueues
	q := &queueing{devices: 1, streams: []int{0, 0}, queue: 64, engine: "pe", acts: []queued{
		{stream: 0, do: actCombine, from: data, to: window, grid: 1, hold: 1, post: 1 + andAwaited},
		{stream: 1, do: actLoadStore, from: data, to: window, grid: 1, hold: 1, post: 1},
		{stream: 1, do: actPutNBI, from: window, to: block{0, 2}, grid: 1, hold: 1, post: 2},
	}}
	judgeQueue(t, q)
	o, err := q.onSim(noc.Slot, false, 0)
	if err != nil || o.err != nil || o.report.Class != race.Scheduled {
		t.Errorf("%v, %v, %v", err, o.err, o.report)
	}
}

// FuzzStreams does the same with the bytes of the fuzzer.
func FuzzStreams(f *testing.F) {
	d := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		data := make([]byte, 6+6*(1+d.IntN(14)))
		for i := range data {
			data[i] = byte(d.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 150 {
			judgeQueue(t, decodeQueue(data))
		}
	})
}
