package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
)

// mailbox returns a buffer of data and one of control words.
func mailbox(n int) []mem.Buffer {
	return []mem.Buffer{
		{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F32, n)}},
		{Name: "ready", Parts: []mem.Part{mem.SignalPart("", mem.Int32, n)}},
	}
}

// pair makes a context with a team of PEs 1 and 0, in that order, and a window of it.
func pair(t testing.TB, sets ...string) (*device.Context, *mem.Team, *mem.Window) {
	t.Helper()
	c := open(t, sets...)
	team := must(c.NewTeam("pair", []int32{1, 0}))(t)
	return c, team, must(c.NewWindow("box", team, 0, mailbox(4)...))(t)
}

func inUse(t testing.TB, c *device.Context) (n int64) {
	t.Helper()
	for pe := range c.Machine().NumPEs() {
		n += int64(must(c.HBMInUse(c.Machine().Coord(pe)))(t))
	}
	return n
}

func TestTeamsAndWindowsAreRefused(t *testing.T) {
	ctx := context.Background()
	idle := func(*tl.Context, tl.Args) {}
	tests := []struct {
		name string
		do   func(c *device.Context, team *mem.Team, w *mem.Window) error
		want error
		text string
	}{
		{"a PE twice", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			_, err := c.NewTeam("t", []int32{2, 3, 2})
			return err
		}, device.ErrTeam, "PE 2 is its rank 0 and again rank 2"},
		{"no members", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			_, err := c.NewTeam("t", nil)
			return err
		}, device.ErrTeam, "no members"},
		{"PEs that are not there", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			_, err := c.NewTeam("t", []int32{16, 1, -1})
			return err
		}, device.ErrTeam, "no PE 16: the machine has 16\nthere is no PE -1"},
		{"a team's name twice", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			_, err := c.NewTeam("pair", []int32{2, 3})
			return err
		}, device.ErrTeam, "one of that name"},
		{"no team's name", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			_, err := c.NewTeam("", []int32{2, 3})
			return err
		}, device.ErrTeam, "has a name"},
		{"freeing a team with a window", func(c *device.Context, team *mem.Team, _ *mem.Window) error {
			return c.FreeTeam(team)
		}, device.ErrTeam, "team pair still has window box"},
		{"freeing a team twice", func(c *device.Context, team *mem.Team, w *mem.Window) error {
			_, _ = c.FreeWindow(w), c.FreeTeam(team)
			return c.FreeTeam(team)
		}, device.ErrTeam, "team pair was freed before"},
		{"freeing no team", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			return c.FreeTeam(nil)
		}, device.ErrTeam, "no team"},

		{"all that is wrong with a window", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			_, err := c.NewWindow("box", nil, 8, mem.Buffer{Name: "a", Bytes: 320, Parts: []mem.Part{mem.DataPart("", dtype.F32, 64)}})
			return err
		}, device.ErrWindow, `window "box": buffer "a" is declared as 320 bytes, but 64 × 4 bytes is 256: declare each part of a mixed buffer
the buffers need 256 bytes, the window has 8
no team
there is one of that name: free it, or choose another name`},
		{"no layout", func(c *device.Context, team *mem.Team, _ *mem.Window) error {
			_, err := c.NewWindowLayout("w", team, nil)
			return err
		}, device.ErrWindow, "no layout"},
		{"no window's name", func(c *device.Context, team *mem.Team, _ *mem.Window) error {
			_, err := c.NewWindow("", team, 64)
			return err
		}, device.ErrWindow, "has a name"},
		{"a window of a team that was freed", func(c *device.Context, team *mem.Team, w *mem.Window) error {
			_, _ = c.FreeWindow(w), c.FreeTeam(team)
			_, err := c.NewWindow("w", team, 64)
			return err
		}, device.ErrWindow, "team pair was freed before"},
		{"freeing no window", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			return c.FreeWindow(nil)
		}, device.ErrWindow, "no window"},
		{"freeing a team's meeting place", func(c *device.Context, team *mem.Team, _ *mem.Window) error {
			return c.FreeWindow(team.Meeting)
		}, device.ErrForeign, "pair.meeting"},
		{"a word of data", func(c *device.Context, _ *mem.Team, w *mem.Window) error {
			_, err := c.ReadWords(w, 0, "data", 0, 1)
			return err
		}, device.ErrWindow, "data f32 × 4 holds data"},
		{"data of words", func(c *device.Context, _ *mem.Team, w *mem.Window) error {
			_, err := c.ReadWindow(w, 0, "ready", 0, 1)
			return err
		}, device.ErrWindow, "ready int32 × 4 are control words"},
		{"a part that is not there", func(c *device.Context, _ *mem.Team, w *mem.Window) error {
			return c.SetWords(w, 0, "signals", 0, 1)
		}, device.ErrWindow, `no part "signals": it has data, ready`},
		{"a word that is too large", func(c *device.Context, _ *mem.Team, w *mem.Window) error {
			return c.SetWords(w, 0, "ready", 0, 1, 1<<31)
		}, device.ErrWindow, "2147483648 does not fit in ready int32"},
		{"half an element", func(c *device.Context, _ *mem.Team, w *mem.Window) error {
			return c.CopyToWindowBytes(w, 0, "data", 0, make([]byte, 6))
		}, device.ErrShape, "6 bytes"},

		{"launch on no team", func(c *device.Context, _ *mem.Team, _ *mem.Window) error {
			_, err := c.LaunchTeam(ctx, "k", idle, nil)
			return err
		}, device.ErrTeam, "no team"},
		{"launch on a team that was freed", func(c *device.Context, team *mem.Team, w *mem.Window) error {
			_, _ = c.FreeWindow(w), c.FreeTeam(team)
			_, err := c.LaunchTeam(ctx, "k", idle, team)
			return err
		}, device.ErrTeam, "was freed before"},
		{"launch without a kernel", func(c *device.Context, team *mem.Team, _ *mem.Window) error {
			_, err := c.LaunchTeam(ctx, "k", nil, team)
			return err
		}, device.ErrLaunch, "no kernel"},
		{"launch with no window", func(c *device.Context, team *mem.Team, _ *mem.Window) error {
			_, err := c.LaunchTeam(ctx, "k", idle, team, (*mem.Window)(nil))
			return err
		}, device.ErrWindow, "argument 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, team, w := pair(t)
			err := tt.do(c, team, w)
			if err == nil || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %v with %q", err, tt.want, tt.text)
			}
			must(c.ReleaseAll())(t)
			if n := inUse(t, c); n != 0 {
				t.Fatalf("%d bytes are in use after everything was released", n)
			}
		})
	}
}

// A context refuses the teams and windows of another one.
func TestForeignTeamsAndWindows(t *testing.T) {
	a := open(t)
	_, team, w := pair(t)
	_, teamErr := a.NewWindow("w", team, 64)
	_, launchErr := a.LaunchTeam(context.Background(), "k", func(*tl.Context, tl.Args) {}, team)
	_, readErr := a.ReadWindow(w, 0, "data", 0, 1)
	for i, err := range []error{teamErr, launchErr, readErr, a.FreeWindow(w), a.FreeTeam(team)} {
		if !errors.Is(err, device.ErrForeign) {
			t.Errorf("case %d: %v", i, err)
		}
	}
}

// The host gets the typed faults of kernels, with its own source line.
func TestHostAccessIsChecked(t *testing.T) {
	accesses := []struct {
		name string
		do   func(c *device.Context, w *mem.Window, rank, first, n int) error
		unit string
	}{
		{"copy", func(c *device.Context, w *mem.Window, rank, first, n int) error {
			return c.CopyToWindow(w, rank, "data", first, make([]float64, max(n, 0)))
		}, "element"},
		{"copy bytes", func(c *device.Context, w *mem.Window, rank, first, n int) error {
			return c.CopyToWindowBytes(w, rank, "data", first, make([]byte, 4*max(n, 0)))
		}, "element"},
		{"read", func(c *device.Context, w *mem.Window, rank, first, n int) error {
			_, err := c.ReadWindow(w, rank, "data", first, n)
			return err
		}, "element"},
		{"read bytes", func(c *device.Context, w *mem.Window, rank, first, n int) error {
			_, err := c.ReadWindowBytes(w, rank, "data", first, n)
			return err
		}, "element"},
		{"set words", func(c *device.Context, w *mem.Window, rank, first, n int) error {
			return c.SetWords(w, rank, "ready", first, make([]int64, max(n, 0))...)
		}, "word"},
		{"read words", func(c *device.Context, w *mem.Window, rank, first, n int) error {
			_, err := c.ReadWords(w, rank, "ready", first, n)
			return err
		}, "word"},
	}
	const maxInt = 1<<63 - 1
	for _, a := range accesses {
		t.Run(a.name, func(t *testing.T) {
			c, _, w := pair(t)
			for _, good := range [][2]int{{0, 4}, {3, 1}, {4, 0}, {0, 0}} {
				if err := a.do(c, w, 1, good[0], good[1]); err != nil {
					t.Errorf("%v: %v", good, err)
				}
			}
			for _, bad := range [][2]int{{-1, 1}, {4, 1}, {0, 5}, {5, 0}, {maxInt, 1}} {
				err := a.do(c, w, 1, bad[0], bad[1])
				out, ok := errors.AsType[*fault.OutOfBounds](err)
				if !ok || out.From != int64(bad[0]) || out.Size != 4 || out.Unit != a.unit || out.Window != "box" ||
					out.Rank != fault.Host ||
					!strings.HasPrefix(out.Line, "device/window_test.go:") {
					t.Errorf("%v: got %v (%+v)", bad, err, out)
				}
			}
			for _, rank := range []int{-1, 2} {
				err := a.do(c, w, rank, 0, 1)
				if no, ok := errors.AsType[*fault.NotMember](err); !ok || !no.ByRank || no.Peer != rank ||
					no.Team != "pair" || no.Size != 2 {
					t.Errorf("rank %d: got %v", rank, err)
				}
			}
			if err := c.FreeWindow(w); err != nil {
				t.Fatal(err)
			}
			if gone, ok := errors.AsType[*fault.Released](a.do(c, w, 0, 0, 1)); !ok || gone.Window != "box" || gone.Line == "" {
				t.Errorf("after release: %v", gone)
			}
			if _, ok := errors.AsType[*fault.Released](c.FreeWindow(w)); !ok {
				t.Error("a second free is not refused")
			}
		})
	}
}

func TestNegativeReads(t *testing.T) {
	c, _, w := pair(t)
	_, data := c.ReadWindow(w, 0, "data", 2, -1)
	_, words := c.ReadWords(w, 0, "ready", 2, -1)
	for _, err := range []error{data, words} {
		if _, ok := errors.AsType[*fault.OutOfBounds](err); !ok {
			t.Errorf("got %v", err)
		}
	}
}

// Host copies reach the member, the part and the element that they name, and nothing else.
func TestHostCopies(t *testing.T) {
	c, _, w := pair(t)
	steps := []error{
		c.CopyToWindow(w, 1, "data", 1, []float64{5, 1.0 / 3}),
		c.CopyToWindowBytes(w, 1, "data", 3, []byte{0, 0, 0x80, 0x3f}), // 1
		c.SetWords(w, 0, "ready", 2, -7),
		c.SetWords(w, 1, "ready", 0, 1, 2),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	read := func(rank int) string {
		return fmt.Sprint(must(c.ReadWindow(w, rank, "data", 0, 4))(t), must(c.ReadWords(w, rank, "ready", 0, 4))(t))
	}
	if got, want := read(0), "[0 0 0 0] [0 0 -7 0]"; got != want {
		t.Errorf("rank 0: %s, want %s", got, want)
	}
	if got, want := read(1), fmt.Sprint([]float64{0, 5, float64(float32(1.0 / 3)), 1}, " [1 2 0 0]"); got != want {
		t.Errorf("rank 1: %s, want %s", got, want)
	}
	if got, want := must(c.ReadWindowBytes(w, 1, "data", 3, 1))(t), []byte{0, 0, 0x80, 0x3f}; !slices.Equal(got, want) {
		t.Errorf("bytes %v, want %v", got, want)
	}
}

// Words are there in a run without data, data are not.
func TestWindowsWithoutData(t *testing.T) {
	c := openOn(t, mock.New(mock.Options{}), nil, nil)
	team := must(c.NewTeam("pair", []int32{0, 1}))(t)
	w := must(c.NewWindow("box", team, 0, mailbox(4)...))(t)
	if err := errors.Join(c.CopyToWindow(w, 0, "data", 0, ramp(4)), c.SetWords(w, 0, "ready", 3, 9)); err != nil {
		t.Fatal(err)
	}
	if got := must(c.ReadWords(w, 0, "ready", 3, 1))(t); got[0] != 9 {
		t.Fatalf("the word is %d", got[0])
	}
	if _, err := c.ReadWindow(w, 0, "data", 0, 1); err == nil || !errors.As(err, new(*fault.NoData)) {
		t.Fatalf("got %v, want NoData", err)
	}
}

// Memory that others have used is zero again in a new window, on every member.
func TestWindowsAreZeroed(t *testing.T) {
	c, team, w := pair(t)
	for rank := range team.Size() {
		if err := errors.Join(c.CopyToWindow(w, rank, "data", 0, []float64{1, 2, 3, 4}),
			c.SetWords(w, rank, "ready", 0, 1, 2, 3, 4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.FreeWindow(w); err != nil {
		t.Fatal(err)
	}
	v := must(c.NewWindow("box", team, 0, mailbox(4)...))(t)
	if v.Base != w.Base {
		t.Fatalf("the new window is at %#x, the old one was at %#x: the test shows nothing", v.Base, w.Base)
	}
	for rank := range team.Size() {
		if got, want := must(c.ReadWindow(v, rank, "data", 0, 4))(t), make([]float64, 4); !slices.Equal(got, want) {
			t.Errorf("rank %d holds %v", rank, got)
		}
		if got, want := must(c.ReadWords(v, rank, "ready", 0, 4))(t), make([]int64, 4); !slices.Equal(got, want) {
			t.Errorf("rank %d has words %v", rank, got)
		}
	}
}

// All members have a window or none: one member that is full refuses it for all.
func TestWindowsAreAllOrNothing(t *testing.T) {
	c := open(t, "cube.hbm.capacity_per_pe=4096")
	team := must(c.NewTeam("three", []int32{0, 1, 2}))(t)
	must(c.Empty(1, 1024, dtype.F16, device.DPPolicy{NumCubes: 1, NumPEs: 2}))(t) // 2 KiB on PEs 0 and 1
	before := inUse(t, c)
	data := mem.Buffer{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F32, 512)}}
	if _, err := c.NewWindow("box", team, 0, data); !errors.Is(err, mem.ErrFull) ||
		!strings.Contains(err.Error(), "HBM of sip0.cube0.pe0") {
		t.Fatalf("got %v", err)
	}
	if n := inUse(t, c); n != before {
		t.Fatalf("a refused window holds %d bytes", n-before)
	}
	other := must(c.NewTeam("two", []int32{2, 3}))(t)
	w := must(c.NewWindow("box", other, 0, data))(t) // the name was not taken
	if n := inUse(t, c); n != before+2*256+2*2048 {
		t.Fatalf("%d bytes are in use", n)
	}
	if n := must(c.HBMInUse(machine.Coord{PE: 3}))(t); n != 256+2048 {
		t.Fatalf("HBM of a member counts %v", n)
	}
	if w.Base%256 != 0 {
		t.Fatalf("the window begins at %#x", w.Base)
	}
}

// Control words that would take all memory of this program are refused before they do, and the
// error names an algorithm that needs none.
func TestTooManyWords(t *testing.T) {
	c := openOn(t, mock.New(mock.Options{}), []string{"system.sips.count=2048"}, nil) // 16,384 PEs
	all := make([]int32, c.Machine().NumPEs())
	for pe := range all {
		all[pe] = int32(pe)
	}
	team := must(c.NewTeam("all", all))(t)
	many := new(device.TooManyWords)
	words := mem.Buffer{Name: "words", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 1<<14+1)}}
	if _, err := c.NewWindow("box", team, 0, words); !errors.As(err, &many) || many.Words != 1<<14+1 || many.Members != 1<<14 {
		t.Errorf("a window: %v", err)
	}
	plan := must(c.InstallIPCQ("hierarchical_direct_allreduce"))(t)
	var tensors []*device.Tensor
	for sip := range c.Machine().SIPs() {
		if err := c.SetDevice(sip); err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, must(c.EmptyRanks(8, 16, dtype.F16))(t))
	}
	_, err := c.Perform(t.Context(), plan, tl.Sum, tensors)
	const want = "32768 control words on each of 16384 members would take 4 GiB of this program's memory: at most 2 GiB are allowed; hierarchical_ring_allreduce does without"
	if !errors.As(err, &many) || !strings.Contains(err.Error(), want) {
		t.Errorf("a collective: %v", err)
	}
}

// Teams overlap: a PE has a rank of its own in each, and their windows share no memory.
func TestOverlappingTeams(t *testing.T) {
	c := open(t)
	even := must(c.NewTeam("even", []int32{0, 2, 4, 6}))(t)
	low := must(c.NewTeam("low", []int32{3, 2, 1, 0}))(t)
	must(c.NewWindow("a", even, 0, mailbox(4)...))(t)
	must(c.NewWindow("b", low, 0, mailbox(4)...))(t)
	rank := func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		me := c.Local(c.Data(w, "data").Slice(0, 2))
		c.Store(me.Slice(0, 1), c.Full(tl.Dims(1), dtype.F32, float64(c.Rank()+10)))
		c.Store(me.Slice(1, 1), c.Full(tl.Dims(1), dtype.F32, float64(c.WorldSize())))
	}
	a := must(c.NewWindow("c", even, 0, mailbox(2)...))(t)
	b := must(c.NewWindow("d", low, 0, mailbox(2)...))(t)
	must(c.LaunchTeam(context.Background(), "rank", rank, even, a))(t)
	must(c.LaunchTeam(context.Background(), "rank", rank, low, b))(t)
	for r := range 4 {
		for _, w := range []*mem.Window{a, b} {
			if got, want := must(c.ReadWindow(w, r, "data", 0, 2))(t), []float64{float64(r + 10), 4}; !slices.Equal(got, want) {
				t.Errorf("rank %d of %s: %v, want %v", r, w.Team.Name, got, want)
			}
		}
	}
	if r, ok := even.Translate(1, low); !ok || r != 1 { // PE 2
		t.Errorf("rank 1 of even is rank %d of low", r)
	}
	if _, ok := even.Translate(3, low); ok {
		t.Error("PE 6 is no member of low")
	}
	w := b
	_, err := c.LaunchTeam(context.Background(), "rank", rank, even, w) // PEs 4 and 6 are no members
	if no, ok := errors.AsType[*fault.NotMember](err); !ok || no.Team != "low" {
		t.Errorf("a window of another team: %v", err)
	}
}

// A team's launch gives each rank its shard, for any order of ranks.
func TestLaunchTeam(t *testing.T) {
	c := open(t)
	x := must(c.Zeros(1, 8, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t) // PEs 0 to 3
	team := must(c.NewTeam("team", []int32{2, 0, 3}))(t)
	run := must(c.LaunchTeam(context.Background(), "mark", func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		c.Store(mine, c.Full(mine.Shape, a.DType, float64(100*a.Int(0)+10*c.Rank()+c.WorldSize())))
	}, team, x, 5))(t)
	if run.World != 3 || run.Name != "mark" || len(c.Launches()) != 1 {
		t.Fatalf("%+v", run)
	}
	if got, want := must(x.Read())(t), []float64{513, 513, 0, 0, 503, 503, 523, 523}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// A kernel that uses a freed window gets the same fault as the host.
func TestUseAfterRelease(t *testing.T) {
	c, team, w := pair(t)
	if err := c.FreeWindow(w); err != nil {
		t.Fatal(err)
	}
	_, err := c.LaunchTeam(context.Background(), "late", func(c *tl.Context, _ tl.Args) { c.Data(w, "data") }, team)
	if gone, ok := errors.AsType[*fault.Released](err); !ok || gone.Window != "box" || gone.Rank != 0 {
		t.Errorf("in a kernel: %v", err)
	}
	_, err = c.LaunchTeam(context.Background(), "late", func(*tl.Context, tl.Args) {}, team, w)
	if gone, ok := errors.AsType[*fault.Released](err); !ok || gone.Rank != fault.Host {
		t.Errorf("as an argument: %v", err)
	}
}

func TestWindowsAndTeamsLeak(t *testing.T) {
	c, _, _ := pair(t)
	must(c.Zeros(1, 16, dtype.F32, device.DPPolicy{}))(t).Named("x")
	gone := must(c.NewTeam("gone", []int32{4}))(t)
	if err := c.FreeTeam(gone); err != nil {
		t.Fatal(err)
	}
	leaks := must(c.ReleaseAll())(t)
	if got, want := fmt.Sprint(leaks), "[{x 512 B} {window box 64 B} {team pair 16 B}]"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if n := inUse(t, c); n != 0 {
		t.Fatalf("%d bytes are in use", n)
	}
	must(c.NewTeam("pair", []int32{1, 0}))(t) // the name is free again
}

// Windows of random teams: the copies of all live windows are disjoint, in every slice, and
// when all are freed nothing is in use.
func TestWindowsAgainstModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := openOn(t, mock.New(mock.Options{}), []string{"cube.hbm.capacity_per_pe=8192"}, nil)
		var live []*mem.Window
		names := 0
		r.Repeat(map[string]func(*rapid.T){
			"new": func(r *rapid.T) {
				pes := rapid.Permutation([]int32{0, 1, 2, 3, 8}).Draw(r, "pes")[:rapid.IntRange(1, 4).Draw(r, "size")]
				names++
				team, err := c.NewTeam(fmt.Sprint("t", names), pes)
				if err != nil {
					return
				}
				w, err := c.NewWindow(fmt.Sprint("w", names), team, rapid.Int64Range(1, 3000).Draw(r, "bytes"))
				if err != nil {
					if err := c.FreeTeam(team); err != nil {
						r.Fatal(err)
					}
					return
				}
				live = append(live, w)
			},
			"free": func(r *rapid.T) {
				if len(live) == 0 {
					return
				}
				k := rapid.IntRange(0, len(live)-1).Draw(r, "k")
				w := live[k]
				live = slices.Delete(live, k, k+1)
				if err := errors.Join(c.FreeWindow(w), c.FreeTeam(w.Team)); err != nil {
					r.Fatal(err)
				}
			},
			"": func(r *rapid.T) {
				want := int64(0)
				for i, w := range live {
					round := (w.Layout.Bytes + 255) / 256 * 256
					want += int64(w.Team.Size()) * (round + 256) // and the meeting place
					for _, v := range live[:i] {
						for _, pe := range w.Team.PEs {
							if _, both := v.Team.Rank(int(pe)); both && w.Base < v.Base+v.Layout.Bytes && v.Base < w.Base+w.Layout.Bytes {
								r.Fatalf("PE %d: %s at %#x and %s at %#x overlap", pe, w.Name, w.Base, v.Name, v.Base)
							}
						}
					}
				}
				if got := inUse(t, c); got != want {
					r.Fatalf("%d bytes are in use, want %d", got, want)
				}
			},
		})
	})
}
