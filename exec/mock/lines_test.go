package mock_test

import (
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// A judge whose run can be repeated gets source lines only of choices at first. Its last report
// names the same lines as that of a judge that gets all at once.
func TestLinesOfChoices(t *testing.T) {
	tests := []struct {
		name   string
		passes int // with lines of choices
		kernel func(k *kernelEnv)
	}{
		{"clean", 1, func(k *kernelEnv) { k.Notify(k.flag, k.next, tl.SignalAdd, 1); k.WaitUntil(k.flag, tl.GE, 1) }},
		{"race", 2, func(k *kernelEnv) { k.Put(k.data, 0, k.mine) }},
		{"set", 1, func(k *kernelEnv) { k.Notify(k.flag, k.next, tl.SignalSet, 1) }},
		{"negative", 1, func(k *kernelEnv) { k.Notify(k.flag, k.next, tl.SignalAdd, -1) }},
		{"put that sets", 1, func(k *kernelEnv) { k.PutSignal(k.data, k.next, k.mine, k.flag, tl.SignalSet, 1) }},
		{"put that combines", 1, func(k *kernelEnv) { k.PutTensorCombine(k.data, 0, k.Load(k.mine), tl.Sum) }},
		{"wait for a value", 1, func(k *kernelEnv) { k.Notify(k.flag, k.next, tl.SignalAdd, 1); k.WaitUntil(k.flag, tl.EQ, 1) }},
		{"test", 1, func(k *kernelEnv) { k.Test(k.flag, tl.GE, 1) }},
		{"read", 1, func(k *kernelEnv) { k.Notify(k.flag, k.next, tl.SignalAdd, 1); k.Peek(k.flag) }},
		{"fetch-add", 1, func(k *kernelEnv) { k.FetchAdd(k.flag, 0, 1) }},
		{"compare-swap", 1, func(k *kernelEnv) { k.CompareSwap(k.flag, 0, 0, 1) }},
		{"any", 1, func(k *kernelEnv) {
			x := k.Load(k.mine)
			k.Send(tl.East, x)
			k.RecvAny(x.Shape(), x.DType())
		}},
		{"overflow", 2, func(k *kernelEnv) {
			k.Notify(k.flag, k.next, tl.SignalAdd, 1<<62)
			k.Notify(k.flag, k.next, tl.SignalAdd, 1<<62)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			judge := func(repeats bool) (rep *race.Report, passes int) {
				d := race.New(race.Options{Repeats: repeats})
				for passes = 1; ; passes++ {
					cfg := kerneltest.Config{Inputs: vectors(3, 4), Layout: layout(t, 4, 4), History: d.Log()}
					_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
						w, n := a.Window(0), c.WorldSize()
						test.kernel(&kernelEnv{
							Context: c, mine: a.Shard(c.Rank()), data: c.Data(w, "data"), flag: c.Signals(w, "flags").At(0),
							next: (c.Rank() + 1) % n,
						})
					}, cfg)
					if err != nil {
						t.Fatal(err)
					}
					if rep = d.Report(); !rep.Again {
						return rep, passes
					}
					d = d.Next()
				}
			}
			want, least := judge(false)
			got, passes := judge(true)
			if got.String() != want.String() {
				t.Errorf("with lines of choices: %v\nwith all lines: %v", got, want)
			}
			if passes-least != test.passes-1 {
				t.Errorf("%d passes, %d with all lines, want %d more: %v", passes, least, test.passes-1, got)
			}
			if text := want.String(); strings.Contains(text, "mock/lines_test.go:") == (test.name == "clean") {
				t.Error(text)
			}
		})
	}
}
