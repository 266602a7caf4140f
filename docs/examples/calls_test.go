package main

import (
	"slices"
	"testing"

	"kernbench/kerneltest"
	"kernbench/tl"
)

// ofThree gives three ranks the vectors {1..}, {10..}, {100..} of n elements.
func ofThree(t *testing.T, k tl.Kernel, n int, cfg kerneltest.Config) [][]float64 {
	t.Helper()
	for _, scale := range []float64{1, 10, 100} {
		v := make([]float64, n)
		for i := range v {
			v[i] = scale * float64(i+1)
		}
		cfg.Inputs = append(cfg.Inputs, v)
	}
	return kerneltest.Once(t, k, cfg)
}

func expect(t *testing.T, got [][]float64, want ...[]float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestKeep(t *testing.T) {
	expect(t, ofThree(t, lastTwo, 1, kerneltest.Config{}), []float64{300}, []float64{3}, []float64{30})
}

func TestFutures(t *testing.T) {
	expect(t, ofThree(t, overlap, 1, kerneltest.Config{}), []float64{102}, []float64{21}, []float64{210})
}

func TestCopy(t *testing.T) {
	expect(t, ofThree(t, intoMemory, 2, kerneltest.Config{}), []float64{100, 200}, []float64{1, 2}, []float64{10, 20})
}

func TestAny(t *testing.T) {
	expect(t, ofThree(t, sumOfNeighbours, 1, kerneltest.Config{}), []float64{111}, []float64{111}, []float64{111})
}

// A payload of many slots needs nothing special in the kernel.
func TestLongPayload(t *testing.T) {
	const n = 100 // f32: 400 bytes in slots of 64
	got := ofThree(t, ringSum, n, kerneltest.Config{Slots: 2, SlotBytes: 64})
	for r := range got {
		for i, v := range got[r] {
			if v != 111*float64(i+1) {
				t.Fatalf("rank %d element %d: %v", r, i, v)
			}
		}
	}
}

func TestComposite(t *testing.T) {
	in := make([]float64, 48)
	for i := range 4 {
		in[5*i] = float64(i) - 1 // diagonal -1, 0, 1, 2
	}
	for i := range 16 {
		in[16+i] = float64(i)
	}
	got := kerneltest.Once(t, product, kerneltest.Config{Inputs: [][]float64{in}})[0][32:]
	want := []float64{0, 0, 0, 0, 0, 0, 0, 0, 16, 18, 20, 22, 48, 52, 56, 60}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMatrix(t *testing.T) {
	got := kerneltest.Once(t, attend, kerneltest.Config{Inputs: [][]float64{{0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4}}})[0][:4]
	if want := []float64{2, 3, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
