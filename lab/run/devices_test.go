package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kernbench/exec/mock"
	"kernbench/exec/sim"
	_ "kernbench/internal/fewcollections"
	"kernbench/lab/run"
	"kernbench/tl"
)

// Ranks are the devices that were named, in the machine's order, wherever they are.
func TestDevices(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, devices := range [][]int{{0}, {1, 3, 7}, {5, 6, 7, 8, 9}, {0, 127, 128, 255}} {
			for _, name := range []string{"ccl_allreduce", "ccl_hello"} {
				r := right(t, run.Spec{Bench: name, Devices: devices, Executor: executor})
				if r.WorldSize != len(devices) {
					t.Errorf("%s on %v: %d ranks", name, devices, r.WorldSize)
				}
			}
		}
	})
	// Far devices are far.
	near, far := right(t, run.Spec{Devices: []int{0, 1}}), right(t, run.Spec{Devices: []int{0, 255}})
	if near.SimulatedTime >= far.SimulatedTime {
		t.Errorf("%v next to each other, %v over the whole machine", near.SimulatedTime, far.SimulatedTime)
	}
}

// Programs that combine take an operation, though they name no algorithm.
func TestTasksCombine(t *testing.T) {
	for _, name := range []string{"hccl_allreduce", "hccl_reducescatter_tiled"} {
		if _, err := run.Run(ctx, run.Spec{Bench: name, Op: tl.Min, VerifyData: true, Executor: mock.Name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The rows of the sweep have the tiles that there were, where fewer came than were asked for.
func TestTilesAreCounted(t *testing.T) {
	r, err := run.Run(ctx, run.Spec{Bench: "mc2_matmul_allreduce", Executor: sim.Name, Ranks: 2,
		Options: map[string]string{"m": "10", "n": "8", "k": "4", "tiles": "8"}})
	if err != nil {
		t.Fatal(err)
	}
	var tiles []string
	for _, line := range r.Report {
		if f := strings.Fields(line); len(f) == 8 && f[0] != "tiles" {
			tiles = append(tiles, f[0])
		}
	}
	if !slices.Equal(tiles, []string{"1", "2", "4", "5"}) {
		t.Errorf("rows for %v tiles, not for 1, 2, 4 and 5:\n%s", tiles, strings.Join(r.Report, "\n"))
	}
}

// The product of mc2_matmul_allreduce is double-buffered: products follow one another at once,
// while rows come in and go out.
func TestProductIsPipelined(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mc2.txt")
	_, err := run.Run(ctx, run.Spec{Bench: "mc2_matmul_allreduce", Executor: sim.Name, Ranks: 2, TraceFile: file,
		Options: map[string]string{"m": "128", "tiles": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string][][2]float64{} // of operations of the first launch's core, in ns
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 5 || f[2] != "sip0.cube0.pe0" || strings.Contains(line, "communication engine") ||
			len(ends["gemm"]) == 4 && f[4] == "gemm" {
			continue
		}
		ends[f[4]] = append(ends[f[4]], [2]float64{inNs(t, f[0]), inNs(t, f[1])})
	}
	products := ends["gemm"]
	if len(products) != 4 {
		t.Fatalf("%d products, not 4", len(products))
	}
	beside := func(what string, p [2]float64) bool {
		return slices.ContainsFunc(ends[what], func(x [2]float64) bool { return x[0] >= p[0] && x[1] <= p[1] })
	}
	for i, p := range products {
		if i > 0 && p[0]-products[i-1][1] > 4 {
			t.Errorf("product %d begins %v ns after the one before", i, p[0]-products[i-1][1])
		}
		if i < 3 && !beside("load", p) || i > 0 &&
			!slices.ContainsFunc(ends["store"], func(x [2]float64) bool { return x[0] < p[0] && x[1] > p[0] && x[1] < p[1] }) {
			t.Errorf("beside product %d no load or no store", i)
		}
	}
}

// inNs returns a time of a trace in nanoseconds.
func inNs(t *testing.T, s string) float64 {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return float64(d)
}

func TestDevicesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		spec run.Spec
		want string
	}{
		{run.Spec{Devices: []int{0, 256}}, "device 256: the machine has 256 PEs, 0 to 255"},
		{run.Spec{Devices: []int{-1}}, "device -1: the machine has 256 PEs"},
		{run.Spec{Devices: []int{3, 1}}, "devices 3,1: ranks have the machine's order: write 1,3"},
		{run.Spec{Devices: []int{4, 5, 6, 0}}, "devices 4-6,0: ranks have the machine's order: write 0,4-6"},
		{run.Spec{Devices: []int{1, 0, 1}}, "device 1 is named twice"},
		{run.Spec{Devices: []int{}}, "at least one"},
		{run.Spec{Devices: []int{0, 1, 2, 5}, Ranks: 3}, "3 ranks and devices 0-2,5: both choose the ranks"},
		{run.Spec{Devices: []int{0}, Bench: "gemm_single_pe"}, "runs no collective"},
		{run.Spec{Bench: "mc2_matmul_allreduce", Op: tl.Max}, "no operation to choose: remove --op"},
		{run.Spec{Bench: "mc2_matmul_allreduce", Algorithm: "ring_allreduce"}, "chooses no algorithm by name: remove --algorithm"},
		{run.Spec{Bench: "hccl_allreduce", Options: map[string]string{"tile": "1"}}, "300 elements in tiles of 1 are 300 turns"},
		{run.Spec{Bench: "hccl_allreduce", Op: tl.Prod}, "--op prod: tasks combine by sum, max and min"},
		{run.Spec{Devices: []int{0}, Sets: []string{"defaults.rank_level=sip"}}, "found rank_level sip, want pe"},
		{run.Spec{Options: map[string]string{"moed": "ring"}}, "no option --moed"},
	} {
		if _, err := run.Run(ctx, tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.spec, err, tt.want)
		}
	}
}
