package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// everywhere runs a test on every executor.
func everywhere(t *testing.T, test func(t *testing.T, c *device.Context)) {
	t.Run("mock", func(t *testing.T) { test(t, open(t)) })
	t.Run("sim", func(t *testing.T) { test(t, openSim(t)) })
}

func openSim(t testing.TB) *device.Context {
	t.Helper()
	top, err := conf.LoadTopology(nil, small)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Timed: true})
	t.Cleanup(log.Close)
	return must(device.New(device.Config{Machine: m, Executor: sim.New(m, sim.Options{Data: log})}))(t)
}

// A reduce-scatter by copy engines and grids. Every PE copies its rows to the PEs that reduce them,
// and all synchronize. Each then adds its rows in tiles, one tile per program.
func TestReduceScatterOnStreams(t *testing.T) {
	const world, m, n = 4, 3, 8 // m rows of n for each
	everywhere(t, func(t *testing.T, c *device.Context) {
		team := must(c.NewTeam("all", []int32{0, 1, 2, 3}))(t)
		perPE := device.DPPolicy{PE: device.RowWise, NumCubes: 1}
		in := must(c.Empty(world*world*m, n, dtype.F32, perPE))(t)
		out := must(c.Empty(world*m, n, dtype.F32, perPE))(t)
		if err := in.CopyIn(ramp(in.Elems())); err != nil {
			t.Fatal(err)
		}
		w := must(c.NewWindow("scatter", team, 0, mem.Buffer{Name: "rows", Parts: []mem.Part{mem.DataPart("", dtype.F32, world*m*n)}}))(t)

		var streams []*device.Stream
		for r, pe := range team.PEs {
			s := must(c.NewStream(int(pe)))(t)
			streams = append(streams, s)
			for i := range world {
				peer := (r + i + 1) % world
				there := device.InWindow(w, peer, "rows").Matrix(world*m, n).Rows(r*m, m)
				if err := s.Copy(there, in.On(int(pe)).Rows(peer*m, m)); err != nil {
					t.Fatal(err)
				}
			}
		}
		meet := func(c *tl.Context, a tl.Args) { c.Barrier(a.Window(0).Team) }
		one := device.Grid{Programs: 1, Team: team}
		if err := c.LaunchGroup("meet", streams, meet, one, slices.Repeat([][]any{{w}}, world)); err != nil {
			t.Fatal(err)
		}
		reduce := func(c *tl.Context, a tl.Args) {
			rows := c.Data(a.Window(0), "rows")
			for tile := c.ProgramID(0); tile < m; tile += c.NumPrograms(0) {
				acc := c.Full(tl.Dims(n), a.DType, 0)
				for i := range world {
					acc = c.Add(acc, c.Load(c.Local(rows.Slice((i*m+tile)*n, n))))
				}
				c.Store(a.Shard(c.Rank()).Slice(tile*n, n), acc)
			}
		}
		for _, s := range streams {
			if err := s.Launch("reduce", reduce, device.Grid{Programs: 2, Team: team}, out, w); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Synchronize(context.Background()); err != nil {
			t.Fatal(err)
		}
		var want []float64
		for i := range world * m * n {
			sum := 0.0
			for r := range world {
				sum += float64(r*world*m*n + i)
			}
			want = append(want, sum)
		}
		if got := must(out.Read())(t); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// Streams of two PEs that take turns over words and events; their results are there for the host,
// and for the launch after.
func TestStreamsTakeTurns(t *testing.T) {
	everywhere(t, func(t *testing.T, c *device.Context) {
		ctx := context.Background()
		team := must(c.NewTeam("pair", []int32{0, 1}))(t)
		w := must(c.NewWindow("box", team, 0, mailbox(4)...))(t)
		x := must(c.Zeros(2, 4, dtype.F32, device.DPPolicy{PE: device.RowWise, NumCubes: 1, NumPEs: 2}))(t)
		if err := x.CopyIn(ramp(8)); err != nil {
			t.Fatal(err)
		}
		a, b := must(c.NewStream(0))(t), must(c.NewStream(1))(t)
		double := func(c *tl.Context, a tl.Args) {
			mine := a.Shard(c.Rank())
			v := c.Load(mine)
			c.Store(mine, c.Add(v, v))
		}
		done := func() *device.Event {
			if err := errors.Join(
				b.WaitValue(w, 1, "ready", 2, tl.GE, 7),
				b.Copy(x.On(1), device.InWindow(w, 1, "data")),
				b.Launch("double", double, device.Grid{Programs: 1}, x),
			); err != nil {
				t.Fatal(err)
			}
			return must(b.Record("doubled"))(t)
		}()
		if err := errors.Join(
			a.Copy(device.InWindow(w, 1, "data"), x.On(0)),
			a.WriteValue(w, 1, "ready", 2, 7),
			a.WaitEvent(done),
			a.Copy(x.On(0).Slice(0, 2), x.On(1).Slice(2, 2)),
			c.Synchronize(ctx),
		); err != nil {
			t.Fatal(err)
		}
		want := []float64{4, 6, 2, 3, 0, 2, 4, 6}
		if got := must(x.Read())(t); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if got := must(c.ReadWords(w, 1, "ready", 0, 4))(t); !slices.Equal(got, []int64{0, 0, 7, 0}) {
			t.Fatalf("words %v", got)
		}
		must(c.LaunchTeam(ctx, "double", double, team, x))(t)
		if got := must(x.Read())(t); got[7] != 12 {
			t.Fatalf("got %v", got)
		}
	})
}

// Work that waits for what never comes is an error of Synchronize, at the host's line.
func TestStreamsThatCannotGoOn(t *testing.T) {
	everywhere(t, func(t *testing.T, c *device.Context) {
		team := must(c.NewTeam("pair", []int32{0, 1}))(t)
		w := must(c.NewWindow("box", team, 0, mailbox(4)...))(t)
		s := must(c.NewStream(1))(t)
		if err := s.WaitValue(w, 0, "ready", 3, tl.EQ, 5); err != nil {
			t.Fatal(err)
		}
		err := c.Synchronize(context.Background())
		hang, ok := errors.AsType[*fault.Deadlock](err)
		if !ok || hang.Streams != 1 || hang.Stuck != 1 || len(hang.Blocked) != 1 {
			t.Fatalf("got %v", err)
		}
		if b := hang.Blocked[0]; !strings.HasPrefix(b.Word, "box.ready[3]") || b.Want != "== 5" ||
			!strings.HasPrefix(b.Line, "device/stream_run_test.go:") {
			t.Errorf("blocked: %+v", b)
		}
		if len(c.Launches()) != 0 {
			t.Error("it ended well")
		}
		leaks := fmt.Sprint(must(c.ReleaseAll())(t))
		if strings.Contains(leaks, "never ran") {
			t.Errorf("what failed is still queued: %s", leaks)
		}
	})
}

// A kernel's fault comes out of Synchronize, with what the kernel was.
func TestFaultsOnStreams(t *testing.T) {
	everywhere(t, func(t *testing.T, c *device.Context) {
		team := must(c.NewTeam("pair", []int32{1, 0}))(t)
		w := must(c.NewWindow("box", team, 0, mailbox(4)...))(t)
		s := must(c.NewStream(0))(t)
		astray := func(c *tl.Context, a tl.Args) { c.Load(c.Local(c.Data(a.Window(0), "data").Slice(2, 3))) }
		if err := s.Launch("astray", astray, device.Grid{Programs: 2, Team: team}, w); err != nil {
			t.Fatal(err)
		}
		err := c.Synchronize(context.Background())
		if out, ok := errors.AsType[*fault.OutOfBounds](err); !ok || out.Rank != 1 || out.Window != "box" {
			t.Fatalf("got %v", err)
		}
	})
}

// After a failed launch the barriers of a team work again.
func TestTeamsMeetAfterAFault(t *testing.T) {
	c := open(t)
	team := must(c.NewTeam("three", []int32{0, 1, 2}))(t)
	once := func(c *tl.Context, a tl.Args) {
		c.Sync(team)
		if a.Int(0) == c.Rank() {
			c.Data(nil, "x")
		}
		c.Sync(team)
	}
	for _, failing := range []int{2, -1, 0, -1} {
		_, err := c.LaunchTeam(context.Background(), "once", once, team, failing)
		if failing >= 0 && !errors.As(err, new(*fault.Misuse)) || failing < 0 && err != nil {
			t.Fatalf("with a fault on rank %d: %v", failing, err)
		}
	}
}

// The same for work on streams: what failed leaves no trace in a team's meeting place.
func TestTeamsMeetAfterAFaultOnStreams(t *testing.T) {
	c := open(t)
	team := must(c.NewTeam("three", []int32{0, 1, 2}))(t)
	var streams []*device.Stream
	for _, pe := range team.PEs {
		streams = append(streams, must(c.NewStream(int(pe)))(t))
	}
	once := func(c *tl.Context, a tl.Args) {
		c.Sync(team)
		if a.Int(0) == c.Rank() {
			c.Data(nil, "x")
		}
		c.Sync(team)
	}
	for _, failing := range []int{2, -1, 0, -1} {
		args := slices.Repeat([][]any{{failing}}, 3)
		if err := c.LaunchGroup("once", streams, once, device.Grid{Programs: 1, Team: team}, args); err != nil {
			t.Fatal(err)
		}
		err := c.Synchronize(context.Background())
		if failing >= 0 && !errors.As(err, new(*fault.Misuse)) || failing < 0 && err != nil {
			t.Fatalf("with a fault on rank %d: %v", failing, err)
		}
	}
}
