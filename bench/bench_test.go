package bench_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"kernbench/bench"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/mock"
	_ "kernbench/internal/fewcollections"
	"kernbench/machine"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// host makes a host for a program on two SIPs of one cube each, with data.
func host(t testing.TB, p *bench.Program, o bench.Options, report func(string)) *bench.Host {
	t.Helper()
	top, err := conf.LoadTopology(nil, []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	t.Cleanup(log.Close)
	return hostOn(t, m, top, log, p, o, report)
}

func hostOn(t testing.TB, m *machine.Machine, top *conf.Topology, log *oplog.Log, p *bench.Program, o bench.Options,
	report func(string)) *bench.Host {
	t.Helper()
	dev, err := device.New(device.Config{Machine: m, Executor: mock.New(mock.Options{Data: log})})
	if err != nil {
		t.Fatal(err)
	}
	return bench.NewHost(p, dev, o, report)
}

// A run without data makes no values, however many the tensors would hold.
func TestNoDataNoValues(t *testing.T) {
	top := conf.DefaultTopology()
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	for p, n := range map[*bench.Program]int{bench.GPT3QKV: 12288, bench.VAOffsetVerify: 1 << 18, bench.CCLAllReduce: 1 << 18} {
		h := hostOn(t, m, top, nil, p, bench.Options{NElem: n}, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := p.Execute(context.Background(), h); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 32 {
			t.Errorf("%s: allocated %d MiB", p.Name, took)
		}
	}
}

// combines are the programs of the task API that combine contributions, which it does in few
// types.
var combines = map[*bench.Program]bool{bench.HcclAllReduce: true, bench.HcclReduceScatterTiled: true, bench.MC2MatmulAllReduce: true}

// Every program runs, frees what it made, and finds what it compares right.
func TestPrograms(t *testing.T) {
	for _, p := range bench.All() {
		if strings.HasPrefix(p.Name, "test_") {
			continue
		}
		for _, typ := range []dtype.Type{dtype.F16, dtype.BF16, dtype.F64, dtype.I8, dtype.I64} {
			t.Run(p.Name+"/"+typ.String(), func(t *testing.T) {
				o := bench.Options{DType: typ, Seed: 5}
				switch p {
				case bench.IntraNodeReduceScatter:
					o.With = map[string]string{"m": "48", "n": "20", "tile": "5x7", "calls": "2", "barrier": "true"}
				case bench.MC2MatmulAllReduce:
					o.With = map[string]string{"m": "50", "n": "24", "k": "40", "tiles": "8"}
				}
				h := host(t, p, o, nil)
				err := p.Execute(context.Background(), h)
				if combines[p] && (typ == dtype.F64 || typ == dtype.I64) {
					if !errors.Is(err, bench.ErrDType) {
						t.Fatalf("found %v, expected a refusal of the type", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if leaks, err := h.Device.ReleaseAll(); err != nil || len(leaks) > 0 {
					t.Fatalf("left behind %v, %v", leaks, err)
				}
				for _, v := range h.Values() {
					if v.Wrong > 0 || v.Elements == 0 {
						t.Fatalf("%+v", v)
					}
				}
				if !p.Collectives && len(h.Values()) == 0 {
					t.Fatal("it compares nothing")
				}
			})
		}
	}
}

func TestLookup(t *testing.T) {
	if p, err := bench.Lookup("ccl_hello"); err != nil || p != bench.CCLHello {
		t.Fatal(p, err)
	}
	if _, err := bench.Lookup("ccl_helo"); err == nil || !strings.Contains(err.Error(), `"ccl_hello"`) {
		t.Fatal(err)
	}
	if _, err := bench.Lookup("zzz"); err == nil || !strings.Contains(err.Error(), "kernbench list benches") {
		t.Fatal(err)
	}
}

// An algorithm of any collective can be run by its name alone.
func TestFor(t *testing.T) {
	for collective, want := range map[string]*bench.Program{
		"all_reduce": bench.CCLAllReduce, "all_gather": bench.AllGatherDistributed, "broadcast": bench.BroadcastDistributed,
		"reduce_scatter": bench.ReduceScatterDistributed, "all_to_all": bench.AllToAllDistributed,
		"shift": bench.CCLHello, "barrier": bench.CCLHello, "": bench.CCLHello,
	} {
		if got := bench.For(collective); got != want {
			t.Errorf("%q is run by %s, want %s", collective, got.Name, want.Name)
		}
	}
}

func TestRegisterPanicsOnDefects(t *testing.T) {
	run := func(context.Context, *bench.Host) error { return nil }
	for _, p := range []bench.Program{{Run: run}, {Name: "test_nothing"}, {Name: "ccl_hello", Run: run}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Fatalf("%q was registered", p.Name)
				}
			}()
			bench.Register(p)
		}()
	}
}

func TestAProgramMustLaunch(t *testing.T) {
	idle := bench.Register(bench.Program{Name: "test_idle", Run: func(context.Context, *bench.Host) error { return nil }})
	if err := idle.Execute(context.Background(), host(t, idle, bench.Options{}, nil)); !errors.Is(err, bench.ErrNoLaunch) {
		t.Fatal(err)
	}
}

func TestReportAndExpect(t *testing.T) {
	var lines []string
	h := host(t, bench.CCLHello, bench.Options{}, func(s string) { lines = append(lines, s) })
	h.Report("%d of %d", 1, 2)
	if len(lines) != 1 || lines[0] != "1 of 2" {
		t.Fatal(lines)
	}
	zero := []float64{0, 0, 0}
	tests := []struct {
		name             string
		got, want, bound []float64
		wrong, first     int
	}{
		{"equal", []float64{1, 2, math.Inf(1)}, []float64{1, 2, math.Inf(1)}, zero, 0, 0},
		{"within", []float64{1, 2.5, 3}, []float64{1, 2, 3}, []float64{0, 0.5, 0}, 0, 0},
		{"beyond", []float64{1, 2.6, 3}, []float64{1, 2, 3}, []float64{0, 0.5, 0}, 1, 1},
		{"not a number", []float64{math.NaN(), 2, 3}, []float64{1, 2, 3}, zero, 1, 0},
		{"too short", []float64{1}, []float64{1, 2, 3}, zero, 2, 1},
	}
	for _, tt := range tests {
		h.Expect(tt.name, tt.got, tt.want, tt.bound)
		v := h.Values()[len(h.Values())-1]
		if v.What != tt.name || v.Elements != 3 || v.Wrong != tt.wrong || v.First != tt.first {
			t.Errorf("%+v", v)
		}
	}
}

// Inputs are exact in their type, differ from rank to rank, and no reduction of them, in
// any order, leaves the finite range.
func TestInputs(t *testing.T) {
	for _, typ := range dtype.Types() {
		for _, op := range tl.ReduceOps() {
			for _, world := range []int{1, 2, 256, 4096, 100_000} {
				in := bench.Inputs{Seed: 1, World: world, Type: typ, Op: op}
				one := make([]byte, typ.Size())
				sum, product, largest := 0.0, 0.0, 0.0
				seen := map[float64]bool{}
				for rank := range world {
					v := in.At(rank, 0)
					dtype.Set(typ, one, 0, v)
					if dtype.At(typ, one, 0) != v {
						t.Fatalf("%v of %v: %v is not exact", op, typ, v)
					}
					seen[v] = true
					sum += math.Abs(v)
					product += math.Log(math.Abs(v))
					largest = max(largest, math.Abs(product))
				}
				if world >= 256 && len(seen) < 2 && !(op == tl.Avg && typ.IsInt()) {
					t.Errorf("%v of %v: all ranks bring %v", op, typ, seen)
				}
				switch {
				case (op == tl.Sum || op == tl.Avg) && typ.IsFloat() && sum > dtype.MaxFinite(typ),
					op == tl.Avg && sum > dtype.MaxFinite(typ),
					op == tl.Prod && typ.IsFloat() && largest > math.Log(dtype.MaxFinite(dtype.F16)):
					t.Errorf("%v of %v over %d ranks: sum %v, product e^%v", op, typ, world, sum, largest)
				}
			}
		}
	}
}

func TestInputsDependOnAll(t *testing.T) {
	at := func(seed uint64, rank, index int) float64 {
		return bench.Inputs{Seed: seed, World: 8, Type: dtype.F64, Op: tl.Max}.At(rank, index)
	}
	var same [3]int
	for i := range 100 {
		for k, v := range []float64{at(1, i, i), at(0, i+1, i), at(0, i, i+1)} {
			if v == at(0, i, i) {
				same[k]++
			}
		}
	}
	for k, n := range same {
		if n > 10 {
			t.Errorf("%d of 100 values do not depend on %s", n, []string{"seed", "rank", "index"}[k])
		}
	}
}

func ExampleInputs() {
	in := bench.Inputs{World: 4, Type: dtype.I8, Op: tl.Max}
	again := bench.Inputs{World: 4, Type: dtype.I8, Op: tl.Max}
	for rank := range 4 {
		if in.At(rank, 0) != again.At(rank, 0) {
			panic("not a function of seed, rank and index")
		}
	}
	// Output:
}
