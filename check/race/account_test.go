package race_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"kernbench/check/race"
	_ "kernbench/internal/fewcollections"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
)

// account writes histories as executors do. Every notification takes effect at once, so that a
// test chooses the order of this run by the order of its calls.
type account struct {
	tb     testing.TB
	d      *race.Detector
	log    *history.Log
	ranks  int
	values map[history.Word]int64
	met    []int64
	seqs   map[uint32][2]uint32
	line   string // of all records; "": where the test is
	added  int
}

// span is bytes [lo, lo+n) of the data of a rank.
type span struct {
	rank  int
	lo, n int64
	rows  int32
	pitch int64
}

func at(rank int, lo, n int64) span { return span{rank: rank, lo: lo, n: n} }

func (s span) rng() history.Range {
	return history.Range{Addr: mem.At(mem.HBM, s.rank, s.lo), Bytes: s.n, Rows: s.rows, Pitch: s.pitch}
}

// wordOf is control word i of a rank.
func wordOf(rank, i int) history.Word { return mem.At(mem.HBM, rank, 1<<30+8*int64(i)) }

// meeting is where the words of barriers begin.
const meeting = 1 << 20

func newAccount(tb testing.TB, d *race.Detector, ranks int) *account {
	h := &account{
		tb: tb, d: d, log: d.Log(), ranks: ranks, values: map[history.Word]int64{},
		met: make([]int64, ranks), seqs: map[uint32][2]uint32{},
	}
	h.launch()
	return h
}

func (h *account) launch() {
	for r := range h.ranks {
		h.log.Add(history.Record{Kind: history.Start, Agent: h.agent(r), Other: history.Host})
	}
}

func (h *account) end() {
	for r := range h.ranks {
		h.log.Add(history.Record{Kind: history.Join, Agent: history.Host, Other: h.agent(r)})
	}
}

func (h *account) agent(r int) history.Agent {
	return h.log.Agent(history.AgentInfo{Rank: r, PE: r, Stream: -1, Program: -1})
}

// add appends a record of a rank, with the line of the test as its place.
func (h *account) add(r int, call string, rec history.Record) {
	rec.Agent, rec.Call, rec.Line = h.agent(r), call, h.line
	h.added++
	if rec.Line == "" {
		for i := 2; ; i++ {
			_, file, line, ok := runtime.Caller(i)
			if !ok {
				break
			}
			if len(file) < 15 || file[len(file)-15:] != "account_test.go" {
				rec.Line = fmt.Sprintf("kernel.go:%d", line)
				break
			}
		}
	}
	h.log.Add(rec)
}

func (h *account) load(r int, m span) uint64 {
	op := h.log.NextOp()
	h.add(r, "load", history.Record{Kind: history.Load, Op: op, Range: m.rng()})
	return op
}

func (h *account) use(r int, op uint64) {
	h.add(r, "add", history.Record{Kind: history.Complete, Op: op})
}

// read is a load whose result is used at once.
func (h *account) read(r int, m span) { h.use(r, h.load(r, m)) }

func (h *account) store(r int, m span) {
	h.add(r, "store", history.Record{Kind: history.Store, Op: h.log.NextOp(), Range: m.rng()})
}

func (h *account) put(r int, dst, src span) uint64 {
	op := h.putAs(r, "put", dst, src, false)
	h.add(r, "put", history.Record{Kind: history.Complete, Op: op, Done: history.Source})
	return op
}

func (h *account) putNBI(r int, dst, src span) uint64 { return h.putAs(r, "put_nbi", dst, src, true) }

func (h *account) putAs(r int, call string, dst, src span, nbi bool) uint64 {
	return h.putOf(r, call, dst, src, history.Record{NBI: nbi})
}

// putCarrying returns a put that a notification follows.
func (h *account) putCarrying(r int, call string, dst, src span, nbi bool, w history.Word, v int64) uint64 {
	return h.putOf(r, call, dst, src, history.Record{NBI: nbi, Carry: true, Word: w, Type: mem.Int64, Update: tl.SignalAdd, Value: v})
}

func (h *account) putOf(r int, call string, dst, src span, rec history.Record) uint64 {
	rec.Kind, rec.Op, rec.Peer, rec.Range, rec.Source = history.Put, h.log.NextOp(), int32(dst.rank), dst.rng(), src.rng()
	h.add(r, call, rec)
	return rec.Op
}

// putTensor returns a put whose source is no memory.
func (h *account) putTensor(r int, dst span) uint64 { return h.putAs(r, "put", dst, span{}, false) }

func (h *account) combine(r int, dst span, float bool) {
	h.add(r, "put_combine", history.Record{
		Kind: history.Put, Op: h.log.NextOp(), Peer: int32(dst.rank), Range: dst.rng(), Atomic: true, Float: float,
	})
}

func (h *account) putSignal(r int, dst, src span, w history.Word, v int64) {
	op := h.putCarrying(r, "put_signal", dst, src, false, w, v)
	h.update(r, "put_signal", w, history.Record{Kind: history.Notify, Op: op, Carry: true, Update: tl.SignalAdd, Value: v})
	h.add(r, "put_signal", history.Record{Kind: history.Complete, Op: op, Done: history.Source})
}

func (h *account) putSignalNBI(r int, dst, src span, w history.Word, v int64) uint64 {
	op := h.putCarrying(r, "put_signal_nbi", dst, src, true, w, v)
	h.update(r, "put_signal_nbi", w, history.Record{Kind: history.Notify, Op: op, Carry: true, Update: tl.SignalAdd, Value: v})
	return op
}

// packet puts data whose lines carry a flag.
func (h *account) packet(r int, dst, src span, w history.Word, flag int64) {
	op := h.putOf(r, "put_ll", dst, src, history.Record{
		Carry: true, Word: w, Type: mem.Int64, Update: tl.SignalSet, Value: flag, Lines: tl.LineLL,
	})
	h.update(r, "put_ll", w, history.Record{
		Kind: history.Notify, Op: op, Carry: true, Update: tl.SignalSet, Value: flag, Lines: tl.LineLL,
	})
	h.add(r, "put_ll", history.Record{Kind: history.Complete, Op: op, Done: history.Source})
}

// waitPacket is the end of a wait of a rank for n lines of a packet, from line from on; n 0: for
// all.
func (h *account) waitPacket(r int, w history.Word, flag int64, from, n int32) {
	if h.values[w] != flag {
		h.tb.Helper()
		h.tb.Fatalf("rank %d: %v holds %d: the wait for flag %d would not be over", r, w, h.values[w], flag)
	}
	h.add(r, "wait_ll", history.Record{
		Kind: history.Wait, Word: w, Type: mem.Int64, Cmp: tl.EQ, Value: flag, Seen: flag, Lines: tl.LineLL, From: from, Count: n,
	})
}

func (h *account) get(r int, dst, src span) {
	op := h.getNBI(r, dst, src)
	h.add(r, "get", history.Record{Kind: history.Complete, Op: op})
}

func (h *account) getNBI(r int, dst, src span) uint64 {
	op := h.log.NextOp()
	h.add(r, "get", history.Record{Kind: history.Get, Op: op, Peer: int32(src.rank), Range: src.rng(), Source: dst.rng()})
	return op
}

func (h *account) update(r int, call string, w history.Word, rec history.Record) {
	rec.Word, rec.Peer, rec.Type = w, int32(w.Unit()), mem.Int64
	h.add(r, call, rec)
	if rec.Update == tl.SignalSet {
		h.values[w] = rec.Value
	} else {
		h.values[w] += rec.Value
	}
}

func (h *account) notify(r int, w history.Word, v int64) {
	h.update(r, "notify", w, history.Record{Kind: history.Notify, Update: tl.SignalAdd, Value: v})
}

func (h *account) set(r int, w history.Word, v int64) {
	h.update(r, "notify", w, history.Record{Kind: history.Notify, Update: tl.SignalSet, Value: v})
}

// wait is the end of a wait for word i of the rank itself.
func (h *account) wait(r, i int, cmp tl.Cmp, v int64) { h.waitAs(r, "wait_until", i, cmp, v) }

func (h *account) waitAs(r int, call string, i int, cmp tl.Cmp, v int64) {
	h.tb.Helper()
	h.waitAt(r, call, wordOf(r, i), cmp, v)
}

func (h *account) waitAt(r int, call string, w history.Word, cmp tl.Cmp, v int64) {
	if !cmp.Holds(mem.Int64, h.values[w], v) {
		h.tb.Helper()
		h.tb.Fatalf("rank %d: %v holds %d: the wait for %v %d would not be over", r, w, h.values[w], cmp, v)
	}
	h.add(r, call, history.Record{Kind: history.Wait, Word: w, Type: mem.Int64, Cmp: cmp, Value: v, Seen: h.values[w]})
}

func (h *account) fetchAdd(r int, w history.Word, v int64) int64 {
	old := h.values[w]
	h.add(r, "fetch_add", history.Record{
		Kind: history.RMW, Word: w, Peer: int32(w.Unit()), Type: mem.Int64, Update: tl.SignalAdd, Value: v, Seen: old, Wrote: true,
	})
	h.values[w] += v
	return old
}

func (h *account) cas(r int, w history.Word, expect, v int64) bool {
	old := h.values[w]
	if old == expect {
		h.values[w] = v
	}
	h.add(r, "compare_swap", history.Record{
		Kind: history.RMW, Word: w, Peer: int32(w.Unit()), Type: mem.Int64, Update: tl.SignalSet, Value: v, Seen: old, Wrote: old == expect,
	})
	return old == expect
}

func (h *account) loadScalar(r, i int) { h.readWord(r, i, false) }
func (h *account) peek(r, i int)       { h.readWord(r, i, true) }

func (h *account) readWord(r, i int, changing bool) {
	w := wordOf(r, i)
	h.add(r, "load_scalar", history.Record{Kind: history.Read, Word: w, Type: mem.Int64, Seen: h.values[w], NBI: changing})
}

func (h *account) poll(r, i int, cmp tl.Cmp, v int64) {
	w := wordOf(r, i)
	h.add(r, "test", history.Record{Kind: history.Poll, Word: w, Type: mem.Int64, Cmp: cmp, Value: v, Seen: h.values[w]})
}

func (h *account) fence(r int) { h.add(r, "fence", history.Record{Kind: history.Fence}) }
func (h *account) quiet(r int) { h.add(r, "quiet", history.Record{Kind: history.Quiet}) }
func (h *account) drain(r int) { h.add(r, "pipe_barrier", history.Record{Kind: history.Drain}) }

// sync is a dissemination barrier of all ranks.
func (h *account) sync() {
	for k := 0; 1<<k < h.ranks; k++ {
		for r := range h.ranks {
			h.update(r, "sync", wordOf((r+1<<k)%h.ranks, meeting+k), history.Record{Kind: history.Notify, Update: tl.SignalAdd, Value: 1})
		}
		for r := range h.ranks {
			h.waitAs(r, "sync", meeting+k, tl.GE, h.met[r]+1)
		}
	}
	for r := range h.ranks {
		h.met[r]++
	}
}

func (h *account) barrier() {
	for r := range h.ranks {
		h.quiet(r)
	}
	h.sync()
}

// send puts one slot message into ring g of two slots, recv takes it, credit gives it back.
func (h *account) send(r int, g uint32) {
	s := h.seqs[g]
	h.add(r, "send", history.Record{Kind: history.Send, Op: h.log.NextOp(), Ring: g, Seq: s[0], Slots: 2})
	h.seqs[g] = [2]uint32{s[0] + 1, s[1]}
}

func (h *account) recv(r int, g uint32) uint32 {
	s := h.seqs[g]
	h.add(r, "recv", history.Record{Kind: history.Recv, Ring: g, Seq: s[1]})
	h.seqs[g] = [2]uint32{s[0], s[1] + 1}
	return s[1]
}

func (h *account) useSlot(r int, g, seq uint32) {
	h.add(r, "store", history.Record{Kind: history.Use, Ring: g, Seq: seq})
}

func (h *account) credit(r int, g, seq uint32) {
	h.add(r, "recv", history.Record{Kind: history.Credit, Ring: g, Seq: seq})
}

// judged runs a program until no further pass is asked for.
func judged(tb testing.TB, ranks int, o mem.Ordering, program func(h *account)) *race.Report {
	tb.Helper()
	rep, _ := judgedPasses(tb, ranks, o, program)
	return rep
}

// judgedPasses judges a program, with joint events and without. It returns the passes without.
func judgedPasses(tb testing.TB, ranks int, o mem.Ordering, program func(h *account)) (*race.Report, int) {
	tb.Helper()
	rep, passes := judgedAs(tb, ranks, o, program, func(*race.Detector) {})
	if joint, _ := judgedAs(tb, ranks, o, program, (*race.Detector).JointAll); !slices.Equal(reported(joint), reported(rep)) {
		tb.Errorf("with joint events %q, without %q", reported(joint), reported(rep))
	}
	return rep, passes
}

func judgedAs(tb testing.TB, ranks int, o mem.Ordering, program func(h *account), change func(*race.Detector)) (*race.Report, int) {
	tb.Helper()
	d := race.New(race.Options{Order: o})
	for pass := 1; ; pass++ {
		change(d)
		h := newAccount(tb, d, ranks)
		program(h)
		h.end()
		rep := d.Report()
		if !rep.Again {
			return rep, pass
		}
		if pass > 20 {
			tb.Fatal("passes without end")
		}
		d = d.Next()
	}
}

// kinds lists the hazards of a report in short: "race store load".
func kinds(r *race.Report) []string {
	var s []string
	for _, h := range r.Hazards {
		s = append(s, fmt.Sprintf("%v %s %s", h.Kind, h.First.Call, h.Second.Call))
	}
	slices.Sort(s)
	return slices.Compact(s)
}
