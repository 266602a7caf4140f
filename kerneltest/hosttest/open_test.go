package hosttest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/kerneltest/hosttest"
	"kernbench/mem"
	"kernbench/tl"
)

// summing queues an all-reduce of 4 ranks as a task, by hand on a device, and returns what rank 0
// ends with. Without the wait the kernel overwrites the input of the task.
func summing(t *testing.T, d *device.Context, wait bool) []float64 {
	t.Helper()
	world, err := hccl.NewComm(d, "world", []int32{0, 1, 2, 3}, hccl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b [2]*device.Tensor
	for i := range b {
		if b[i], err = d.EmptyOn(world.PEs(), 2, dtype.F32); err != nil {
			t.Fatal(err)
		}
	}
	if err := b[0].CopyIn([]float64{1, 2, 3, 4, 5, 6, 7, 8}); err != nil {
		t.Fatal(err)
	}
	tiling := hccl.NewTiling()
	tiling.AddInit()
	tiling.AddCc(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
	if err := tiling.Err(); err != nil {
		t.Fatal(err)
	}
	l := hccl.Launch{Name: "summing", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{world}, Tiling: tiling,
		Buffers: [][]*device.Tensor{{b[0]}, {b[1]}},
		Kernel: func(k *hccl.Kernel) {
			h := k.New(hccl.Config{})
			h.InitV2(k.HcclContext(0), k.Tiling())
			if h.SetCcTilingV2(k.Tiling().Offsets()[0]) != hccl.Success {
				return
			}
			id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), 2, hccl.FP32, hccl.ReduceSum, 1)
			if wait {
				h.Wait(id)
			}
			x := k.Load(k.Buffer(0))
			k.Store(k.Buffer(0), k.Add(x, x))
			if !wait {
				h.Wait(id)
			}
			h.Finalize()
		}}
	if _, err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	data, err := b[1].ReadShard(b[1].Shards()[0])
	if err != nil {
		t.Fatal(err)
	}
	return []float64{dtype.At(dtype.F32, data, 0), dtype.At(dtype.F32, data, 1)}
}

func TestOpen(t *testing.T) {
	for _, s := range []hosttest.Setup{{}, {Seed: 3}, {Executor: "sim"}, {Executor: "sim", Sets: []string{"system.sips.count=2"}}} {
		t.Run(fmt.Sprintf("%s seed %d %v", s.Executor, s.Seed, s.Sets), func(t *testing.T) {
			r := hosttest.Open(t, s)
			if got := summing(t, r.Device, true); !slices.Equal(got, []float64{16, 20}) {
				t.Errorf("rank 0 ends with %v", got)
			}
			if len(r.Judged) != 1 || !strings.HasPrefix(r.Judged[0].Title, "AllReduce") {
				t.Errorf("judged are %v", r.Judged)
			}
			if pes := r.Device.Machine().NumPEs(); pes != 32*max(1, 2*len(s.Sets)) {
				t.Errorf("%d PEs", pes)
			}
		})
	}
}

// Races performs the program until the detector has seen enough, and finds a missing wait.
func TestRaces(t *testing.T) {
	for _, wait := range []bool{true, false} {
		rep := hosttest.Races(func(judge *race.Detector) {
			summing(t, hosttest.Open(t, hosttest.Setup{Races: judge}).Device, wait)
		})
		if clean := rep.Total == 0; clean != wait {
			t.Errorf("wait %v: %d hazards", wait, rep.Total)
		}
	}
}

// A launch that hung has ended when a later one begins: the two are no race.
func TestRacesAfterADeadlock(t *testing.T) {
	rep := hosttest.Races(func(judge *race.Detector) {
		d := hosttest.Open(t, hosttest.Setup{Races: judge}).Device
		pes := []int32{0, 1}
		x, err := d.EmptyOn(pes, 4, dtype.F32)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.CopyIn(make([]float64, 8)); err != nil {
			t.Fatal(err)
		}
		team, err := d.NewTeam("pair", pes)
		if err != nil {
			t.Fatal(err)
		}
		w, err := d.NewWindow("w", team, 0, mem.Buffer{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F32, 4)}},
			mem.Buffer{Name: "words", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 1)}})
		if err != nil {
			t.Fatal(err)
		}
		put := func(waits bool) error {
			_, err := d.LaunchTeam(context.Background(), "put", func(c *tl.Context, a tl.Args) {
				w := a.Window(0)
				c.PutNBI(c.Data(w, "data"), 1-c.Rank(), a.Shard(c.Rank()))
				if waits {
					c.WaitUntil(c.Signals(w, "words"), tl.GE, 1)
				}
				c.Quiet()
			}, team, []*device.Tensor{x}, w)
			return err
		}
		if err := put(true); err == nil {
			t.Fatal("no deadlock")
		}
		if err := put(false); err != nil {
			t.Fatal(err)
		}
	})
	if rep.Total > 0 {
		t.Errorf("%v", rep)
	}
}

// ear is a testing.TB that records the failures of Open.
type ear struct {
	*testing.T
	said []string
}

func (e *ear) Errorf(format string, args ...any) {
	e.said = append(e.said, fmt.Sprintf(format, args...))
}
func (e *ear) Fatalf(format string, args ...any) { e.Errorf(format, args...) }

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup hosttest.Setup
		want  string
	}{
		{"unknown executor", hosttest.Setup{Executor: "mok"}, `unknown executor "mok"`},
		{"unknown setting", hosttest.Setup{Sets: []string{"system.sipz=1"}}, "sipz"},
		{"unknown topology", hosttest.Setup{Topology: "nowhere.yaml"}, "nowhere.yaml"},
		{"executor that cannot be made", hosttest.Setup{Open: func(exec.Setup) (exec.Executor, error) {
			return nil, fmt.Errorf("out of luck")
		}}, "hosttest: out of luck"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &ear{T: t}
			hosttest.Open(e, c.setup)
			if len(e.said) != 1 || !strings.Contains(e.said[0], c.want) {
				t.Errorf("no %q in %q", c.want, e.said)
			}
		})
	}
}

// A wrong result is an error of the test.
func TestOpenJudges(t *testing.T) {
	e := &ear{T: t}
	r := hosttest.Open(e, hosttest.Setup{})
	summing(t, r.Device, true)
	if len(e.said) > 0 {
		t.Fatalf("of a right result: %q", e.said)
	}
	c := r.Judged[0]
	c.Groups[0].Outputs[2][3] ^= 1 // of the exponent
	if err := r.Judge(e, c); err != nil {
		t.Fatal(err)
	}
	if len(e.said) != 1 || !strings.Contains(e.said[0], "rank 2, element 0: got 4, expected 16") {
		t.Errorf("of a wrong result: %q", e.said)
	}
}
