package hccl_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// mistake is a program that breaks one rule, and its diagnostic.
type mistake struct {
	name   string
	rule   hccl.Rule
	cores  hccl.Cores // none: one AIV
	kernel func(m *maker)

	call, found, right, returned string // in the diagnostic: all of the call and of what was returned, parts of the others

	rank     int // that makes it
	block    int
	aic      bool
	warning  bool
	deadlock bool // and it never ends
	broken   bool // and data are read that were never written
	pairs    bool // there is a second group, of ranks 0 and 1

	tile func(cc *hccl.CcTiling) // changes all cc tilings
}

// maker is a core that makes a mistake: the line of the call is noted, and what it returns is
// held against what it should.
type maker struct {
	*hccl.Kernel
	t    *trial
	h    *hccl.Hccl // of the first group, which is initialised
	send mem.Addr   // of 300 elements fp32
	recv mem.Addr   // of 1200
}

// trial is one launch with a mistake.
type trial struct {
	testing.TB
	line    string // of the mistake
	offsets []int  // of the cc tilings, in the order of tiledOps
	other   *hccl.Tiling
}

// tiledOps are the operations that the tiling of a trial has.
var tiledOps = []hccl.OpType{hccl.OpAllReduce, hccl.OpReduceScatter, hccl.OpAlltoAll, hccl.OpAlltoAllV, hccl.OpBatchWrite}

// noted notes the line of the caller's caller.
func (t *trial) noted() {
	_, file, line, _ := runtime.Caller(2)
	parts := strings.Split(file, "/")
	t.line = fmt.Sprintf("%s:%d", strings.Join(parts[max(0, len(parts)-2):], "/"), line)
}

// is records the line, and fails the test if a wrong call did not return the expected value.
func (m *maker) is(want, got int) {
	m.t.noted()
	if got != want {
		m.t.Errorf("%s: returned %d, not %d", m.t.line, got, want)
	}
}

// refused is is for handles.
func (m *maker) refused(got hccl.Handle) {
	m.t.noted()
	if got != hccl.Invalid {
		m.t.Errorf("%s: returned handle %d, not -1", m.t.line, got)
	}
}

// prepared is for calls that go well, and are a mistake.
func (m *maker) prepared(id hccl.Handle) hccl.Handle {
	m.t.noted()
	if id == hccl.Invalid {
		m.t.Errorf("%s: refused", m.t.line)
	}
	return id
}

// does notes the line of a call without a result.
func (m *maker) does(call func()) {
	m.t.noted()
	call()
}

// reduce prepares an all-reduce that is right.
func (m *maker) reduce(commit hccl.Release, repeat uint8) hccl.Handle {
	return m.h.AllReduce(commit, m.send, m.recv, 10, hccl.FP32, hccl.ReduceSum, repeat)
}

// fours returns the number n for each rank.
func fours(n uint64) []uint64 { return []uint64{n, n, n, n} }

// fifties are the offsets of the blocks of exchanges.
var fifties = []uint64{0, 50, 100, 150}

func TestMistakes(t *testing.T) {
	for _, x := range slices.Concat(settingUp, preparing, following) {
		t.Run(string(x.rule)+"/"+x.name, func(t *testing.T) {
			for _, executor := range []string{"mock", "sim"} {
				t.Run(executor, func(t *testing.T) { makeMistake(t, newRig(t, executor), &x) })
			}
		})
	}
}

// makeMistake runs a mistake on four ranks, and then a program without one on the same group.
func makeMistake(t *testing.T, r *rig, x *mistake) {
	g := r.group(4, hccl.Options{})
	comms := []*hccl.Comm{g}
	send, recv := r.buffer(4, 300, dtype.F32, pageInput), r.buffer(4, 1200, dtype.F32, nil)
	tr := &trial{TB: t, other: hccl.NewTiling()}
	tiling := hccl.NewTiling()
	tiling.AddInit()
	for _, op := range tiledOps {
		cc := hccl.NewCcTiling("world", op, hccl.DefaultAlgConfig(op))
		if x.tile != nil {
			x.tile(cc)
		}
		at, _ := tiling.AddCc(cc)
		tr.offsets = append(tr.offsets, at)
	}
	if x.pairs {
		pair, err := hccl.NewComm(r.Device, "pair", []int32{0, 1}, hccl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		comms = append(comms, pair)
		at, _ := tiling.AddCc(hccl.NewCcTiling("pair", hccl.OpAllReduce, hccl.DefaultAlgConfig(hccl.OpAllReduce)))
		tr.offsets = append(tr.offsets, at)
	}
	if err := tiling.Err(); err != nil {
		t.Fatal(err)
	}
	l := hccl.Launch{
		Name: "mistake", Cores: x.cores, Comms: comms, Tiling: tiling, Buffers: tensors(send, recv),
		Kernel: func(k *hccl.Kernel) {
			m := &maker{Kernel: k, t: tr, h: k.New(hccl.Config{}), send: k.GM(0), recv: k.GM(1)}
			x.kernel(m)
		},
	}
	if l.Cores == (hccl.Cores{}) {
		l.Cores.AIV = 1
	}
	out, err := l.Run(context.Background())
	tr.holds(x, out, err)
	for _, c := range comms[1:] {
		if err := c.Free(); err != nil {
			t.Error(err)
		}
	}
	if !x.broken && (!x.deadlock || r.executor == "mock") { // time does not go on after a fault
		goesWell(r, g, tr.offsets[0], tiling, send, recv)
	}
	leavesNothing(r, g, send, recv)
}

// goesWell runs a program without mistakes on a group, after any earlier runs.
func goesWell(r *rig, g *hccl.Comm, at int, tiling *hccl.Tiling, send, recv []*device.Tensor) {
	r.Helper()
	r.Judged = nil
	out, err := (&hccl.Launch{
		Name: "good", Cores: hccl.Cores{AIV: 2}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(send, recv),
		Kernel: func(k *hccl.Kernel) {
			h := k.New(hccl.Config{})
			h.InitV2(k.HcclContext(0), k.Tiling())
			h.SetCcTilingV2(at)
			h.Wait(h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), 300, hccl.FP32, hccl.ReduceSum, 1))
			k.SyncAll(hccl.AIVOnly)
			h.Finalize()
		},
	}).Run(context.Background())
	switch {
	case err != nil:
		r.Errorf("a good launch behind it: %v", err)
	case len(out.Warnings) > 0 || len(r.Judged) != 1:
		r.Errorf("a good launch behind it: warnings %v, %d results judged", out.Warnings, len(r.Judged))
	}
}

// leavesNothing frees what a test has made, and looks for what is left.
func leavesNothing(r *rig, g *hccl.Comm, buffers ...[]*device.Tensor) {
	r.Helper()
	if err := g.Free(); err != nil {
		r.Error(err)
	}
	for _, b := range buffers {
		for _, x := range b {
			if err := x.Free(); err != nil {
				r.Error(err)
			}
		}
	}
	if leaks, err := r.Device.ReleaseAll(); err != nil || len(leaks) > 0 {
		r.Errorf("left are %v, %v", leaks, err)
	}
}

// holds compares the diagnostics of a launch with those of a mistake.
func (t *trial) holds(x *mistake, out *hccl.Outcome, err error) {
	t.Helper()
	if _, stuck := errors.AsType[*fault.Deadlock](err); stuck != x.deadlock {
		t.Errorf("deadlock %v, not %v: %v", stuck, x.deadlock, err)
	}
	var found []hccl.Diagnostic
	if m, ok := errors.AsType[*hccl.Misuse](err); ok {
		found = m.Diagnostics
	} else if out != nil {
		found = out.Warnings
	}
	if (out != nil) != (x.warning && !x.deadlock) {
		t.Errorf("outcome %v, error %v", out, err)
	}
	if len(found) != 1 {
		t.Fatalf("%d diagnostics, not one: %v", len(found), found)
	}
	d := found[0]
	core := "AIV"
	if x.aic {
		core = "AIC"
	}
	if d.Rule != x.rule || (d.Severity == hccl.Warning) != x.warning {
		t.Errorf("%v of rule %s, not %s", d.Severity, d.Rule, x.rule)
	}
	if d.Place.Rank != x.rank || d.Block != x.block || d.Core != core || d.Place.Timed && d.Place.PE == "" {
		t.Errorf("rank %d (%s) block %d (%s), not rank %d block %d (%s)", d.Place.Rank, d.Place.PE, d.Block, d.Core, x.rank, x.block, core)
	}
	if d.Place.Line != t.line || t.line == "" {
		t.Errorf("at %q, not %q", d.Place.Line, t.line)
	}
	if d.Call != x.call || d.Returned != x.returned || !strings.Contains(d.Found, x.found) ||
		!strings.Contains(d.Right, x.right) || x.found == "" || x.right == "" {
		t.Errorf("got  %s\nwant %s: %s: %s (returned %s)", d, x.call, x.found, x.right, x.returned)
	}
}
