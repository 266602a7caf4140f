package race_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
)

// A tiny is a program of a few operations, small enough to try all its schedules. Each rank
// has two cells of memory and two words.
type tiny struct {
	order mem.Ordering
	ops   []tinyOp // of all ranks, rank by rank
	first []int    // of each rank, index into ops
	home  []int    // PE of each rank; two programs may share one
}

type tinyOp struct {
	do         tinyKind
	rank       int
	peer, cell int // memory or word that it concerns
	src        int // own cell that a put reads, or that a get writes
	v          int64
	cmp        tl.Cmp
}

type tinyKind uint8

const (
	tinyLoad tinyKind = iota
	tinyRead          // a load whose value is used at once
	tinyStore
	tinyPut
	tinyPutNBI
	tinyPutSignal
	tinyNotify
	tinySet
	tinyGet
	tinyGetNBI
	tinyWait
	tinyFence
	tinyQuiet
	tinyDrain
	tinyKinds
)

var tinyNames = [...]string{
	"load", "read", "store", "put", "put_nbi", "put_signal", "notify", "set", "get", "get_nbi", "wait", "fence", "quiet", "drain",
}

func (o *tinyOp) String() string {
	return fmt.Sprintf("%s(%d.%d src %d, %v %d)", tinyNames[o.do], o.peer, o.cell, o.src, o.cmp, o.v)
}

func (p *tiny) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", p.order)
	for i := range p.ops {
		fmt.Fprintf(&b, "%d: rank %d on PE %d %v\n", i, p.ops[i].rank, p.home[p.ops[i].rank], &p.ops[i])
	}
	return b.String()
}

func (o *tinyOp) plain() bool { return o.do <= tinyStore }
func (o *tinyOp) puts() bool  { return o.do >= tinyPut && o.do <= tinyPutSignal }
func (o *tinyOp) gets() bool  { return o.do == tinyGet || o.do == tinyGetNBI }

// An operation goes through steps: 0 not begun; then, of a put: 1 begun, 2 source read, 3 data
// there, 4 over (signal there too). Others go from 1 to 4.
const (
	begun = 1
	read  = 2
	there = 3
	over  = 4
)

// tinyState is how far each operation is, and what the words hold.
type tinyState struct {
	step  [16]uint8
	next  [4]uint8
	words [8]int8
}

// flying lists the accesses of an operation that are in flight, with their cell and whether
// they write.
func (p *tiny) flying(s *tinyState, i int, do func(side, cell int, write bool)) {
	o := &p.ops[i]
	if s.step[i] == 0 || s.step[i] == over {
		return
	}
	switch {
	case o.plain():
		do(0, o.peer*2+o.cell, o.do == tinyStore)
	case o.puts():
		if s.step[i] < read {
			do(1, p.home[o.rank]*2+o.src, false)
		}
		if s.step[i] < there {
			do(0, o.peer*2+o.cell, true)
		}
	case o.gets():
		do(0, o.peer*2+o.cell, false)
		do(1, p.home[o.rank]*2+o.src, true)
	}
}

// class of what an operation does at a peer: -1 nothing.
func (o *tinyOp) class(signal bool) int {
	switch {
	case o.do == tinyStore:
		return 0
	case o.puts() && !signal:
		return 1
	case o.do == tinyNotify || o.do == tinySet || o.do == tinyPutSignal && signal:
		return 2
	}
	return -1
}

// orderedOnLink reports whether the effect of i at its peer (its signal, or data) must precede that
// of k. A fence or the machine's promise orders them.
func (p *tiny) orderedOnLink(i int, iSignal bool, k int, kSignal bool) bool {
	a, b := &p.ops[i], &p.ops[k]
	ca, cb := a.class(iSignal), b.class(kSignal)
	if i >= k || a.rank != b.rank || a.peer != b.peer || ca < 0 || cb < 0 {
		return false
	}
	if p.order == mem.InOrder || p.order == mem.ByChannel && ca == cb {
		return true
	}
	for j := i + 1; j < k; j++ {
		if p.ops[j].do == tinyFence {
			return true
		}
	}
	return false
}

// effectDone reports whether the effect of an operation at its peer has taken place.
func effectDone(o *tinyOp, step uint8, signal bool) bool {
	if o.puts() && !signal {
		return step >= there
	}
	return step == over
}

// mayArrive reports whether everything is there that must be there before the effect of k.
func (p *tiny) mayArrive(s *tinyState, k int, signal bool) bool {
	for i := p.first[p.ops[k].rank]; i < k; i++ {
		o := &p.ops[i]
		for _, sig := range [...]bool{false, true} {
			if o.class(sig) >= 0 && p.orderedOnLink(i, sig, k, signal) && !effectDone(o, s.step[i], sig) {
				return false
			}
		}
	}
	return true
}

// own reports whether an earlier load or store of the same rank must be over before access k
// of its cell.
func (p *tiny) ownBusy(s *tinyState, k, cell int) bool {
	for i := p.first[p.ops[k].rank]; i < k; i++ {
		if o := &p.ops[i]; o.plain() && o.peer*2+o.cell == cell && s.step[i] != over {
			return true
		}
	}
	return false
}

// successors calls do with every state that one event leads to, and which it was: the
// operation that began (or ended), or -1.
func (p *tiny) successors(s *tinyState, do func(t tinyState, i int)) {
	for i := range p.ops { // something in flight takes effect
		o, t := &p.ops[i], *s
		switch {
		case s.step[i] == 0 || s.step[i] == over:
			continue
		case o.plain():
			if p.ownBusy(s, i, o.peer*2+o.cell) || o.do == tinyStore && !p.mayArrive(s, i, false) {
				continue
			}
			t.step[i] = over
		case o.gets():
			if p.ownBusy(s, i, p.home[o.rank]*2+o.src) {
				continue
			}
			t.step[i] = over
		case o.puts() && s.step[i] == begun:
			if p.ownBusy(s, i, p.home[o.rank]*2+o.src) {
				continue
			}
			t.step[i] = read
		case o.puts() && s.step[i] == read:
			if !p.mayArrive(s, i, false) {
				continue
			}
			if t.step[i] = over; o.do == tinyPutSignal {
				t.step[i] = there
			}
		default: // a signal
			if !p.mayArrive(s, i, true) {
				continue
			}
			t.step[i] = over
			if w := &t.words[o.peer*2+o.cell]; o.do == tinySet {
				*w = int8(o.v)
			} else {
				*w += int8(o.v)
			}
		}
		do(t, -1)
	}
	for r := range p.first { // a rank goes on
		end := len(p.ops)
		if r+1 < len(p.first) {
			end = p.first[r+1]
		}
		if i := int(s.next[r]); i < end && p.enabled(s, i) {
			t := *s
			t.next[r]++
			switch o := &p.ops[i]; {
			case o.do >= tinyWait:
				t.step[i] = over
			default:
				t.step[i] = begun
			}
			do(t, i)
		}
	}
}

// enabled reports whether the rank of operation i can begin it.
func (p *tiny) enabled(s *tinyState, i int) bool {
	o := &p.ops[i]
	for k := p.first[o.rank]; k < i; k++ {
		e, step := &p.ops[k], s.step[k]
		switch {
		case p.order == mem.Sequential && e.do != tinyLoad && e.do != tinyGetNBI && step != over,
			(e.do == tinyPut || e.do == tinyPutSignal) && step < read, // blocking
			(e.do == tinyRead || e.do == tinyGet) && step != over,     // used at once
			o.do == tinyQuiet && step != over,
			o.do == tinyDrain && e.plain() && step != over:
			return false
		}
	}
	return o.do != tinyWait || o.cmp.Holds(mem.Int64, int64(s.words[p.home[o.rank]*2+o.cell]), o.v)
}

// pair is two accesses by operations that are in flight at the same time in some schedule.
type pair [2]int

// outcome holds what all schedules come to.
type outcome struct {
	pairs map[pair]bool
	hangs bool // some schedule does not end
	large bool
}

func (p *tiny) explore(most int) outcome {
	out := outcome{pairs: map[pair]bool{}}
	start := tinyState{}
	for r, f := range p.first {
		start.next[r] = uint8(f)
	}
	seen := map[tinyState]bool{start: true}
	for stack := []tinyState{start}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		p.conflicts(&s, out.pairs)
		any := false
		p.successors(&s, func(t tinyState, _ int) {
			any = true
			if !seen[t] {
				seen[t] = true
				stack = append(stack, t)
			}
		})
		if !any {
			for i := range p.ops {
				out.hangs = out.hangs || s.step[i] != over
			}
		}
		if len(seen) > most {
			out.large = true
			return out
		}
	}
	return out
}

// The sides of an operation: where it goes, its own memory, its signal.
const (
	destination = iota
	source
	signal
)

// waits reports whether side x of operation k cannot end before side e of the earlier i. It waits
// by itself or through operations between them.
func (p *tiny) waits(i, e, k, x int) bool {
	if i == k {
		return e == x || p.ops[i].puts() && (e == source || x == signal)
	}
	a := &p.ops[i]
	if a.puts() { // its steps follow one another
		if e == source && p.waits(i, destination, k, x) || e == destination && a.do == tinyPutSignal && p.waits(i, signal, k, x) {
			return true
		}
	}
	for j := i + 1; j <= k; j++ {
		b := &p.ops[j]
		if a.plain() {
			here := a.peer*2 + a.cell
			if b.plain() && b.peer*2+b.cell == here && p.waits(j, destination, k, x) ||
				(b.puts() || b.gets()) && p.home[b.rank]*2+b.src == here && p.waits(j, source, k, x) {
				return true
			}
		}
		for _, side := range [...]int{destination, signal} {
			if e != source && p.orderedOnLink(i, e == signal, j, side == signal) && p.waits(j, side, k, x) {
				return true
			}
		}
	}
	return false
}

// conflicts notes the accesses in flight that touch the same cell and that nothing keeps in
// order.
func (p *tiny) conflicts(s *tinyState, pairs map[pair]bool) {
	for i := range p.ops {
		p.flying(s, i, func(iSide, iCell int, iWrite bool) {
			for k := i + 1; k < len(p.ops); k++ {
				p.flying(s, k, func(kSide, kCell int, kWrite bool) {
					a, b := &p.ops[i], &p.ops[k]
					if iCell != kCell || !iWrite && !kWrite {
						return
					}
					if a.rank == b.rank && p.waits(i, iSide, k, kSide) {
						return
					}
					pairs[pair{i, k}] = true
				})
			}
		})
	}
}

// account writes the history of one schedule, chosen by chance, and is false if it does not
// end.
func (p *tiny) account(l *history.Log, rng *rand.Rand) bool {
	s := tinyState{}
	agent := func(r int) history.Agent {
		return l.Agent(history.AgentInfo{Rank: r, PE: p.home[r], Stream: -1, Program: -1})
	}
	for r, f := range p.first {
		s.next[r] = uint8(f)
		l.Add(history.Record{Kind: history.Start, Agent: agent(r)})
	}
	ids := make([]uint64, len(p.ops))
	for {
		type move struct {
			to tinyState
			i  int
		}
		var moves []move
		p.successors(&s, func(t tinyState, i int) { moves = append(moves, move{t, i}) })
		if len(moves) == 0 {
			break
		}
		m := moves[rng.IntN(len(moves))]
		if m.i >= 0 {
			p.record(l, &s, m.i, ids, agent)
		}
		for i := range p.ops { // what the rank waits for, it knows of
			o := &p.ops[i]
			switch {
			case (o.do == tinyPut || o.do == tinyPutSignal) && s.step[i] < read && m.to.step[i] >= read:
				l.Add(history.Record{Kind: history.Complete, Agent: agent(o.rank), Op: ids[i], Done: history.Source})
			case (o.do == tinyRead || o.do == tinyGet) && s.step[i] < over && m.to.step[i] == over:
				l.Add(history.Record{Kind: history.Complete, Agent: agent(o.rank), Op: ids[i]})
			}
		}
		s = m.to
	}
	for i := range p.ops {
		if s.step[i] != over {
			return false
		}
	}
	for r := range p.first {
		l.Add(history.Record{Kind: history.Join, Agent: history.Host, Other: agent(r)})
	}
	return true
}

// record adds operation i of a schedule to the account.
func (p *tiny) record(l *history.Log, s *tinyState, i int, ids []uint64, agent func(int) history.Agent) {
	o := &p.ops[i]
	cell := func(r, c int) history.Range { return at(r, int64(c)*8, 8).rng() }
	line := ""
	if !l.OmitLines() || o.do == tinySet || o.do == tinyWait && o.cmp != tl.GE {
		line = fmt.Sprint(i)
	}
	rec := history.Record{
		Agent: agent(o.rank), Call: tinyNames[o.do], Line: line, Range: cell(o.peer, o.cell), Peer: int32(o.peer),
		NBI: o.do == tinyPutNBI || o.do == tinyGetNBI,
	}
	word := history.Record{
		Agent: rec.Agent, Call: rec.Call, Line: rec.Line, Peer: rec.Peer, Kind: history.Notify, Update: tl.SignalAdd, Value: o.v,
		Word: wordOf(o.peer, o.cell), Type: mem.Int64,
	}
	if o.do < tinyNotify || o.gets() {
		ids[i] = l.NextOp()
		rec.Op = ids[i]
	}
	switch o.do {
	case tinyLoad, tinyRead:
		rec.Kind = history.Load
	case tinyStore:
		rec.Kind = history.Store
	case tinyPut, tinyPutNBI, tinyPutSignal:
		rec.Kind, rec.Source = history.Put, cell(p.home[o.rank], o.src)
	case tinyGet, tinyGetNBI:
		rec.Kind, rec.Source = history.Get, cell(p.home[o.rank], o.src)
	case tinyNotify, tinySet:
		if rec = word; o.do == tinySet {
			rec.Update = tl.SignalSet
		}
	case tinyWait:
		rec = word
		rec.Kind, rec.Cmp, rec.Word, rec.Seen = history.Wait, o.cmp, wordOf(p.home[o.rank], o.cell), int64(s.words[p.home[o.rank]*2+o.cell])
	case tinyFence:
		rec.Kind = history.Fence
	case tinyQuiet:
		rec.Kind = history.Quiet
	case tinyDrain:
		rec.Kind = history.Drain
	}
	l.Add(rec)
	if o.do == tinyPutSignal {
		word.Carry, word.Op = true, rec.Op
		l.Add(word)
	}
}
