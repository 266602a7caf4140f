package sim_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	_ "kernbench/internal/fixedseed"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// account holds the records of an executor about a run.
type account struct {
	log  *history.Log
	recs []history.Record
}

func newAccount() *account {
	a := &account{}
	a.log = history.New(func(r []history.Record) { a.recs = append(a.recs, r...) })
	return a
}

// records returns what each rank did, in its order, except for what depends on time. That is the
// value of a word beyond the awaited one, and the numbers of slots, which are listed by ring.
// Accesses are numbered anew, by rank.
func (a *account) records() (lines map[int][]string, rings map[string][]uint32) {
	lines, rings = map[int][]string{}, map[string][]uint32{}
	ops, count := map[uint64]uint64{}, map[int]uint64{}
	for _, r := range a.recs {
		who := a.log.Info(r.Agent)
		switch r.Kind {
		case history.Send, history.Credit:
			k := fmt.Sprintf("%v on ring %d by %v", r.Kind, r.Ring, who)
			rings[k] = append(rings[k], r.Seq)
			continue
		case history.Join:
			who = a.log.Info(r.Other)
		}
		if r.Op != 0 && ops[r.Op] == 0 {
			count[who.Rank]++
			ops[r.Op] = count[who.Rank]
		}
		r.Time, r.Seen, r.Op, r.Agent, r.Other = 0, 0, ops[r.Op], 0, 0
		lines[who.Rank] = append(lines[who.Rank], fmt.Sprintf("%v %+v", who, r))
	}
	return lines, rings
}

// TestAccountsAgree: both executors record the same accesses to memory, whatever their times. The
// records are the same when kernels do not run ahead.
func TestAccountsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice(t)
		p := ordered(d)
		if d.IntN(3) == 0 {
			if p = matched(d); !p.directed || p.onRecv {
				return
			}
		}
		p.order = mem.PutSignal
		want := newAccount()
		o, err := p.on(func(l *oplog.Log, _ *collector) executor { return mock.New(mock.Options{Data: l, History: want.log}) })
		if err != nil {
			t.Fatal(err)
		}
		if o.err != nil {
			return
		}
		wantLines, wantRings := want.records()
		for _, yield := range []bool{false, true} {
			got := newAccount()
			m := machineFor(p.queue, mem.PutSignal, "")
			o, err := p.on(func(l *oplog.Log, _ *collector) executor {
				return sim.New(m, sim.Options{Data: l, History: got.log, Yield: yield, Fidelity: noc.Slot, EventDriven: true})
			})
			if err != nil || o.err != nil {
				t.Fatal(err, o.err)
			}
			lines, rings := got.records()
			if !reflect.DeepEqual(wantLines, lines) || !reflect.DeepEqual(wantRings, rings) { // cmp.Diff takes longer than the runs
				t.Fatalf("mock and sim, yield %v:\n%s\n%s\n%+v", yield, cmp.Diff(wantLines, lines), cmp.Diff(wantRings, rings), p)
			}
		}
	})
}

// TestAccountOfAtomics: they are reported when they take effect, in the order of their word.
func TestAccountOfAtomics(t *testing.T) {
	a := newAccount()
	b := newWindows(t, func(c *tl.Context, args tl.Args) {
		s := c.Signals(args.Window(0), "sig")
		c.FetchAdd(s.At(0), 1, 2)
		c.CompareSwap(s.At(1), 2, 0, int64(c.Rank()+5))
	}, setup{world: 3}, words(2))
	if _, err := b.run(sim.Options{History: a.log}); err != nil {
		t.Fatal(err)
	}
	var added, swapped []history.Record
	for _, r := range a.recs {
		switch {
		case r.Kind == history.RMW && r.Update == tl.SignalAdd:
			added = append(added, r)
		case r.Kind == history.RMW:
			swapped = append(swapped, r)
		}
	}
	if len(added) != 3 || len(swapped) != 3 {
		t.Fatalf("%d and %d records", len(added), len(swapped))
	}
	for i, r := range added {
		if r.Seen != int64(2*i) || !r.Wrote || r.Value != 2 || r.Peer != 1 || r.Word != b.win.WordAddr(1, 0) ||
			r.Call != "fetch_add" || !strings.Contains(r.Line, "account_test.go:") {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	for i, r := range swapped {
		if r.Wrote != (i == 0) || (r.Seen == 0) != (i == 0) || r.Word != b.win.WordAddr(2, 1) || r.Call != "compare_swap" {
			t.Errorf("record %d: %+v", i, r)
		}
		if i > 0 && r.Seen != swapped[0].Value {
			t.Errorf("record %d saw %d", i, r.Seen)
		}
	}
}
