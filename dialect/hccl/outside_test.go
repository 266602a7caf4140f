package hccl_test

import (
	"context"
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/mem"
)

// Writes stay in the part of the window in which they begin, and off its words.
func TestWritesOutsideOfWindows(t *testing.T) {
	r := newRig(t, "mock")
	team, err := r.Device.NewTeam("window", []int32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Device.NewWindow("box", team, 0,
		mem.Buffer{Name: "in", Parts: []mem.Part{mem.DataPart("", dtype.F32, 16)}},
		mem.Buffer{Name: "out", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 16)}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := hccl.NewComm(r.Device, "world", []int32{0, 1}, hccl.Options{Window: w})
	if err != nil {
		t.Fatal(err)
	}
	x := r.buffer(2, 300, dtype.F32, pageInput)
	tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpBatchWrite, hccl.DefaultAlgConfig(hccl.OpBatchWrite)))
	l := hccl.Launch{
		Name: "writes", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x),
		Kernel: func(k *hccl.Kernel) {
			h := k.New(hccl.Config{})
			h.InitV2(k.HcclContext(0), k.Tiling())
			h.SetCcTilingV2(at[0])
			peer := 1 - h.GetRankID()
			write := func(dst mem.Addr, n uint64) hccl.Handle {
				return h.BatchWrite([]hccl.BatchItem{{Dst: dst, Src: k.GM(0), Count: n, DataType: hccl.FP32}})
			}
			got := []hccl.Handle{
				write(h.GetWindowsInAddr(peer), 16), write(h.GetWindowsInAddr(peer)+4, 15),
				write(h.GetWindowsInAddr(peer)+4, 16), write(h.GetWindowsOutAddr(peer), 1),
			}
			for i, want := range []hccl.Handle{0, 1, hccl.Invalid, hccl.Invalid} {
				if got[i] != want {
					t.Errorf("write %d has handle %d, not %d", i, got[i], want)
				}
			}
			h.Finalize()
		},
	}
	_, err = l.Run(context.Background())
	wantRules(t, err, []hccl.Rule{hccl.OutsideBuffer, hccl.OutsideBuffer}, "and in of window box has 15 from there on",
		"window box, which has words at out, has 0 from there on")
}
