// guide: race run

package main

import (
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
)

func findTooEarly(t *testing.T) {
	layout, err := exchange(4)
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.Run(t, tooEarly, kerneltest.Config{Collective: "shift", World: 3, NElem: 4, Layout: layout})
}

// end

var _ = findTooEarly // shown, and not run: it fails

func TestPutSignal(t *testing.T) {
	l, err := exchange(4)
	if err != nil {
		t.Fatal(err)
	}
	got := kerneltest.Once(t, fromTheLeft, kerneltest.Config{Inputs: three(4), DType: dtype.F32, Layout: l})
	expect(t, got, []float64{100, 200, 300, 400}, []float64{1, 2, 3, 4}, []float64{10, 20, 30, 40})
}

func TestPull(t *testing.T) {
	l, err := staged(3, 4, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	sum := []float64{111, 222, 333, 444}
	expect(t, kerneltest.Once(t, sumByPull, kerneltest.Config{Inputs: three(4), DType: dtype.F32, Layout: l}), sum, sum, sum)
}

func TestFence(t *testing.T) {
	l, err := exchange(4)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		got := kerneltest.Once(t, twoBlocks, kerneltest.Config{Inputs: three(4), DType: dtype.F32, Layout: l, Seed: seed})
		if !slices.Equal(got[1], []float64{1, 2, 3, 4}) {
			t.Errorf("schedule %d: %v", seed, got)
		}
	}
}

func TestRounds(t *testing.T) {
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "two", Parts: []mem.Part{
		mem.DataPart("data", dtype.F32, 8), mem.SignalPart("notified", mem.Int32, 2),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	sum := []float64{111, 222, 333, 444}
	expect(t, kerneltest.Once(t, rounds, kerneltest.Config{Inputs: three(4), DType: dtype.F32, Layout: l}), sum, sum, sum)
}

// TestHazardBlocks: the block "hazard NAME" is the judge's report on the kernel of that name.
func TestHazardBlocks(t *testing.T) {
	shown := 0
	for _, b := range pageBlocks(t) {
		name, ok := strings.CutPrefix(b.info, "hazard ")
		if !ok {
			continue
		}
		shown++
		layout, err := exchange(4)
		if err != nil {
			t.Fatal(err)
		}
		_, report, err := kerneltest.Races(hazards[name], kerneltest.Config{Inputs: three(4), DType: dtype.F32, Layout: layout})
		if err != nil || report.Total == 0 {
			t.Fatalf("%s: %v, %d hazards", name, err, report.Total)
		}
		if line := missing(b.text, report.Hazards[0].String()); line != "" {
			t.Errorf("%v: no line is, behind those before it,\n%s\nin\n%v", &b, line, report.Hazards[0].String())
		}
	}
	if shown != len(hazards) {
		t.Errorf("the pages show %d hazards of %d", shown, len(hazards))
	}
}
