package sim_test

import (
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/unit"
)

// windowAt is the address in HBM of the windows of tests, and meetingAt that of their teams.
const (
	windowAt  = 4 << 20
	meetingAt = 6 << 20
)

// windowBench is a bench whose ranks share a window, Args.Windows[0], and its team can meet.
type windowBench struct {
	*bench
	win *mem.Window
}

// newWindows makes a bench with a window of buffers. Kernels find data in "data" and words
// in "sig" unless they say otherwise.
func newWindows(t testing.TB, k tl.Kernel, s setup, buffers ...mem.Buffer) *windowBench {
	t.Helper()
	b := newBench(t, k, s)
	w, err := newWindow(b.launch.Groups[0].PEs, buffers)
	if err != nil {
		t.Fatal(err)
	}
	b.launch.Groups[0].Args.Windows = []*mem.Window{w}
	return &windowBench{b, w}
}

func newWindow(pes []int32, buffers []mem.Buffer) (*mem.Window, error) {
	team, err := mem.NewTeam("all", pes)
	if err != nil {
		return nil, err
	}
	if team.Size() > 1 {
		l, err := mem.NewLayout(0, []mem.Buffer{{Name: "rounds", Parts: []mem.Part{mem.SignalPart("", mem.Int64, team.Rounds())}}})
		if err != nil {
			return nil, err
		}
		team.Meeting = mem.NewWindow("meeting", team, l, meetingAt)
	} else {
		l, _ := mem.NewLayout(8, nil)
		team.Meeting = mem.NewWindow("meeting", team, l, meetingAt)
	}
	l, err := mem.NewLayout(0, buffers)
	if err != nil {
		return nil, err
	}
	return mem.NewWindow("w", team, l, windowAt), nil
}

func data(n int) mem.Buffer {
	return mem.Buffer{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F16, n)}}
}

func words(n int) mem.Buffer {
	return mem.Buffer{Name: "sig", Parts: []mem.Part{mem.SignalPart("", mem.Int64, n)}}
}

// renew makes all words zero, as those of a new window are.
func (b *windowBench) renew() {
	for r := range b.win.Team.Size() {
		clear(b.win.Words(r))
		clear(b.win.Team.Meeting.Words(r))
	}
	clear(b.win.Team.Met)
}

// zero makes the data of a window in a log.
func zero(log *oplog.Log, w *mem.Window) error {
	for r := range w.Team.Size() {
		for i := range w.Layout.Parts {
			p := &w.Layout.Parts[i]
			if p.Word != mem.NoWord {
				continue
			}
			if err := log.Map(w.Addr(r, p.Off), p.Type, p.Count); err != nil {
				return err
			}
			if err := log.Write(w.Addr(r, p.Off), p.Type, make([]byte, p.Bytes())); err != nil {
				return err
			}
		}
	}
	return nil
}

// took runs the launch and tells how long it took.
func (b *windowBench) took(t testing.TB, o sim.Options) unit.Time {
	t.Helper()
	res, err := b.run(o)
	if err != nil {
		t.Fatal(err)
	}
	return res.Duration()
}
