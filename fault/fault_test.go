package fault_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kernbench/fault"
	_ "kernbench/internal/fixedseed"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func recv(rank int, from ...int) fault.Blocked {
	return fault.Blocked{
		Place: fault.Place{Rank: rank, PE: fmt.Sprintf("sip0.cube0.pe%d", rank), Op: "recv(W)",
			Line: "lib/ring.go:17", Time: 346400, Timed: true},
		Dir: "W", Peers: from, Slots: 4,
	}
}

func send(rank, to, slots int) fault.Blocked {
	return fault.Blocked{
		Place:   fault.Place{Rank: rank, Op: "send(E)", Line: "lib/ring.go:15"},
		Sending: true, Dir: "E", Peers: []int{to}, Occupancy: slots, Slots: slots,
	}
}

func word(rank int, held int64, want string, from ...int) fault.Blocked {
	return fault.Blocked{
		Place: fault.Place{Rank: rank, Op: "wait_until", Line: "lib/push.go:9"},
		Peers: from, Word: "w.arrived[3]", Held: held, Want: want,
	}
}

var deadlocks = []struct {
	name    string
	world   int
	blocked []fault.Blocked
	cycle   []int
	missing string
	advice  string
}{
	{"all receive first", 3, []fault.Blocked{recv(0, 2), recv(1, 0), recv(2, 1)}, []int{0, 2, 1}, "", "let one of them send first"},
	{"waits for itself", 1, []fault.Blocked{recv(0, 0)}, []int{0}, "", "let one of them send first"},
	{"all slots full", 4, []fault.Blocked{send(0, 1, 4), send(1, 2, 4), send(2, 3, 4), send(3, 0, 4)},
		[]int{0, 1, 2, 3}, "", "receive earlier, or give the rings more than 4 slots (n_slots)"},
	{"one slot", 3, []fault.Blocked{send(0, 1, 1), send(1, 2, 1), send(2, 0, 1)}, []int{0, 1, 2}, "", "set n_slots: 2"},
	{"the shortest of two cycles", 5, []fault.Blocked{recv(0, 1), recv(1, 2), recv(2, 0), recv(3, 4), recv(4, 3)},
		[]int{3, 4}, "", "let one of them send first"},
	{"behind a cycle", 4, []fault.Blocked{recv(0, 1), recv(1, 2), recv(2, 1), recv(3, 0)}, []int{1, 2}, "", "let one of them send first"},
	{"the lower of two short cycles", 5, []fault.Blocked{recv(0, 4), recv(1, 2), recv(2, 1), recv(3, 4), recv(4, 3)},
		[]int{1, 2}, "", "let one of them send first"},
	{"a cycle by any direction", 3, []fault.Blocked{recv(0, 1, 2), recv(1, 2), recv(2, 0)}, []int{0, 2}, "", "let one of them send first"},
	{"a notification that never comes", 3, []fault.Blocked{word(0, 1, ">= 2", 1, 2), word(1, 0, "!= 0", 0, 2),
		word(2, 0, ">= 1", 0, 1)}, nil, "", "the right member, word and value"},
	{"no rank is left to notify", 2, []fault.Blocked{word(1, 1, ">= 2")}, nil,
		"missing notification: no agent is left that could change w.arrived[3], which rank 1 waits for in wait_until",
		"the right member, word and value"},
	{"two that wait for each other's words", 2, []fault.Blocked{word(0, 0, ">= 1", 1), word(1, 0, ">= 1", 0)},
		[]int{0, 1}, "", "let one of them notify first"},
	{"words and messages, one peer each", 2, []fault.Blocked{word(0, 0, ">= 1", 1), recv(1, 0)}, []int{0, 1}, "",
		"the right member, word and value"},
	{"a cycle of messages beside words", 4, []fault.Blocked{word(0, 0, ">= 1", 1, 2, 3), recv(1, 2), recv(2, 1),
		recv(3, 0)}, []int{1, 2}, "", "let one of them send first"},
	{"words hide no cycle that is none", 3, []fault.Blocked{word(0, 0, ">= 1", 1, 2), recv(1, 0), recv(2, 0)}, nil,
		"", "the right member, word and value"},
	{"a value that was passed", 2, []fault.Blocked{word(0, 3, "== 2", 1), word(1, 0, "== -1", 0)}, []int{0, 1}, "", "may have passed 2"},
	{"a cycle that has notified", 2, []fault.Blocked{word(0, 1, ">= 2", 1), word(1, 1, ">= 2", 0)}, []int{0, 1}, "",
		"give every wait the notifications"},
	{"a value that was passed, and no rank left", 2, []fault.Blocked{word(0, 3, "== 2")}, nil,
		"missing notification: no agent is left that could change w.arrived[3], which rank 0 waits for in wait_until",
		"w.arrived[3] may have passed 2"},
	{"a send that is missing", 3, []fault.Blocked{recv(0, 2), recv(1, 0)}, nil,
		"missing send: rank 2 finished without the send that rank 0 waits for in recv(W)", "every send its receive"},
	{"a receive that is missing", 2, []fault.Blocked{send(0, 1, 4)}, nil,
		"missing receive: rank 1 finished without the receive that rank 0 waits for in send(E)", "every send its receive"},
	{"no peer", 1, []fault.Blocked{recv(0)}, nil, "rank 0 waits in recv(W), but no ring leads to it", "every send its receive"},
}

func TestNewDeadlock(t *testing.T) {
	for _, tt := range deadlocks {
		t.Run(tt.name, func(t *testing.T) {
			d := fault.NewDeadlock(tt.world, tt.blocked, nil)
			if !slices.Equal(d.Cycle, tt.cycle) || d.Missing != tt.missing || !strings.Contains(d.Advice, tt.advice) {
				t.Errorf("cycle %v, missing %q, advice %q", d.Cycle, d.Missing, d.Advice)
			}
			if got, want := len(d.Finished)+len(d.Blocked), tt.world; got != want {
				t.Errorf("%d ranks blocked or finished, want %d", got, want)
			}
		})
	}
}

// For any waits, the reported cycle is a cycle of the graph, and no cycle is shorter.
func TestCycleIsShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.IntRange(1, 7).Draw(t, "world")
		most := rapid.SampledFrom([]int{1, min(3, world)}).Draw(t, "most")
		waits := make([][]int, world)
		var blocked []fault.Blocked
		for r := range world {
			waits[r] = rapid.SliceOfNDistinct(rapid.IntRange(0, world-1), 1, most, rapid.ID[int]).Draw(t, "peers")
			blocked = append(blocked, recv(r, waits[r]...))
		}
		d := fault.NewDeadlock(world, blocked, nil)
		// Every rank is blocked and waits for some other: there is a cycle.
		if len(d.Cycle) == 0 {
			t.Fatalf("no cycle in %v", waits)
		}
		for i, r := range d.Cycle {
			if next := d.Cycle[(i+1)%len(d.Cycle)]; !slices.Contains(waits[r], next) {
				t.Fatalf("%v: %d does not wait for %d in %v", d.Cycle, r, next, waits)
			}
		}
		if n := girth(waits); len(d.Cycle) != n {
			t.Fatalf("%v is no shortest cycle of %v: there is one of %d", d.Cycle, waits, n)
		}
	})
}

// girth returns the length of the shortest cycle, by powers of the adjacency matrix.
func girth(waits [][]int) int {
	reach := make([]map[int]bool, len(waits))
	for r := range reach {
		reach[r] = map[int]bool{r: true}
	}
	for n := 1; ; n++ {
		for r := range reach {
			next := map[int]bool{}
			for m := range reach[r] {
				for _, p := range waits[m] {
					next[p] = true
				}
			}
			if reach[r] = next; next[r] {
				return n
			}
		}
	}
}

// The texts of all faults, as a user reads them.
func TestTexts(t *testing.T) {
	at := fault.Place{Rank: 3, PE: "sip0.cube1.pe3", Op: "send(N)", Line: "lib/ring.go:15", Time: 1500, Timed: true}
	bare := fault.Place{Rank: 1, Op: "recv(W)"}
	var b strings.Builder
	for _, err := range []error{
		&fault.InvalidDirection{Place: at, Dir: "N", Installed: []string{"E", "W"}, Sending: true},
		&fault.InvalidDirection{Place: bare, Dir: "W"},
		&fault.UseAfterCredit{Place: at, Slot: "recv(W) #0 at lib/ring.go:10", Ended: "recv(W) #1 at lib/ring.go:12"},
		&fault.UseAfterFree{Place: at, Tensor: "f16[8]"},
		&fault.UseAfterFree{Place: at, Tensor: "f16[8]", Reclaimed: true, Scratch: 1 << 20},
		&fault.ScratchFull{Place: at, Need: 2 << 20, Have: 1 << 20, Pinned: 4096},
		&fault.Mismatch{Place: bare, Want: "f16[8]", Got: "f32[4]", Sender: 2},
		&fault.BadAddress{Place: bare, Addr: "hbm[3]:0x40", Bytes: 64, Reason: "nothing is mapped there"},
		&fault.BadAddress{
			Place: bare, Addr: "va:0x40", Bytes: 64, Reason: "nothing is mapped there", Memory: "tensor x has 8 bytes from va:0x38 on",
		},
		&fault.Misuse{Place: bare, Reason: "the zero Tensor"},
		&fault.NoData{What: "Tensor.Float64s"},
		&fault.Unwritten{Place: bare, Addr: "hbm[3]:0x40", First: 7},
		&fault.Unwritten{Place: bare, Addr: "hbm[3]:0x40", Name: "x[3]", First: 7},
		&fault.Early{Place: bare, Addr: "hbm[3]:0x40", First: 7, Work: "AllReduce handle 0 turn 0 of rank 1", Await: "Wait(handle 0)"},
		&fault.Early{Place: bare, Addr: "hbm[3]:0x40", Work: "turn 3 of rank 1"},
		&fault.Unreceived{Place: bare, Dir: "W", From: 0, Count: 2},
		&fault.Unreceived{Place: bare, Dir: "W", From: 0, Count: 2, Sent: "send(E) at lib/ring.go:15",
			Last: "recv(W) #3 at lib/ring.go:17"},
		&fault.Unreceived{Place: bare, Dir: "W", From: 0, Count: 2, Sent: "send(E)", Last: "recv(W) #3",
			Announced: "recv_async(W) #4 at lib/ring.go:16"},
		&fault.RingMemory{Place: bare, Kind: "tcm", Need: unit.Bytes(1 << 20), Have: unit.Bytes(1 << 18)},
		&fault.Panic{Place: bare, Value: errors.New("boom"), Stack: "goroutine 1"},
	} {
		fmt.Fprintf(&b, "%v\n\n", err)
	}
	for _, tt := range deadlocks {
		d := fault.NewDeadlock(tt.world, tt.blocked, nil)
		d.Timed, d.Time = tt.blocked[0].Timed, 400000
		fmt.Fprintf(&b, "--- %s\n%v\n\n", tt.name, d)
	}
	many := make([]fault.Blocked, 40)
	for r := range many {
		many[r] = recv(r, (r+39)%40)
	}
	d := fault.NewDeadlock(60, many, nil)
	d.Rings = []fault.RingEnd{{Rank: 0, Peer: 1, Dir: "E", Sending: true, Mine: 4, Pending: "sent 4 of 9 parts"},
		{Rank: 0, Peer: 1, Dir: "W", Mine: 2, Cached: 3}}
	fmt.Fprintf(&b, "--- many\n%v\n", d)

	words := fault.NewDeadlock(2, []fault.Blocked{word(0, 0, ">= 1", 1), word(1, 0, ">= 1", 0)}, nil)
	words.Rings = []fault.RingEnd{{Rank: 0, Peer: 1, Dir: "E", Sending: true}}
	fmt.Fprintf(&b, "--- rings that no rank uses\n%v\n\n", words)
	big := word(3, -1, "== 7", 2)
	big.Unsigned, big.Of = true, "stream 1 program 0"
	event := fault.Blocked{Place: fault.Place{Rank: 2, Op: "wait_event", Line: "bench/overlap.go:3"}, Of: "stream 4",
		Word: "event ready, which has not happened"}
	for _, d := range []*fault.Deadlock{
		fault.NewStall(3, 2, []fault.Blocked{event, big}, nil),
		fault.NewStall(2, 1, []fault.Blocked{event}, nil),
		fault.NewStall(2, 1, []fault.Blocked{word(0, 0, ">= 1")}, nil),
		fault.NewStall(1, 1, []fault.Blocked{word(0, 0, ">= 1", 0)},
			[]fault.Grid{{Rank: 0, Stream: 2, Kernel: "relay", Programs: 8, Resident: 4, Ended: 1, Waiting: 4}}),
	} {
		fmt.Fprintf(&b, "--- streams\n%v\n\n", d)
	}

	for name, queues := range taskQueues() {
		d := fault.NewStall(4, 4, []fault.Blocked{word(0, 0, ">= 1", 1)}, nil)
		d.Queues = queues
		fmt.Fprintf(&b, "--- %s\n%v\n\n", name, d)
	}

	golden := filepath.Join("testdata", "texts.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

// Operations of the host have no rank.
func TestHostPlace(t *testing.T) {
	if got := (fault.Place{Rank: fault.Host, Op: "host read"}).String(); got != "host read" {
		t.Errorf("got %q", got)
	}
}

func TestIs(t *testing.T) {
	if err := fmt.Errorf("launch: %w", errors.Join(errors.New("close"), &fault.NoData{})); !fault.Is(err) {
		t.Errorf("%v is no fault", err)
	}
	if fault.Is(errors.New("no such file")) || fault.Is(nil) {
		t.Error("anything is a fault")
	}
}

func TestNoPointers(t *testing.T) {
	if got := fault.Pointers(nil, 0); got != "  no rings" {
		t.Errorf("got %q", got)
	}
}

// If all ranks of a cycle of receives have sent, the order of sends is not the cause.
func TestCycleThatHasSent(t *testing.T) {
	ring := func(from, to int, sent uint32) fault.RingEnd {
		return fault.RingEnd{Rank: from, Peer: to, Dir: "E", Sending: true, Mine: sent}
	}
	arrived := func(at, from int, dir string, n uint32) fault.RingEnd {
		return fault.RingEnd{Rank: at, Peer: from, Dir: dir, Cached: n}
	}
	for _, c := range []struct {
		name string
		ends []fault.RingEnd
		want string
	}{
		{"none", []fault.RingEnd{ring(0, 1, 0), ring(1, 0, 0)}, "let one of them send first"},
		{"one", []fault.RingEnd{ring(0, 1, 1), ring(1, 0, 0)}, "let one of them send first"},
		{"both", []fault.RingEnd{ring(0, 1, 1), ring(1, 0, 1)}, "has one receive more than messages sent to it"},
		{"both, by the ring that is awaited", []fault.RingEnd{ring(0, 1, 1), arrived(0, 1, "W", 1), ring(1, 0, 1), arrived(1, 0, "W", 1)},
			"has one receive more than messages sent to it"},
		{"both, by another ring", []fault.RingEnd{ring(0, 1, 1), arrived(0, 1, "E", 1), arrived(0, 1, "W", 0),
			ring(1, 0, 1), arrived(1, 0, "E", 1), arrived(1, 0, "W", 0)}, "in other directions than the receives wait for"},
		{"both, to others", []fault.RingEnd{ring(0, 2, 1), ring(1, 3, 1)}, "in other directions than the receives wait for"},
	} {
		d := fault.NewDeadlock(2, []fault.Blocked{recv(0, 1), recv(1, 0)}, c.ends)
		if !strings.Contains(d.Advice, c.want) {
			t.Errorf("sent by %s: %q, want %q", c.name, d.Advice, c.want)
		}
	}
}

// TestDeadlockOfBlocks: a cycle is one of blocks and not of ranks, and the report names ranks.
func TestDeadlockOfBlocks(t *testing.T) {
	ranks := []int{0, 0, 1, 1, 2}
	of := func(b fault.Blocked, name string) fault.Blocked {
		b.Of = name
		return b
	}
	// Block 0 of rank 0 waits for block 1 of rank 1. That one waits for block 1 of rank 0, which
	// has ended. So there is no cycle, though each rank waits for the other.
	d := fault.NewDeadlockOfBlocks(3, ranks, []fault.Blocked{of(recv(0, 3), "block 0"), of(recv(3, 1), "block 1")}, nil)
	if want := "missing send: rank 0 finished without the send that rank 1 waits for in recv(W)"; len(d.Cycle) > 0 || d.Missing != want {
		t.Errorf("cycle %v, missing %q, want %q", d.Cycle, d.Missing, want)
	}
	if want := []int{2}; !slices.Equal(d.Finished, want) {
		t.Errorf("finished %v, want %v: the others have a block that waits", d.Finished, want)
	}
	rings := []fault.RingEnd{{Rank: 0, Peer: 3, Dir: "W"}, {Rank: 3, Peer: 0, Dir: "E", Sending: true}}
	d = fault.NewDeadlockOfBlocks(3, ranks, []fault.Blocked{of(recv(0, 3), "block 0"), of(recv(3, 0), "block 1")}, rings)
	if want := []int{0, 1}; !slices.Equal(d.Cycle, want) || !slices.Equal(d.Blocked[0].Peers, []int{1}) {
		t.Errorf("cycle %v, want %v; %+v", d.Cycle, want, d.Blocked[0])
	}
	for _, want := range []string{"2 of 5 blocks of 3 ranks cannot go on", "block 1 of rank 1", "rank 0 from W (rank 1)"} {
		if !strings.Contains(d.Error(), want) {
			t.Errorf("no %q in %s", want, d.Error())
		}
	}
}
