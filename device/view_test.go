package device_test

import (
	"errors"
	"slices"
	"testing"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/mem"
)

// A view is read and written in the memory of its vector, and goes with it.
func TestView(t *testing.T) {
	c := open(t)
	x, err := c.EmptyOn([]int32{0, 1, 2}, 4, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.CopyIn([]float64{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}); err != nil {
		t.Fatal(err)
	}
	v, err := x.View(func(i int) mem.Chunk { return mem.Chunk{Lo: i, N: 3 - i} })
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Read()
	if want := []float64{0, 1, 2, 11, 12, 22}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the view has %v, %v; want %v", got, err, want)
	}
	if err := v.CopyIn([]float64{-1, -2, -3, -4, -5, -6}); err != nil {
		t.Fatal(err)
	}
	got, err = x.Read()
	if want := []float64{-1, -2, -3, 3, 10, -4, -5, 13, 20, 21, -6, 23}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the vector has %v, %v; want %v", got, err, want)
	}
	if _, err := x.View(func(int) mem.Chunk { return mem.Chunk{Lo: 3, N: 2} }); !errors.Is(err, device.ErrShape) {
		t.Errorf("beyond a shard: %v", err)
	}
	if err := v.Free(); !errors.Is(err, device.ErrShape) {
		t.Errorf("free of a view: %v", err)
	}
	if err := x.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Read(); !errors.Is(err, device.ErrFreed) {
		t.Errorf("a view of what is freed: %v", err)
	}
}
