package race_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// act is one operation of a random program.
type act struct {
	do    what
	peer  int
	block int
	word  int
	count int64
}

type what uint8

const (
	doPut     what = iota // the own source block -> block of peer
	doPutNBI              //
	doSigned              // the same with a signal: word of peer grows
	doTensor              // a loaded tensor -> block of peer
	doStage               // the own source -> block of the own copy, by a store
	doPull                // block of peer is added to the accumulator, by a remote load
	doTake                // block of the own copy is added to the accumulator
	doGet                 // block of peer -> block of the own copy, by a get
	doRefresh             // the source block gets new values
	doNotify              // word of peer grows
	doWait                // word >= count
	doFence
	doQuiet
	doPipe
	doBarrier // of the team
)

var actNames = [...]string{
	"put", "put_nbi", "put_signal", "put tensor", "stage", "pull", "take", "get", "refresh", "notify", "wait",
	"fence", "quiet", "pipe", "barrier",
}

func (a act) String() string {
	return fmt.Sprintf("%s peer %d block %d word %d count %d", actNames[a.do], a.peer, a.block, a.word, a.count)
}

// orders reports whether an operation is there only for order.
func (a act) orders() bool { return a.do >= doWait && a.do <= doPipe }

// program holds what each rank does.
type program struct {
	ranks, blocks, words int
	acts                 [][]act
}

func (p *program) String() string {
	var b strings.Builder
	for r, acts := range p.acts {
		fmt.Fprintf(&b, "rank %d:\n", r)
		for i, a := range acts {
			fmt.Fprintf(&b, "  %d %v\n", i, a)
		}
	}
	return b.String()
}

const blockLen = 4

func (p *program) layout() *mem.Layout {
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "w", Parts: []mem.Part{
		mem.DataPart("data", dtype.F32, p.blocks*blockLen), mem.SignalPart("words", mem.Int32, p.words),
	}}})
	if err != nil {
		panic(err)
	}
	return l
}

// kernel performs a program without the operations that skip names.
func (p *program) kernel(skipRank, skip int) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		data, words := c.Data(w, "w.data"), c.Signals(w, "w.words")
		at := func(b int) tl.Sym { return data.Slice(b*blockLen, blockLen) }
		source, out := a.Shard(c.Rank()).Slice(0, blockLen), a.Shard(c.Rank()).Slice(blockLen, blockLen)
		acc := c.Full(tl.Dims(blockLen), dtype.F32, 0)
		step := 0.0
		for i, x := range p.acts[c.Rank()] {
			if c.Rank() == skipRank && i == skip {
				continue
			}
			switch x.do {
			case doPut:
				c.Put(at(x.block), x.peer, source)
			case doPutNBI:
				c.PutNBI(at(x.block), x.peer, source)
			case doSigned:
				c.PutSignal(at(x.block), x.peer, source, words.At(x.word), tl.SignalAdd, 1)
			case doTensor:
				c.PutTensor(at(x.block), x.peer, c.Load(source))
			case doStage:
				c.Store(c.Local(at(x.block)), c.Load(source))
			case doPull:
				acc = c.Add(c.Scale(dtype.Mul, acc, 3), c.Load(c.At(at(x.block), x.peer)))
			case doTake:
				acc = c.Add(c.Scale(dtype.Mul, acc, 3), c.Load(c.Local(at(x.block))))
			case doGet:
				c.Get(c.Local(at(x.block)), at(x.word), x.peer) // word is the block there
			case doRefresh:
				step++
				c.Store(source, c.Full(tl.Dims(blockLen), dtype.F32, step+10*float64(c.Rank())))
			case doNotify:
				c.Notify(words.At(x.word), x.peer, tl.SignalAdd, 1)
			case doWait:
				c.WaitUntil(words.At(x.word), tl.GE, x.count)
			case doFence:
				c.Fence()
			case doQuiet:
				c.Quiet()
			case doPipe:
				c.PipeBarrier()
			case doBarrier:
				c.Barrier(w.Team)
			}
		}
		c.Store(out, acc)
	}
}

// generate makes a program whose order is complete. In each round, ranks give each other blocks in
// random ways, each with the order that it needs. Then all synchronize.
func generate(rng *rand.Rand) *program {
	n := 2 + rng.IntN(3)
	p := &program{ranks: n, blocks: n + 1, words: 3 * n, acts: make([][]act, n)}
	add := func(r int, acts ...act) { p.acts[r] = append(p.acts[r], acts...) }
	updates := make([][]int64, n) // increments of word [rank][word]
	for r := range updates {
		updates[r] = make([]int64, p.words)
	}
	for range 1 + rng.IntN(3) {
		for r := range n {
			add(r, act{do: doRefresh}, act{do: doPipe})
		}
		for s := range n {
			for d := range n {
				if s == d || rng.IntN(3) == 0 {
					continue
				}
				b, word := s, s // block s and word s of d are s's
				if rng.IntN(3) == 0 {
					// d pulls what s has staged in block n of its own copy, or gets it.
					if !slices.ContainsFunc(p.acts[s][lastMeeting(p.acts[s]):], func(a act) bool { return a.do == doStage }) {
						add(s, act{do: doStage, block: n}, act{do: doPipe})
					}
					updates[d][word]++
					add(s, act{do: doNotify, peer: d, word: word})
					add(d, act{do: doWait, word: word, count: updates[d][word]})
					if rng.IntN(2) == 0 {
						add(d, act{do: doPull, peer: s, block: n})
					} else {
						add(d, act{do: doGet, peer: s, block: b, word: n}, act{do: doTake, block: b})
					}
					continue
				}
				how := []what{doPut, doPutNBI, doSigned, doTensor}[rng.IntN(4)]
				updates[d][word]++
				if how == doSigned {
					add(s, act{do: doSigned, peer: d, block: b, word: word})
				} else {
					order := doFence
					if rng.IntN(2) == 0 {
						order = doQuiet
					}
					add(s, act{do: how, peer: d, block: b}, act{do: order}, act{do: doNotify, peer: d, word: word})
				}
				add(d, act{do: doWait, word: word, count: updates[d][word]}, act{do: doTake, block: b})
			}
		}
		if rng.IntN(2) == 0 {
			for r := range n {
				add(r, act{do: doBarrier})
			}
			continue
		}
		for r := range n {
			add(r, act{do: doQuiet})
			for q := range n {
				if q != r {
					updates[q][n+r]++
					add(r, act{do: doNotify, peer: q, word: n + r})
				}
			}
		}
		for r := range n {
			for q := range n {
				if q != r {
					add(r, act{do: doWait, word: n + q, count: updates[r][n+q]})
				}
			}
		}
	}
	return p
}

// lastMeeting returns where the round began that the last operation belongs to.
func lastMeeting(acts []act) int {
	for i := len(acts) - 1; i >= 0; i-- {
		if acts[i].do == doRefresh {
			return i
		}
	}
	return 0
}

// run performs a program on the mock executor, and judges it when asked to.
func (p *program) run(t *testing.T, k tl.Kernel, seed uint64, judge bool) ([][]float64, *race.Report) {
	t.Helper()
	cfg := kerneltest.Config{World: p.ranks, DType: dtype.F32, Layout: p.layout(), Seed: seed}
	for range p.ranks {
		cfg.Inputs = append(cfg.Inputs, make([]float64, 2*blockLen))
	}
	if judge {
		out, report, err := kerneltest.Races(k, cfg)
		if err != nil {
			t.Fatalf("%v\n%v", err, p)
		}
		return out, report
	}
	out, err := kerneltest.Try(k, cfg)
	if err != nil {
		t.Fatalf("%v\n%v", err, p)
	}
	return out, nil
}

func sameOutputs(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal) }

// Programs whose order is complete are not reported, and give the same bytes in every schedule.
// Without any one of the operations that order, a program is reported, or its outcome does not
// depend on the schedule after all.
func TestRandomPrograms(t *testing.T) {
	programs, schedules := 12, uint64(25)
	if exhaustive.On() {
		programs, schedules = 60, 100
	}
	removed, reported := 0, 0
	for i := range programs {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		p := generate(rng)
		want, report := p.run(t, p.kernel(-1, -1), 0, true)
		if report.Total != 0 {
			t.Fatalf("program %d: reported, but its order is complete:\n%v\n%v", i, report.Hazards[0], p)
		}
		for seed := range schedules {
			if got, _ := p.run(t, p.kernel(-1, -1), seed+1, false); !sameOutputs(got, want) {
				t.Fatalf("program %d, schedule %d: %v, else %v\n%v", i, seed+1, got, want, p)
			}
		}
		for r, acts := range p.acts {
			for k, a := range acts {
				if !a.orders() {
					continue
				}
				removed++
				_, report := p.run(t, p.kernel(r, k), 0, true)
				if report.Total > 0 {
					reported++
					continue
				}
				for seed := range schedules {
					if got, _ := p.run(t, p.kernel(r, k), seed+1, false); !sameOutputs(got, want) {
						t.Fatalf("program %d without operation %d (%v) of rank %d: no report, but schedule %d gives %v, else %v\n%v",
							i, k, a, r, seed+1, got, want, p)
					}
				}
			}
		}
	}
	t.Logf("%d programs, %d operations removed: %d reported, the others not needed", programs, removed, reported)
	if reported == 0 || reported == removed {
		t.Errorf("%d of %d removals reported: the programs say too little", reported, removed)
	}
}
