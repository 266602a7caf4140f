package hccl_test

import (
	"slices"
	"testing"

	"kernbench/dialect/hccl"
)

// The documents define the result of some programs. The model and the package have the same
// results.
func TestModelKnowsTheDocuments(t *testing.T) {
	reduce := func(repeat int, now bool) step {
		return step{act: actPrepare, op: hccl.OpAllReduce, count: 4, repeat: repeat, now: now}
	}
	on := func(group int, s step) step { s.group, s.region = group, maxPlan*group; return s }
	call := func(a act, handle int) step { return step{act: a, handle: handle} }
	times := func(n int, s step) []step { return slices.Repeat([]step{s}, n) }
	end := call(actFinalize, 0)
	steps := step{act: actPrepare, op: hccl.OpAlltoAllV, count: 3, repeat: 2, now: true}
	later := steps
	later.now = false
	iterate := func(side hccl.Side) step { return step{act: actIterate, side: side} }

	for _, tt := range []struct {
		name   string
		ranks  int
		groups int
		size   int // of steps
		steps  [][]step
		ends   bool
		want   []int       // what rank 0 gets
		broken []hccl.Rule // by rank 0
	}{
		{
			name: "communicate, then compute", ranks: 2, ends: true,
			steps: [][]step{{reduce(2, true), reduce(1, true), call(actWait, 0), call(actWait, 0), call(actWait, 1), end}},
			want:  []int{0, 1, 0, 0, 0, 0},
		},
		{
			name: "compute, then communicate: no Wait", ranks: 2, ends: true,
			steps: [][]step{{reduce(2, false), call(actCommit, 0), call(actCommit, 0), end}},
			want:  []int{0, 0, 0, 0},
		},
		{
			name: "the tenth argument", ranks: 2, ends: true, // ten calls for a task of one turn
			steps: [][]step{slices.Concat([]step{reduce(1, false)}, times(10, call(actCommit, 0)),
				times(10, call(actWait, 0)), []step{end})},
			want:   []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0},
			broken: slices.Concat(slices.Repeat([]hccl.Rule{hccl.CommitTooOften}, 9), slices.Repeat([]hccl.Rule{hccl.WaitTooOften}, 9)),
		},
		{
			name: "Wait before Commit", ranks: 2, ends: true,
			steps:  [][]step{{reduce(1, false), call(actWait, 0), call(actCommit, 0), call(actWait, 0), end}},
			want:   []int{0, -1, 0, 0, 0},
			broken: []hccl.Rule{hccl.WaitBeforeCommit},
		},
		{
			name: "Commit in another order than Prepare", ranks: 2, ends: true,
			steps: [][]step{{reduce(1, false), reduce(1, false), call(actCommit, 1), call(actCommit, 0),
				call(actWait, 0), call(actWait, 1), end}},
			want: []int{0, 1, 0, 0, 0, 0, 0},
		},
		{
			name: "behind a task that is not committed", ranks: 2, ends: false,
			steps: [][]step{{reduce(1, false), reduce(1, true), call(actWait, 1), call(actCommit, 0), end}},
			want:  []int{0, 1},
		},
		{
			name: "Finalize before the last Commit", ranks: 2, ends: false,
			steps:  [][]step{{reduce(2, false), call(actCommit, 0), end, call(actCommit, 0)}},
			want:   []int{0, 0},
			broken: []hccl.Rule{hccl.FinalizeUncommitted},
		},
		{
			name: "a rank that does not come", ranks: 3, ends: false,
			steps: [][]step{{reduce(1, true), call(actWait, 0), end}, {reduce(1, true), call(actWait, 0), end}, {end}},
			want:  []int{0},
		},
		{
			name: "a refused Prepare has no handle", ranks: 2, ends: true,
			steps: [][]step{{step{act: actPrepare, op: hccl.OpAllReduce, count: 4, badArg: noRepeat}, reduce(1, true),
				call(actWait, -1), call(actWait, 0), end}},
			want:   []int{-1, 0, -1, 0, 0},
			broken: []hccl.Rule{hccl.RepeatZero, hccl.BadHandle},
		},
		{
			name: "the 64th task", ranks: 2, ends: true,
			steps:  [][]step{slices.Concat(times(64, reduce(1, true)), []step{call(actWait, 62), end})},
			want:   append(upTo(63), -1, 0, 0),
			broken: []hccl.Rule{hccl.TooManyPrepares},
		},
		{
			name: "after Finalize", ranks: 2, ends: true,
			steps:  [][]step{{reduce(1, true), end, call(actQuery, 0), call(actWait, 0), reduce(1, true), end}},
			want:   []int{0, 0, -1, -1, -1, 0},
			broken: []hccl.Rule{hccl.AfterFinalize, hccl.AfterFinalize, hccl.AfterFinalize, hccl.AfterFinalize},
		},
		{
			name: "groups go side by side", ranks: 2, groups: 2, ends: true,
			steps: [][]step{{reduce(1, false), on(1, reduce(1, true)), on(1, call(actWait, 0)), call(actCommit, 0), end, on(1, end)}},
			want:  []int{0, 0, 0, 0, 0, 0},
		},
		{
			name: "one group behind the other", ranks: 2, groups: 2, ends: false,
			steps: [][]step{{reduce(1, false), on(1, call(actGroupSync, 0)), on(1, reduce(1, true)),
				on(1, call(actWait, 1)), call(actCommit, 0)}},
			want: []int{0, 0, 1},
		},
		{
			name: "sources in steps", ranks: 4, size: 1, ends: true,
			steps: [][]step{slices.Concat([]step{steps}, times(9, iterate(hccl.Sources)), []step{call(actQuery, 0), end})},
			want:  []int{0, 1, 4, 3, 2, 1, 4, 3, 2, 0, 2, 0},
		},
		{
			name: "half of the steps of a turn", ranks: 4, size: 2, ends: true,
			steps: [][]step{{
				later, call(actCommit, 0), iterate(hccl.Sources), call(actQuery, 0), call(actWait, 0),
				call(actCommit, 0), call(actWait, 0), call(actQuery, 0), call(actCommit, 0), call(actCommit, 0), end,
			}},
			want:   []int{0, 0, 14, 0, -1, 0, 0, 1, 0, 0, 0},
			broken: []hccl.Rule{hccl.WaitBeforeCommit},
		},
		{
			name: "destinations in steps of two", ranks: 4, size: 2, ends: true,
			steps: [][]step{slices.Concat([]step{steps}, times(5, iterate(hccl.Destinations)), []step{end})},
			want:  []int{0, 12, 34, 12, 34, 0, 0},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &program{ranks: tt.ranks, bare: make([]bool, tt.ranks), steps: tt.steps}
			for range max(1, tt.groups) {
				p.groups, p.stepSize = append(p.groups, upTo(tt.ranks)), append(p.stepSize, tt.size)
			}
			for len(p.steps) < tt.ranks {
				p.steps = append(p.steps, tt.steps[0])
			}
			want := predict(p)
			var answers []int
			for _, a := range want.answers[0] {
				answers = append(answers, a.low)
			}
			if want.ends != tt.ends || !slices.Equal(answers, tt.want) || !slices.Equal(want.broken[0], tt.broken) {
				t.Errorf("the model says %v, ends %v, breaks %v; documented are %v, ends %v, breaks %v", answers,
					want.ends, want.broken[0], tt.want, tt.ends, tt.broken)
			}
			for _, w := range []caseSetup{layouts[0], {cores: layouts[0].cores, timed: true}} {
				got, err := perform(p, w)
				if err == nil {
					err = compare(p, want, got, w)
				}
				if err != nil {
					t.Errorf("timed %v: %v\n%v", w.timed, err, got.err)
				}
			}
		})
	}
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
