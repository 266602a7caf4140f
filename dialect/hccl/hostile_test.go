package hccl_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/unit"
)

func TestGroupsAreRefused(t *testing.T) {
	r := newRig(t, "mock")
	team, err := r.Device.NewTeam("others", []int32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "in", Parts: []mem.Part{mem.DataPart("", dtype.F32, 4)}}})
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Device.NewWindowLayout("w", team, l)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		dev  *device.Context
		pes  []int32
		o    hccl.Options
		want string
	}{
		{"no device", nil, []int32{0}, hccl.Options{}, "no device"},
		{"", r.Device, []int32{0}, hccl.Options{}, "1 to 128 bytes"},
		{strings.Repeat("x", 129), r.Device, []int32{0}, hccl.Options{}, "1 to 128 bytes"},
		{"no members", r.Device, nil, hccl.Options{}, "no members"},
		{"negative", r.Device, []int32{-1}, hccl.Options{}, "there is no PE -1"},
		{"beyond", r.Device, []int32{0, 16}, hccl.Options{}, "there is no PE 16"},
		{"twice", r.Device, []int32{3, 3}, hccl.Options{}, "3"},
		{"others", r.Device, []int32{0}, hccl.Options{}, "one of that name"},
		{"small buffer", r.Device, []int32{0}, hccl.Options{Buffer: 63}, "at least 64"},
		{"negative buffer", r.Device, []int32{0}, hccl.Options{Buffer: -1}, "at least 64"},
		{"window of others", r.Device, []int32{1, 0}, hccl.Options{Window: w}, "other members"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := hccl.NewComm(tt.dev, tt.name, tt.pes, tt.o)
			if g != nil || !errors.Is(err, hccl.ErrComm) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v", g, err)
			}
		})
	}
	withWindow, err := hccl.NewComm(r.Device, "window", []int32{0, 1}, hccl.Options{Window: w})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Device.FreeWindow(w); err != nil {
		t.Fatal(err)
	}
	if _, err := hccl.NewComm(r.Device, "late", []int32{0, 1}, hccl.Options{Window: w}); err == nil ||
		!strings.Contains(err.Error(), "was freed") {
		t.Errorf("a window that was freed: %v", err)
	}
	late := hccl.Launch{Name: "late", Kernel: func(*hccl.Kernel) {}, Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{withWindow}}
	if _, err := late.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "was freed") {
		t.Errorf("a launch on a window that was freed: %v", err)
	}
	if err := withWindow.Free(); err != nil {
		t.Error(err)
	}
	for _, g := range []*hccl.Comm{nil, {}, withWindow} {
		if err := g.Free(); err == nil {
			t.Errorf("freed %+v", g)
		}
	}
}

func TestLaunchesAreRefused(t *testing.T) {
	r := newRig(t, "mock")
	other := newRig(t, "mock")
	g, foreign := r.group(4, hccl.Options{}), other.group(4, hccl.Options{})
	gone, err := hccl.NewComm(r.Device, "gone", []int32{0, 1}, hccl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	huge, err := hccl.NewComm(r.Device, "huge", []int32{0, 1}, hccl.Options{Buffer: 1 << 60})
	if err := errors.Join(err, gone.Free()); err != nil {
		t.Fatal(err)
	}
	x, far := r.buffer(4, 8, dtype.F32, pageInput), other.buffer(4, 8, dtype.F32, pageInput)
	freed := r.buffer(4, 8, dtype.F32, pageInput)
	if err := freed[0].Free(); err != nil {
		t.Fatal(err)
	}
	tiling := func(group string) *hccl.Tiling {
		t, _ := r.tiling(hccl.NewCcTiling(group, hccl.OpAllReduce, "AllReduce=level0:ring"))
		return t
	}
	for _, tt := range []struct {
		name   string
		change func(l *hccl.Launch)
		want   string
	}{
		{"zero", func(l *hccl.Launch) { *l = hccl.Launch{} }, "no kernel"},
		{"no kernel", func(l *hccl.Launch) { l.Kernel = nil }, "no kernel"},
		{"no cores", func(l *hccl.Launch) { l.Cores = hccl.Cores{} }, "at least one core"},
		{"negative cores", func(l *hccl.Launch) { l.Cores = hccl.Cores{AIC: -1, AIV: 2} }, "no negative number"},
		{"more cores than a PE has", func(l *hccl.Launch) { l.Cores = hccl.Cores{AIC: 4, AIV: 5} }, "pe.programs"},
		{"cores without end", func(l *hccl.Launch) { l.Cores = hccl.Cores{AIC: math.MaxInt, AIV: math.MaxInt} }, "pe.programs"},
		{"very many cores", func(l *hccl.Launch) { l.Cores = hccl.Cores{AIV: math.MaxInt} }, "pe.programs"},
		{"no group", func(l *hccl.Launch) { l.Comms = nil }, "0 groups: one or two"},
		{"three groups", func(l *hccl.Launch) { l.Comms = []*hccl.Comm{g, g, g} }, "3 groups"},
		{"group of nothing", func(l *hccl.Launch) { l.Comms = []*hccl.Comm{nil} }, "one or two"},
		{"zero group", func(l *hccl.Launch) { l.Comms = []*hccl.Comm{{}} }, "NewComm"},
		{"group twice", func(l *hccl.Launch) { l.Comms = []*hccl.Comm{g, g} }, "group world twice"},
		{"group that was freed", func(l *hccl.Launch) { l.Comms = []*hccl.Comm{gone} }, "freed"},
		{"group of another machine", func(l *hccl.Launch) { l.Comms = []*hccl.Comm{g, foreign} }, "group world"},
		{"buffers without end", func(l *hccl.Launch) { l.Comms, l.Tiling = []*hccl.Comm{huge}, tiling("huge") },
			"staging buffer of window_allreduce_ring"},
		{"buffer of nothing", func(l *hccl.Launch) { l.Buffers = [][]*device.Tensor{nil} }, "buffer 0 has no shard"},
		{"nil tensor", func(l *hccl.Launch) { l.Buffers = tensors(x, []*device.Tensor{nil}) }, "buffer 1 has a tensor that is nil"},
		{"zero tensor", func(l *hccl.Launch) { l.Buffers = tensors([]*device.Tensor{{}}) }, "no shard"},
		{"two shards", func(l *hccl.Launch) { l.Buffers = tensors([]*device.Tensor{x[0], x[0]}) }, "two shards"},
		{"buffer that was freed", func(l *hccl.Launch) { l.Buffers = tensors(freed) }, "freed"},
		{"buffer of another machine", func(l *hccl.Launch) { l.Buffers = tensors(far) }, "not of this context"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := hccl.Launch{Name: "refused", Kernel: func(*hccl.Kernel) { t.Error("it ran") },
				Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling("world"), Buffers: tensors(x)}
			tt.change(&l)
			out, err := l.Run(context.Background())
			if out != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v", out, err)
			}
		})
	}
	at, offsets := r.tiling(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:ring"))
	y := r.buffer(4, 300, dtype.F32, pageInput)
	goesWell(r, g, offsets[0], at, y, y)
	if err := huge.Free(); err != nil {
		t.Error(err)
	}
	leavesNothing(r, g, x, y)
}

// A mistake of a kernel outside the API ends the launch, and nothing remains of the launch.
func TestKernelsThatFail(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kernel func(k *hccl.Kernel)
		want   string
	}{
		{"panic", func(*hccl.Kernel) { panic("out of patience") }, "out of patience"},
		{"buffer", func(k *hccl.Kernel) { k.Buffer(2) }, "Buffer(2): the launch has 1 buffers"},
		{"negative buffer", func(k *hccl.Kernel) { k.GM(-1) }, "Buffer(-1)"},
		{"zero object", func(k *hccl.Kernel) { new(hccl.Hccl).InitV2(k.HcclContext(0), k.Tiling()) }, "Kernel.New"},
		{"zero object waits", func(k *hccl.Kernel) { var h hccl.Hccl; h.Wait(0) }, "Kernel.New"},
		{"no object", func(k *hccl.Kernel) { var h *hccl.Hccl; h.InitV2(k.HcclContext(0), k.Tiling()) }, "Kernel.New"},
		{"scope", func(k *hccl.Kernel) { k.SyncAll(7) }, "SyncScope(7): one of AIVOnly, AllCores"},
		{"one rank only", func(k *hccl.Kernel) {
			h := k.New(hccl.Config{})
			h.InitV2(k.HcclContext(0), k.Tiling())
			h.SetCcTilingV2(64)
			id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(0), 8, hccl.FP32, hccl.ReduceSum, 1)
			if h.GetRankID() == 2 {
				panic("of one rank")
			}
			h.Wait(id)
		}, "of one rank"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, r *rig) {
				g, x := r.group(4, hccl.Options{}), r.buffer(4, 300, dtype.F32, pageInput)
				tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:ring"))
				l := hccl.Launch{Name: "fails", Kernel: tt.kernel, Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g},
					Tiling: tiling, Buffers: tensors(x)}
				if _, err := l.Run(context.Background()); err == nil || !strings.Contains(err.Error(), tt.want) ||
					!strings.Contains(err.Error(), "hostile_test.go:") {
					t.Errorf("error %v", err)
				}
				if r.executor != "sim" {
					goesWell(r, g, at[0], tiling, x, x)
				}
				leavesNothing(r, g, x)
			})
		})
	}
}

func TestLaunchesCanBeCancelled(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(context.Background())
		g, x := r.group(4, hccl.Options{}), r.buffer(4, 300, dtype.F32, pageInput)
		tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:ring"))
		l := hccl.Launch{
			Name: "cancelled", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x),
			Kernel: func(k *hccl.Kernel) {
				h := k.New(hccl.Config{})
				h.InitV2(k.HcclContext(0), k.Tiling())
				h.SetCcTilingV2(at[0])
				h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(0), 300, hccl.FP32, hccl.ReduceSum, 1)
				cancel()
				for {
					k.Store(k.Buffer(0), k.Load(k.Buffer(0)))
				}
			},
		}
		_, err := l.Run(ctx)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if _, stuck := errors.AsType[*fault.Deadlock](err); stuck {
			t.Errorf("a deadlock: %v", err)
		}
		leavesNothing(r, g, x)
	})
}

// Two launches follow one another on a group, with any staging buffers.
func TestLaunchesFollowEachOther(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		g, x := r.group(4, hccl.Options{Buffer: unit.Bytes(64)}), r.buffer(4, 300, dtype.F32, pageInput)
		tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
		for range 3 {
			goesWell(r, g, at[0], tiling, x, x)
		}
		leavesNothing(r, g, x)
	})
}

// A tiling for another group only is refused, and the diagnostic names the reason.
func TestTilingOfAnotherGroup(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		g, x := r.group(4, hccl.Options{}), r.buffer(4, 300, dtype.F32, pageInput)
		tiling, at := r.tiling(hccl.NewCcTiling("no_group", hccl.OpAllReduce, "AllReduce=level0:ring"))
		l := hccl.Launch{
			Name: "other", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x),
			Kernel: func(k *hccl.Kernel) {
				h := k.New(hccl.Config{})
				h.InitV2(k.HcclContext(0), k.Tiling())
				if got := h.SetCcTilingV2(at[0]); got != hccl.Failure {
					t.Errorf("SetCcTilingV2 returned %d", got)
				}
				if got := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(0), 300, hccl.FP32, hccl.ReduceSum, 1); got != hccl.Invalid {
					t.Errorf("AllReduce returned %d", got)
				}
				h.Finalize()
			},
		}
		_, err := l.Run(context.Background())
		wantRules(t, err, []hccl.Rule{hccl.BadTiling, hccl.NoTiling}, `for group "no_group", the object is of group "world"`)
		leavesNothing(r, g, x)
	})
}

// No rank sends anything: that is a task, too, wherever nothing lies.
func TestEmptyExchange(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		g, x := r.group(4, hccl.Options{}), r.buffer(4, 300, dtype.F32, pageInput)
		tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpAlltoAllV, "AlltoAll=level0:fullmesh"))
		r.run(hccl.Launch{
			Name: "empty", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x),
			Kernel: func(k *hccl.Kernel) {
				h := k.New(hccl.Config{})
				h.InitV2(k.HcclContext(0), k.Tiling())
				h.SetCcTilingV2(at[0])
				none, far := make([]uint64, 4), []uint64{1 << 30, 300, 0, 1 << 30}
				id := h.AlltoAllV(hccl.CommitNow, k.GM(0), none, far, hccl.FP32, k.GM(0), none, far, hccl.FP32, 255)
				for range 255 {
					h.Wait(id)
				}
				h.Finalize()
			},
		})
		leavesNothing(r, g, x)
	})
}
