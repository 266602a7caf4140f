package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/mock"
	_ "kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/tl"
)

var ctx = context.Background()

// executors runs a test on each registered executor: all have what these tests ask for.
func executors(t *testing.T, f func(t *testing.T, executor string)) {
	for _, x := range exec.Names() {
		t.Run(x, func(t *testing.T) { f(t, x) })
	}
}

// right runs a spec with data and wants every rank right by both questions.
func right(t *testing.T, s run.Spec) *run.Result {
	t.Helper()
	s.VerifyData = true
	r, err := run.Run(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || !r.RanksChecked || r.RanksOK != r.WorldSize || r.RanksFailed != 0 || len(r.Failures) != 0 {
		t.Fatalf("not right: %+v", r)
	}
	for _, q := range []string{"values", "deadlock"} {
		if v := r.Verdict(q); v.State != run.Checked {
			t.Fatalf("%v", v)
		}
	}
	if r.Collective != "" && r.Verdict("provenance").State != run.Checked {
		t.Fatalf("%v", r.Verdict("provenance"))
	}
	return r
}

// The seven cases of the author's guide.
func TestGuideMatrix(t *testing.T) {
	cases := []struct {
		algorithm string
		ranks     int // 0: of the entry
		world     int
	}{
		{"ring_allreduce_tcm", 8, 8}, {"ring_allreduce_hbm", 8, 8}, {"ring_allreduce_sram", 8, 8},
		{"ring_allreduce", 8, 8}, {"ring_allreduce", 16, 16}, {"mesh_allreduce_4", 0, 4}, {"tree_allreduce_7", 0, 7},
	}
	executors(t, func(t *testing.T, executor string) {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s/%d", c.algorithm, c.world), func(t *testing.T) {
				r := right(t, run.Spec{Algorithm: c.algorithm, Ranks: c.ranks, Executor: executor})
				if r.WorldSize != c.world {
					t.Fatalf("world size %d, want %d", r.WorldSize, c.world)
				}
			})
		}
	})
}

// Rings over several cubes and SIPs, whole or not, both meanings of rank, all types.
func TestRuns(t *testing.T) {
	sip := []string{"defaults.rank_level=sip"}
	cases := []struct {
		name string
		spec run.Spec
	}{
		{"two cubes", run.Spec{Algorithm: "ring_allreduce", Ranks: 16}},
		{"a cube and a half", run.Spec{Algorithm: "ring_allreduce", Ranks: 12}},
		{"two SIPs", run.Spec{Topology: "ahbm", Sets: []string{"sip.cube_mesh.w=2", "sip.cube_mesh.h=1"}}},
		{"a SIP and a bit", run.Spec{Ranks: 19, Sets: []string{"sip.cube_mesh.w=2", "sip.cube_mesh.h=1"}}},
		{"rank is SIP", run.Spec{Sets: sip}},
		{"rank is SIP, six of them", run.Spec{Topology: "ahbm-6sip-torus", Algorithm: "ring_allreduce", NElem: 100, Sets: sip}},
		{"rank is SIP, hello", run.Spec{Bench: "ccl_hello", Sets: sip}},
		{"one rank", run.Spec{Ranks: 1}},
		{"more than a slot", run.Spec{Algorithm: "ring_allreduce", Ranks: 4, NElem: 4097}},
		{"average of bf16", run.Spec{Ranks: 8, DType: dtype.BF16, Op: tl.Avg}},
		{"product of i8", run.Spec{Ranks: 8, DType: dtype.I8, Op: tl.Prod}},
		{"least of u8", run.Spec{Ranks: 8, DType: dtype.U8, Op: tl.Min}},
		{"hello", run.Spec{Bench: "ccl_hello", Ranks: 9}},
		{"polling", run.Spec{Ranks: 8, Sets: []string{"defaults.backpressure=poll"}}},
		{"credit on recv", run.Spec{Ranks: 8, Sets: []string{"defaults.credit=on_recv", "defaults.n_slots=8"}}},
		{"matrix product", run.Spec{Bench: "gemm_single_pe"}},
		{"matrix product of i16", run.Spec{Bench: "gemm_single_pe", DType: dtype.I16}},
		{"projections", run.Spec{Bench: "gpt3_qkv", NElem: 64}},
		{"virtual addresses", run.Spec{Bench: "va_offset_verify", Topology: "ahbm-cube"}},
		{"virtual addresses, odd", run.Spec{Bench: "va_offset_verify", Topology: "ahbm-cube", NElem: 7, DType: dtype.F64}},
	}
	executors(t, func(t *testing.T, executor string) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				c.spec.Executor = executor
				right(t, c.spec)
			})
		}
	})
}

// The guide's neighbour patterns: E without W on odd ranks, and a ring without the opposite
// direction.
func TestGuideNeighbours(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, name := range []string{"lab_pattern_a", "lab_pattern_b"} {
			t.Run(name, func(t *testing.T) {
				r, err := run.Run(ctx, run.Spec{Bench: "ccl_hello", Algorithm: name, Ranks: 6, VerifyData: true, Executor: executor})
				if err != nil {
					t.Fatal(err)
				}
				if !r.OK() || r.Messages == 0 || r.Verdict("deadlock").State != run.Checked {
					t.Fatalf("%+v", r)
				}
			})
		}
	})
}

func TestWhatIsNotCheckedIsSaid(t *testing.T) {
	r, err := run.Run(ctx, run.Spec{Ranks: 4})
	if err != nil {
		t.Fatal(err)
	}
	if r.RanksChecked || !r.OK() {
		t.Fatalf("%+v", r)
	}
	var got []string
	for _, v := range r.Verdicts {
		got = append(got, v.String())
	}
	want := []string{
		"provenance: not checked: add --verify-data",
		"values: not checked: add --verify-data",
		"deadlock: checked (all kernels ended and took all messages, with 4 slots per direction)",
		"race: not checked: add --race",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	if r.AlgBW <= 0 || r.BusBW != r.AlgBW*2*3/4 || r.Messages != 4*6 || r.SimulatedTime <= 0 {
		t.Fatalf("%+v", r)
	}
}

func TestNotes(t *testing.T) {
	r := right(t, run.Spec{Algorithm: "ring_allreduce", Ranks: 16, Executor: mock.Name})
	all := strings.Join(r.Notes, "\n")
	for _, want := range []string{"N/2 = 8 times the bytes", "ring_allreduce_chunked",
		"ranks differ bitwise: 16 different results, 15 ranks"} {
		if !strings.Contains(all, want) {
			t.Fatalf("%q is not in the notes:\n%s", want, all)
		}
	}
	if r = right(t, run.Spec{Ranks: 16, Executor: mock.Name}); len(r.Notes) != 0 {
		t.Fatalf("the chunked form has notes: %q", r.Notes)
	}
}

func TestSpecsAreRefused(t *testing.T) {
	tests := []struct {
		name string
		spec run.Spec
		text string
	}{
		{"bench", run.Spec{Bench: "ccl_alreduce"}, `did you mean "ccl_allreduce"`},
		{"algorithm", run.Spec{Algorithm: "ring_alreduce"}, `did you mean "ring_allreduce"`},
		{"preset", run.Spec{Topology: "ahbm-cub"}, `did you mean "ahbm-cube"`},
		{"file", run.Spec{CCL: "nowhere.yaml"}, "nowhere.yaml"},
		{"set", run.Spec{Sets: []string{"system.sips.cuont=4"}}, `did you mean "system.sips.count"`},
		{"executor", run.Spec{Executor: "qemu"}, "want one of sim, mock"},
		{"fidelity", run.Spec{Fidelity: "exact"}, "exact"},
		{"ranks", run.Spec{Ranks: 257}, "257 ranks: the machine has 256 PEs"},
		{"negative", run.Spec{NElem: -1}, "negative"},
		{"mesh", run.Spec{Algorithm: "mesh_allreduce", Ranks: 6}, "6 is not a square"},
		{"trace", run.Spec{TraceFile: filepath.Join("nowhere", "out.txt"), Ranks: 2}, "nowhere"},
		{"trace of mock", run.Spec{TraceFile: "out.txt", Executor: mock.Name}, "no clock"},
		{"trace kind", run.Spec{TraceFile: "out.png", Ranks: 2}, "out.png"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := run.Run(ctx, tt.spec)
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %q", err, tt.text)
			}
			if r != nil && r.WorldSize > 0 {
				t.Fatalf("a run that did not begin has figures: %+v", r)
			}
		})
	}
}

// A run is a pure function of its spec: same figures, same trace, for any GOMAXPROCS.
func TestRunsRepeat(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	dir := t.TempDir()
	var results, traces [][]byte
	for i, procs := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(procs)
		file := filepath.Join(dir, fmt.Sprint(i, ".txt"))
		var ccl bytes.Buffer
		r := right(t, run.Spec{Ranks: 24, NElem: 100, Seed: 3, TraceFile: file, CCLTrace: &ccl})
		r.WallTime, r.EventsPerSecond, r.NsPerMessage = 0, 0, 0
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if ccl.Len() == 0 || len(text) == 0 {
			t.Fatal("no trace")
		}
		results, traces = append(results, data), append(traces, append(text, ccl.Bytes()...))
	}
	for i := range results {
		if !bytes.Equal(results[i], results[0]) || !bytes.Equal(traces[i], traces[0]) {
			t.Fatalf("run %d differs from the first", i)
		}
	}
}

// The data pass changes no time, and mock moves the same messages as sim.
func TestDataCostsNoTime(t *testing.T) {
	plain, err := run.Run(ctx, run.Spec{Ranks: 12})
	if err != nil {
		t.Fatal(err)
	}
	with := right(t, run.Spec{Ranks: 12})
	mock := right(t, run.Spec{Ranks: 12, Executor: mock.Name})
	if plain.SimulatedTime != with.SimulatedTime || plain.Events != with.Events {
		t.Fatalf("%v and %d events without data, %v and %d with", plain.SimulatedTime, plain.Events, with.SimulatedTime, with.Events)
	}
	if mock.Messages != with.Messages || mock.MessageBytes != with.MessageBytes || mock.Timed {
		t.Fatalf("mock: %+v", mock)
	}
}

func TestCancellation(t *testing.T) {
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := run.Run(stopped, run.Spec{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestSpecJSON(t *testing.T) {
	data, err := json.Marshal(run.Spec{Ranks: 4, DType: dtype.BF16, Op: tl.Avg, Seed: 7})
	if got, want := string(data), `{"ranks":4,"seed":7,"verify_data":false,"dtype":"bf16","op":"avg"}`; err != nil || got != want {
		t.Fatalf("got %s, %v", got, err)
	}
}

func Example() {
	r, err := run.Run(context.Background(), run.Spec{Ranks: 8, VerifyData: true, Executor: mock.Name})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Algorithm, r.WorldSize, r.RanksOK, r.Messages, r.OK())
	// Output: ring_allreduce_chunked 8 8 112 true
}

// ownSize is a host program with sizes and types of its own. It ignores those of the spec.
var ownSize = bench.Register(bench.Program{
	Name: "lab_own_size", Algorithm: "ring_allreduce", Collectives: true,
	Run: func(ctx context.Context, h *bench.Host) error {
		plan, err := h.Device.InstallIPCQ(h.Algorithm)
		if err != nil {
			return err
		}
		x, err := h.Device.Zeros(1, plan.World*5, dtype.F64, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1, NumPEs: plan.World})
		if err != nil {
			return err
		}
		_, err = h.Device.Launch(ctx, plan.Name, x, tl.Max)
		return errors.Join(err, x.Free())
	},
})

// A result tells what was launched, not what was asked for, also of a launch that hangs.
func TestResultIsOfTheLaunch(t *testing.T) {
	s := run.Spec{Bench: ownSize.Name, Ranks: 4, NElem: 1000, DType: dtype.F16}
	executors(t, func(t *testing.T, executor string) {
		s.Executor = executor
		for slots, wantErr := range map[string]bool{"defaults.n_slots=4": false, "defaults.n_slots=1": true} {
			s.Sets = []string{slots}
			r, err := run.Run(ctx, s)
			if (err != nil) != wantErr {
				t.Fatal(err)
			}
			if r.ElemsPerRank != 5 || r.BytesPerRank != 40 || r.DType != "f64" || r.Op != "max" || r.WorldSize != 4 {
				t.Errorf("%s: %d elements, %v, %s, %s", slots, r.ElemsPerRank, r.BytesPerRank, r.DType, r.Op)
			}
		}
	})
}

// With a SIP as a rank it is the elements of the SIP, over all its PEs.
// shrinks runs a collective on four ranks and then one on two.
var shrinks = bench.Register(bench.Program{
	Name: "lab_shrinks", Collectives: true,
	Run: func(ctx context.Context, h *bench.Host) error {
		for _, world := range []int{4, 2} {
			plan, err := h.Device.InstallIPCQ("lab_double", device.Install{World: world})
			if err != nil {
				return err
			}
			tensors, err := h.AllContributions(plan)
			if err != nil {
				return err
			}
			if _, err := h.Device.Perform(ctx, plan, h.Op, tensors); err != nil {
				return err
			}
		}
		return nil
	},
})

func TestRanksOfSeveralPlans(t *testing.T) {
	r, err := run.Run(ctx, run.Spec{Bench: shrinks.Name, VerifyData: true})
	if err != nil || r.WorldSize != 4 || r.RanksFailed != 4 || r.RanksOK != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestElemsOfASIP(t *testing.T) {
	r, err := run.Run(ctx, run.Spec{Sets: []string{"defaults.rank_level=sip"}, NElem: 300})
	if err != nil || r.ElemsPerRank != 300 || r.BytesPerRank != 600 {
		t.Fatalf("%d elements, %v: %v", r.ElemsPerRank, r.BytesPerRank, err)
	}
}
