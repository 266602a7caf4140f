package mock_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kernbench/dtype"
	"kernbench/fault"
	_ "kernbench/internal/fixedseed"
	"kernbench/kerneltest"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// A program is a list of steps for each rank, over a stack of vectors: what the random
// tests below are made of. Vectors are of int32, so that sums are exact.
type program struct {
	world, slots int
	slotBytes    int64
	elems        int
	steps        [][]step
}

type step struct {
	kind stepKind
	dir  tl.Dir
	n    int // of send: elements of the prefix that is sent; of recv: elements expected
}

type stepKind uint8

const (
	doSend  stepKind = iota // a prefix of the top of the stack
	doRecv                  // onto the stack
	doAny                   // undirected, onto the stack
	doAdd                   // the shorter of the two topmost to the prefix of the other
	doStore                 // a prefix of the top into the shard
	doLoad                  // the shard onto the stack
	doPost                  // a receive that is waited for at once
	numStepKinds
)

// perform is the kernel of each rank. It is no method: of those of this package lines are not
// reported, which are the executor's.
//
//go:noinline
func perform(p *program, c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	acc := c.Load(mine) // the sum of all that came
	top := acc
	for _, s := range p.steps[c.Rank()] {
		switch s.kind {
		case doSend:
			c.Send(s.dir, top.Slice(0, min(s.n, top.Len())))
		case doRecv:
			top = c.Recv(s.dir, tl.Dims(s.n), a.DType)
		case doAny:
			top = c.Recv(tl.AnyDir, tl.Dims(s.n), a.DType)
		case doAdd:
			n := min(acc.Len(), top.Len())
			acc = c.Add(acc.Slice(0, n), top.Slice(0, n))
			top = acc
		case doStore:
			n := min(top.Len(), mine.Len())
			c.Store(mine.Slice(0, n), top.Slice(0, n))
		case doLoad:
			top = c.Load(mine)
		case doPost:
			top = c.Wait(c.RecvAsync(s.dir, tl.Dims(s.n), a.DType))
		}
	}
}

func (p *program) run() ([][]float64, error) {
	in := make([][]float64, p.world)
	for r := range in {
		for i := range p.elems {
			in[r] = append(in[r], float64(1000*r+i))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o, err := kerneltest.Observe(ctx, func(c *tl.Context, a tl.Args) { perform(p, c, a) }, kerneltest.Config{
		Inputs: in, DType: dtype.I32, Slots: p.slots, SlotBytes: p.slotBytes, Scratch: 1 << 16,
	})
	if err != nil {
		return nil, err
	}
	return o.Outputs, nil
}

// reference runs the program on queues without bounds, in any order that makes progress;
// it knows no executor. ok is false when it cannot end.
func (p *program) reference() (shards [][]int, ok bool) {
	type rankState struct {
		mine, acc, top []int
		at             int
	}
	ranks := make([]rankState, p.world)
	queues := map[[2]int][][]int{} // by sender and direction
	peer := func(r int, d tl.Dir) int {
		if d == tl.East {
			return (r + 1) % p.world
		}
		return (r + p.world - 1) % p.world
	}
	back := map[tl.Dir]tl.Dir{tl.East: tl.West, tl.West: tl.East}
	for r := range ranks {
		for i := range p.elems {
			ranks[r].mine = append(ranks[r].mine, 1000*r+i)
		}
		ranks[r].acc = slices.Clone(ranks[r].mine)
		ranks[r].top = ranks[r].acc
	}
	for moved := true; moved; {
		moved = false
		for r := range ranks {
			s := &ranks[r]
			for s.at < len(p.steps[r]) {
				st := p.steps[r][s.at]
				switch st.kind {
				case doSend:
					q := [2]int{r, int(st.dir)}
					queues[q] = append(queues[q], slices.Clone(s.top[:min(st.n, len(s.top))]))
				case doRecv, doPost:
					q := [2]int{peer(r, st.dir), int(back[st.dir])}
					if len(queues[q]) == 0 {
						goto blocked
					}
					s.top, queues[q] = queues[q][0], queues[q][1:]
				case doAdd:
					n := min(len(s.acc), len(s.top))
					sum := make([]int, n)
					for i := range sum {
						sum[i] = s.acc[i] + s.top[i]
					}
					s.acc, s.top = sum, sum
				case doStore:
					copy(s.mine, s.top)
				case doLoad:
					s.top = slices.Clone(s.mine)
				}
				s.at++
				moved = true
			}
		blocked:
		}
	}
	for r := range ranks {
		if ranks[r].at < len(p.steps[r]) {
			return nil, false
		}
		shards = append(shards, ranks[r].mine)
	}
	for _, q := range queues {
		if len(q) > 0 {
			return nil, false
		}
	}
	return shards, true
}

// matched draws a program in which every message is received: the ranks take rounds, in each of
// which some links carry a message. All send before they receive, at most one message per ring, so
// that any number of slots is enough. Sent data were computed or loaded, not received, so that no
// slot is held when it is needed.
func matched(t *rapid.T) *program {
	p := &program{
		world:     rapid.IntRange(1, 5).Draw(t, "world"),
		slots:     rapid.IntRange(1, 3).Draw(t, "slots"),
		slotBytes: int64(rapid.SampledFrom([]int{8, 12, 64}).Draw(t, "slotBytes")),
		elems:     rapid.IntRange(1, 9).Draw(t, "elems"),
	}
	p.steps = make([][]step, p.world)
	add := func(r int, s step) { p.steps[r] = append(p.steps[r], s) }
	for range rapid.IntRange(0, 6).Draw(t, "rounds") {
		n := rapid.IntRange(0, p.elems).Draw(t, "n")
		dirs := rapid.SampledFrom([][]tl.Dir{{tl.East}, {tl.West}, {tl.East, tl.West}}).Draw(t, "dirs")
		for r := range p.world {
			add(r, step{kind: doLoad})
			for _, d := range dirs {
				add(r, step{kind: doSend, dir: d, n: n})
			}
		}
		for r := range p.world {
			for _, d := range dirs {
				kind := rapid.SampledFrom([]stepKind{doRecv, doPost}).Draw(t, "kind")
				add(r, step{kind: kind, dir: map[tl.Dir]tl.Dir{tl.East: tl.West, tl.West: tl.East}[d], n: n})
				if n == p.elems {
					add(r, step{kind: doAdd})
				}
				add(r, step{kind: doStore})
			}
			if rapid.Bool().Draw(t, "release") {
				continue
			}
			add(r, step{kind: doLoad})
		}
	}
	return p
}

// With slots for a round and one to hold, a matched program ends, and as the reference
// says.
func TestMatchedProgramsEndRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := matched(t)
		want, ok := p.reference()
		if !ok {
			t.Fatalf("the reference does not end: the generator is wrong\n%+v", p)
		}
		p.slots = max(p.slots, 2)
		got, err := p.run()
		if err != nil {
			t.Fatalf("%v\n%+v", err, p)
		}
		compare(t, p, got, want)
	})
}

func compare(t *rapid.T, p *program, got [][]float64, want [][]int) {
	for r := range got {
		for i, v := range got[r] {
			if int(v) != want[r][i] {
				t.Fatalf("rank %d element %d: %v, want %d\n%+v", r, i, v, want[r][i], p)
			}
		}
	}
}

// Any program gives a result or an error of a known type, the same one every time. Where the
// unbounded reference does not end, it gives an error.
func TestAnyProgramEndsOrSaysWhy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &program{
			world: rapid.IntRange(1, 4).Draw(t, "world"), slots: rapid.IntRange(1, 3).Draw(t, "slots"),
			slotBytes: int64(rapid.SampledFrom([]int{8, 64}).Draw(t, "slotBytes")), elems: rapid.IntRange(1, 5).Draw(t, "elems"),
		}
		directed := true
		for range p.world {
			var ss []step
			for range rapid.IntRange(0, 8).Draw(t, "steps") {
				s := step{
					kind: rapid.SampledFrom([]stepKind{doSend, doSend, doRecv, doAny, doAdd, doStore, doLoad, doPost}).Draw(t, "kind"),
					dir:  rapid.SampledFrom([]tl.Dir{tl.East, tl.West}).Draw(t, "dir"),
					n:    p.elems,
				}
				directed = directed && s.kind != doAny
				ss = append(ss, s)
			}
			p.steps = append(p.steps, ss)
		}
		got, err := p.run()
		again, err2 := p.run()
		if fmt.Sprint(err) != fmt.Sprint(err2) || !reflect.DeepEqual(got, again) {
			t.Fatalf("two runs differ: %v, %v\n%v, %v", got, again, err, err2)
		}
		checkTyped(t, err)
		if !directed || err != nil {
			return
		}
		want, ok := p.reference()
		if !ok {
			t.Fatalf("ended well, though some message has no partner\n%+v", p)
		}
		compare(t, p, got, want)
	})
}

// checkTyped fails unless err is nil or a fault with a place.
func checkTyped(t interface{ Fatalf(string, ...any) }, err error) {
	var (
		hang     *fault.Deadlock
		left     *fault.Unreceived
		dir      *fault.InvalidDirection
		late     *fault.UseAfterCredit
		free     *fault.UseAfterFree
		mismatch *fault.Mismatch
		misuse   *fault.Misuse
		full     *fault.ScratchFull
	)
	switch {
	case err == nil, errors.As(err, &left), errors.As(err, &dir), errors.As(err, &late), errors.As(err, &free),
		errors.As(err, &mismatch), errors.As(err, &misuse), errors.As(err, &full):
	case errors.As(err, &hang):
		if len(hang.Blocked) == 0 || hang.Blocked[0].Line == "" || hang.Cycle == nil && hang.Missing == "" {
			t.Fatalf("a deadlock without a place or a reason: %v", err)
		}
	default:
		t.Fatalf("%T is no fault that a program of these steps can have: %v", err, err)
	}
}

// FuzzProgram reads bytes as a program: three bits of kind, one of direction, the rest a
// number. Nothing may panic or hang, and every error has its type.
func FuzzProgram(f *testing.F) {
	f.Add([]byte{4, 2, 8, 0x01, 0x11, 0xff, 0x01, 0x11, 0xff, 0x01, 0x11})
	f.Add([]byte{2, 1, 64, 0x21, 0x02, 0x04, 0xff, 0x22, 0x01})
	f.Add([]byte{3, 4, 8, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 3 || len(data) > 200 {
			return
		}
		p := &program{
			world: 2 + int(data[0])%3, slots: 1 + int(data[1])%4,
			slotBytes: 8 + int64(data[2])%64, elems: 1 + int(data[2])%7,
		}
		p.steps = make([][]step, p.world)
		r := 0
		for _, b := range data[3:] {
			if b == 0xff { // the next rank's turn
				r = (r + 1) % p.world
				continue
			}
			d := tl.East
			if b&8 != 0 {
				d = tl.West
			}
			if b == 0xfe {
				d = tl.North // not installed
			}
			p.steps[r] = append(p.steps[r], step{kind: stepKind(b&7) % numStepKinds, dir: d, n: int(b>>4) % (p.elems + 2)})
		}
		_, err := p.run()
		checkTyped(t, err)
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}
