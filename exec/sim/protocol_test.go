package sim_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// protocols are three as machines have them, each with figures of its own; "" is none.
var protocols = map[string]tl.Protocol{
	"ll":     {Latency: []unit.Time{184_001}, Credit: []unit.Time{184_001}, Payload: 500_000},
	"slow":   {Latency: []unit.Time{184_001}, Credit: []unit.Time{184_001}, Payload: 500_000, Copy: 3 * unit.GBPerSecond},
	"ll128":  {Latency: []unit.Time{1_484_003}, Credit: []unit.Time{184_001}, Payload: 937_500},
	"simple": {Latency: []unit.Time{2_984_007}, Credit: []unit.Time{184_001}},
}

// TestOneMessage: under a protocol a message takes its flags on the links, and is seen some time
// after its arrival.
func TestOneMessage(t *testing.T) {
	const n = 999 // 1998 bytes: 3996 on the links under ll, 2132 under ll128
	for name, p := range protocols {
		for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
			for _, space := range []mem.Space{mem.TCM, mem.HBM} {
				t.Run(fmt.Sprint(name, f, space), func(t *testing.T) {
					b := newBench(t, func(c *tl.Context, a tl.Args) {
						if c.Rank() == 0 {
							c.Send(tl.East, c.Full(tl.Dims(n), a.DType, 1))
						} else {
							c.Recv(tl.West, tl.Dims(n), a.DType)
						}
					}, setup{world: 2, n: n, space: space, ring: func(r *tl.Ring) { r.Protocol, r.WakeCost = p, 4*unit.Nanosecond }})
					c := termsOf(b)
					visible := c.I + c.spec.Math.Time(n) + c.Tx + c.token(0, 1, 2*n)
					var events collector
					res, err := b.run(sim.Options{Trace: &events, Fidelity: f})
					if err != nil {
						t.Fatal(err)
					}
					if want := visible + c.W + c.Rx; res.Duration() != want {
						t.Errorf("took %v, by hand %v", res.Duration(), want)
					}
					for _, e := range events {
						if e.Kind == trace.Message && (e.End != visible || e.Bytes != 2*n) {
							t.Errorf("%d bytes are visible at %v, by hand %v", e.Bytes, e.End, visible)
						}
					}
					if res.Messages != 1 || res.Bytes != 2*n {
						t.Errorf("%d messages of %d bytes: of data there is one of %d", res.Messages, res.Bytes, 2*n)
					}
				})
			}
		}
	}
}

// TestStreamUnderProtocols: messages in a row keep the distance that the links give them. All of
// them together are late by the latency of one. With a single slot each waits for the credit of the
// one before.
func TestStreamUnderProtocols(t *testing.T) {
	const parts, slot = 25, 2000
	took := func(slots int, p tl.Protocol) (unit.Time, *terms) {
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			if c.Rank() == 0 {
				c.Send(tl.East, c.Full(tl.Dims(parts*slot/2), a.DType, 1))
			} else {
				c.Recv(tl.West, tl.Dims(parts*slot/2), a.DType)
			}
		}, setup{world: 2, slots: slots, slotBytes: slot, ring: func(r *tl.Ring) { r.Protocol = p }})
		res, err := b.run(sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := termsOf(b)
		return res.Duration(), &c
	}
	for name, p := range protocols {
		free, c := took(parts, tl.Protocol{})
		_, slowest := c.b.m.Latency(c.b.m.Route(nil, c.b.m.TCM(0), c.b.m.TCM(1)))
		wire := slowest.Serial().Time(p.Wire(slot)) - slowest.Serial().Time(slot)
		late := p.Latency[0] + p.Copied(slot)
		if got, _ := took(parts, p); got != free+parts*wire+late {
			t.Errorf("%s: %v, want %v on the links, and %v once", name, got, free+parts*wire, late)
		}
		alone, _ := took(1, tl.Protocol{})
		if got, _ := took(1, p); got != alone+parts*(wire+late)+(parts-1)*p.Credit[0] {
			t.Errorf("%s, one slot: %v, want %v + %d × (%v + %v) + %d × %v", name, got, alone, parts, wire,
				late, parts-1, p.Credit[0])
		}
	}
}

// TestSignalsUnderProtocols: an update of a word of another PE takes effect later by the latency.
// Its sender knows of it later by as much. Data without a word have arrived when they have their
// flags. Loads, stores and gets of another PE's memory take flags on the links as puts do. Those of
// the own memory do not.
func TestSignalsUnderProtocols(t *testing.T) {
	const n = 500        // elements of 2 bytes
	const elsewhere = -1 // flags on the links only if the memory is another PE's
	sig := func(c *tl.Context, a tl.Args) tl.Signal { return c.Signals(a.Window(0), "sig").At(0) }
	whole := func(c *tl.Context, a tl.Args) tl.Tensor { return c.Full(tl.Dims(n), a.DType, 1) }
	for _, tt := range []struct {
		name      string
		send      func(c *tl.Context, a tl.Args, peer int)
		latencies unit.Time // in the time that it takes
		puts      int64     // of n elements, one after the other, or elsewhere
	}{
		{"notify", func(c *tl.Context, a tl.Args, peer int) { c.Notify(sig(c, a), peer, tl.SignalAdd, 5) }, 1, 0},
		{"many notifications", func(c *tl.Context, a tl.Args, peer int) {
			for range 5 {
				c.Notify(sig(c, a), peer, tl.SignalAdd, 1)
			}
		}, 1, 0},
		{"put and signal", func(c *tl.Context, a tl.Args, peer int) {
			c.PutTensorSignal(c.Data(a.Window(0), "data"), peer, whole(c, a), sig(c, a), tl.SignalAdd, 5)
		}, 1, 1},
		{"put of memory and signal", func(c *tl.Context, a tl.Args, peer int) {
			c.PutSignal(c.Data(a.Window(0), "data"), peer, c.Local(c.Data(a.Window(0), "data")), sig(c, a), tl.SignalAdd, 5)
		}, 1, 1},
		{"put, fence, notify", func(c *tl.Context, a tl.Args, peer int) {
			c.PutTensor(c.Data(a.Window(0), "data"), peer, whole(c, a))
			c.Fence()
			c.Notify(sig(c, a), peer, tl.SignalAdd, 5)
		}, 1, 1},
		{"put", func(c *tl.Context, a tl.Args, peer int) {
			c.PutTensor(c.Data(a.Window(0), "data"), peer, whole(c, a))
		}, 0, 1},
		{"get", func(c *tl.Context, a tl.Args, peer int) {
			c.Get(c.Local(c.Data(a.Window(0), "data")), c.Data(a.Window(0), "data"), peer)
		}, 0, elsewhere},
		{"load", func(c *tl.Context, a tl.Args, peer int) {
			c.Load(c.At(c.Data(a.Window(0), "data"), peer))
		}, 0, elsewhere},
		{"store", func(c *tl.Context, a tl.Args, peer int) {
			c.Store(c.At(c.Data(a.Window(0), "data"), peer), whole(c, a))
			c.Quiet()
		}, 0, elsewhere},
		{"load of a tile", func(c *tl.Context, a tl.Args, peer int) {
			c.LoadTile(c.Desc(c.At(c.Data(a.Window(0), "data"), peer), 4, n/4, 4, n/4), 0, 0)
		}, 0, elsewhere},
		{"atomic", func(c *tl.Context, a tl.Args, peer int) { c.FetchAdd(sig(c, a), peer, 5) }, 1, 0},
		{"atomic behind a notification", func(c *tl.Context, a tl.Args, peer int) {
			c.Notify(sig(c, a), peer, tl.SignalAdd, 2)
			if got := c.FetchAdd(sig(c, a), peer, 3); got != 2 {
				panic(fmt.Sprintf("found %d: an atomic must not overtake", got))
			}
		}, 1, 0},
		{"notify and quiet, then an atomic", func(c *tl.Context, a tl.Args, peer int) {
			c.Notify(sig(c, a), peer, tl.SignalAdd, 2)
			c.Quiet()
			if got := c.FetchAdd(sig(c, a), peer, 3); got != 2 {
				panic(fmt.Sprintf("found %d after quiet", got))
			}
		}, 2, 0},
	} {
		for name, p := range protocols {
			for peer := range 2 { // to itself nothing is late
				t.Run(fmt.Sprint(tt.name, "/", name, "/", peer), func(t *testing.T) {
					took := func(p tl.Protocol, waits bool) (unit.Time, *bench) {
						b := newWindows(t, func(c *tl.Context, a tl.Args) {
							if c.Rank() == 0 {
								tt.send(c, a, peer)
							} else if waits {
								c.WaitUntil(sig(c, a), tl.GE, 5)
							}
						}, setup{world: 2, ring: func(r *tl.Ring) { r.Protocol = p }}, data(n), words(1))
						return b.took(t, sim.Options{}), b.bench
					}
					free, b := took(tl.Protocol{}, false)
					wire := unit.Time(0)
					if tt.puts > 0 || tt.puts == elsewhere && peer == 1 {
						from, to := b.m.TCM(0), b.m.HBM(peer)
						switch tt.name {
						case "put of memory and signal":
							from = b.m.HBM(0)
						case "get", "load", "load of a tile":
							from, to = b.m.HBM(peer), b.m.PE(0)
						case "store":
							from = b.m.PE(0)
						}
						_, slowest := b.m.Latency(b.m.Route(nil, from, to))
						wire = slowest.Serial().Time(p.Wire(2*n)) - slowest.Serial().Time(2*n)
					}
					want := free + wire
					if peer == 1 {
						want += tt.latencies * p.Latency[0]
					}
					if got, _ := took(p, false); got != want {
						t.Errorf("took %v, want %v: %v without a protocol", got, want, free)
					}
					if peer == 0 || tt.latencies == 0 {
						return
					}
					free, _ = took(tl.Protocol{}, true)
					if got, _ := took(p, true); got != free+wire+tt.latencies*p.Latency[0] {
						t.Errorf("with one who waits: took %v, want %v + %v + %d × %v", got, free, wire, tt.latencies, p.Latency[0])
					}
				})
			}
		}
	}
}

// TestDataComeBeforeTheirSignal: a put on the route of an earlier one with a signal does not
// overtake the earlier data. A rank that sees the signal sees the data.
func TestDataComeBeforeTheirSignal(t *testing.T) {
	b := newWindows(t, func(c *tl.Context, a tl.Args) {
		d, s := c.Data(a.Window(0), "data"), c.Signals(a.Window(0), "sig").At(0)
		if c.Rank() == 0 {
			c.PutTensorSignal(d, 1, c.Full(tl.Dims(8), dtype.F16, 1), s, tl.SignalSet, 1)
			c.PutTensor(d, 1, c.Full(tl.Dims(8), dtype.F16, 2))
			return
		}
		c.WaitUntil(s, tl.EQ, 1)
		c.Store(a.Shard(1), c.Load(c.Local(d)))
	}, setup{world: 2, n: 8, ring: func(r *tl.Ring) { r.Protocol = protocols["simple"] }}, data(8), words(1))
	log := b.fill(t, func(int, int) float64 { return 0 })
	if err := zero(log, b.win); err != nil {
		t.Fatal(err)
	}
	if _, err := b.run(sim.Options{Data: log}); err != nil {
		t.Fatal(err)
	}
	got, err := log.Read(b.launch.Groups[0].Args.Shards[1], dtype.F16, 8)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if v := dtype.At(dtype.F16, got, i); v != 2 {
			t.Fatalf("element %d is %v: the later put came last, and long before the signal was seen", i, v)
		}
	}
}

// TestLatencyByLevel: a message through a network of hosts is seen after that network's latency,
// and so is a signal. Credits have the same latency.
func TestLatencyByLevel(t *testing.T) {
	sets := []string{
		"system.levels=[{name: host, network: switch, count: 2, link: {bw_gbs: 100, latency_ns: 5}}, {name: rail, network: switch, count: 2, link: {bw_gbs: 50, latency_ns: 9}}]",
		"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW, NE]",
	}
	late := tl.Protocol{Latency: []unit.Time{100_000, 2_000_000, 30_000_000}, Credit: []unit.Time{1000, 20_000, 300_000}}
	for _, tt := range []struct {
		peer  int32
		level int
	}{{1, -1}, {2, 0}, {3, 0}, {4, 1}, {7, 1}} {
		took := func(p tl.Protocol, kernel tl.Kernel) unit.Time {
			b := newWindows(t, kernel, setup{world: 2, slots: 1, sets: sets, ring: func(r *tl.Ring) { r.Protocol = p }}, words(1))
			b.launch.Groups[0].PEs[1] = tt.peer
			team, _ := mem.NewTeam("pair", []int32{0, tt.peer})
			b.launch.Groups[0].Args.Windows[0] = mem.NewWindow("w", team, b.win.Layout, windowAt)
			return b.took(t, sim.Options{})
		}
		message, credit := late.Late(tt.level)
		twice := func(c *tl.Context, a tl.Args) {
			for range 2 {
				if c.Rank() == 0 {
					c.Send(tl.East, c.Full(tl.Dims(4), a.DType, 1))
				} else {
					c.Recv(tl.West, tl.Dims(4), a.DType)
				}
			}
		}
		if got, free := took(late, twice), took(tl.Protocol{}, twice); got != free+2*message+credit {
			t.Errorf("two messages to PE %d: %v, want %v + 2 × %v + %v", tt.peer, got, free, message, credit)
		}
		signal := func(c *tl.Context, a tl.Args) {
			if s := c.Signals(a.Window(0), "sig").At(0); c.Rank() == 0 {
				c.Notify(s, 1, tl.SignalSet, 1)
			} else {
				c.WaitUntil(s, tl.EQ, 1)
			}
		}
		if got, free := took(late, signal), took(tl.Protocol{}, signal); got != free+message {
			t.Errorf("a signal to PE %d: %v, want %v + %v", tt.peer, got, free, message)
		}
	}
}
