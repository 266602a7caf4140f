package sim_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/program/text"
	"kernbench/tl"
	"kernbench/unit"
)

// packetTime returns what the one-shot with packets takes of two SIPs on a slow switch.
func packetTime(t *testing.T, n int, sets ...string) unit.Time {
	t.Helper()
	r, err := run.Run(t.Context(), run.Spec{
		Bench: "ccl_hello", Algorithm: "window_allreduce_onephase_ll", Ranks: 2, NElem: n, DType: dtype.F32, Executor: "sim",
		Sets: append(kerneltest.SwitchSettings(2), append([]string{"system.link.bw_gbs=1"}, sets...)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.SimulatedTime
}

// TestPacketTimes: lines of packets take twice the bytes, or those of ll on the machine, for every
// protocol of the algorithm. Their reader sees them with the latency of ll.
func TestPacketTimes(t *testing.T) {
	const few, many = 256, 1280 // of one packet each: 4 KiB more
	bytes := func(sets ...string) unit.Time { return packetTime(t, many, sets...) - packetTime(t, few, sets...) }
	doubled := unit.Nanoseconds(2 * 4 * (many - few)) // at 1 GB/s
	if got := bytes(); got < doubled || got > doubled*21/20 {
		t.Errorf("4 KiB take %v, want %v and little more", got, doubled)
	}
	least := unit.Nanoseconds(4 * (many - few) / 0.8)
	if got := bytes("software.protocols.ll.efficiency=0.8", "software.protocols.simple.efficiency=0.1"); got < least || got > least*21/20 {
		t.Errorf("with lines of which 0.8 are data 4 KiB take %v, want %v and little more", got, least)
	}
	late := packetTime(t, few, "software.protocols.ll.latency_ns=700", "software.protocols.simple.latency_ns=9000")
	if now := packetTime(t, few); late-now != 700*unit.Nanosecond {
		t.Errorf("%v, and with a latency of 700 ns %v", now, late)
	}
}

// TestLL128Times: a packet of lines of 128 bytes takes 128/120 of its bytes, or those of ll128 on
// the machine. Its reader sees it with the latency of ll128. A wait for a line takes no less, since
// all lines of a packet are seen at one time.
func TestLL128Times(t *testing.T) {
	const few, many = 1200, 31200
	at := func(n int, wait string, sets ...string) unit.Time {
		f, err := text.Parse("x.txt", fmt.Appendf(nil, `kernbench program 1
algorithm none
collective all_reduce
operator sum
type f32
elements %[1]d
results in place
world 2
slots 4 of 4096 bytes
scratch 1000000 bytes
window w0 %[2]d bytes
part w0 data f32[%[1]d]
part w0 flags int32[1]
rank 0
t0 = load data[0:%[1]d]
put_ll128 w0.data[0:%[1]d]@1 t0 signal w0.flags[0] set 1
rank 1
%[3]s
`, n, 4*n+4, wait))
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.OfProgram(t.Context(), run.Spec{Executor: "sim",
			Sets: append(kerneltest.SwitchSettings(2), append([]string{"system.link.bw_gbs=1"}, sets...)...)}, f)
		if err != nil {
			t.Fatal(err)
		}
		return r.SimulatedTime
	}
	const whole = "wait_ll w0.flags[0] == 1"
	for rate, sets := range map[float64][]string{
		120.0 / 128: nil,
		0.8:         {"software.protocols.ll128.efficiency=0.8", "software.protocols.ll.efficiency=0.4"},
	} {
		least := unit.Nanoseconds(4 * (many - few) / rate) // at 1 GB/s
		if got := at(many, whole, sets...) - at(few, whole, sets...); got < least || got > least*51/50 {
			t.Errorf("120 kB take %v, want %v and little more", got, least)
		}
	}
	now := at(few, whole)
	late := at(few, whole, "software.protocols.ll128.latency_ns=700", "software.protocols.ll.latency_ns=9000")
	if late-now != 700*unit.Nanosecond {
		t.Errorf("%v, and with a latency of 700 ns %v", now, late)
	}
	if line := at(few, "wait_lines w0.flags[0] == 1 lines 0:1"); line != now {
		t.Errorf("%v for a line, %v for the packet", line, now)
	}
}

// TestPacketMisuse: what cannot be a packet is refused.
func TestPacketMisuse(t *testing.T) {
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "w",
		Parts: []mem.Part{mem.DataPart("data", dtype.F32, 8), mem.SignalPart("flags", mem.Int32, 4)}}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := kerneltest.Config{World: 2, NElem: 8, DType: dtype.F32, Layout: l, Collective: "all_reduce"}
	for want, kernel := range map[string]func(c *tl.Context, a tl.Args, d tl.Sym, s tl.Signal){
		"found flag 0, which unwritten memory has": func(c *tl.Context, a tl.Args, d tl.Sym, s tl.Signal) {
			c.PutLL(d, 1, c.Load(a.Shard(0)), s.At(0), 0)
		},
		"want flags from 1 on": func(c *tl.Context, _ tl.Args, _ tl.Sym, s tl.Signal) { c.WaitLL(s.At(0), 0) },
		"a packet has at least one element": func(c *tl.Context, a tl.Args, d tl.Sym, s tl.Signal) {
			c.PutLL(d.Slice(0, 0), 1, c.Load(a.Shard(0).Slice(0, 0)), s.At(0), 1)
		},
		"0 lines from 0 on: at least one": func(c *tl.Context, _ tl.Args, _ tl.Sym, s tl.Signal) { c.WaitLines(s.At(0), 1, 0, 0) },
		"2 lines from -1 on: at least one": func(c *tl.Context, _ tl.Args, _ tl.Sym, s tl.Signal) {
			c.WaitLines(s.At(0), 1, -1, 2)
		},
		"2 lines from 9223372036854775807 on: at least one": func(c *tl.Context, _ tl.Args, _ tl.Sym, s tl.Signal) {
			c.WaitLines(s.At(0), 1, math.MaxInt, 2)
		},
		"wait_lines at sim/packet_test.go": func(c *tl.Context, _ tl.Args, _ tl.Sym, s tl.Signal) { c.WaitLines(s.At(0), 0, 1, 2) },
		"put_ll128 at sim/packet_test.go": func(c *tl.Context, a tl.Args, d tl.Sym, s tl.Signal) {
			c.PutLL128(d, 1, c.Load(a.Shard(0)), s.At(0), 0)
		},
		"it takes one word": func(c *tl.Context, a tl.Args, d tl.Sym, s tl.Signal) { c.PutLL(d, 1, c.Load(a.Shard(0)), s, 1) },
	} {
		_, err := kerneltest.Check(func(c *tl.Context, a tl.Args) {
			if c.Rank() == 0 {
				kernel(c, a, c.Data(a.Window(0), "w.data"), c.Signals(a.Window(0), "w.flags"))
			}
		}, cfg)
		if !faultHas(err, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func faultHas(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
