package repair_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/lab/repair"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/tl"
)

// onStreams is a host program whose kernels run on streams. Each notifies the other once, and waits
// for two notifications.
var onStreams = bench.Register(bench.Program{
	Name: "repair_on_streams", Parallel: true, Ranks: 2,
	Run: func(ctx context.Context, h *bench.Host) error {
		team, err := h.Device.NewTeam("all", h.Devices())
		if err != nil {
			return err
		}
		w, err := h.Device.NewWindow("words", team, 0, mem.Buffer{Name: "came", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 1)}})
		if err != nil {
			return err
		}
		for _, pe := range h.Devices() {
			s, err := h.Device.NewStream(int(pe))
			if err != nil {
				return err
			}
			if err := s.Launch("tell", func(c *tl.Context, a tl.Args) {
				came := c.Signals(a.Window(0), "came")
				for peer := range len(h.Devices()) {
					c.Notify(came.At(0), peer, tl.SignalAdd, 1)
				}
				c.WaitUntil(came.At(0), tl.GE, int64(len(h.Devices()))+1)
			}, device.Grid{Programs: 1}, w); err != nil {
				return err
			}
		}
		return h.Device.Synchronize(ctx)
	},
})

// Kernels on streams are edited like those of launches.
func TestRepairsOnStreams(t *testing.T) {
	spec := run.Spec{Topology: "ahbm-cube", Bench: onStreams.Name}
	_, err := run.Run(context.Background(), spec)
	if !repair.Applies(err) {
		t.Fatalf("the run ends with %v", err)
	}
	r := repair.Search(context.Background(), spec, err, time.Minute)
	i := slices.IndexFunc(r.Found, func(f run.Repair) bool { return strings.HasPrefix(f.What, "waiting for a value lower by 1 at ") })
	if i < 0 || len(r.Found[i].Also) != 2 {
		t.Errorf("%+v", r)
	}
}
