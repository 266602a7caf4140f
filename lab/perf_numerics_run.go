package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/numerics"
	"kernbench/oplog"
	"kernbench/verify"
)

// summed is what is kept of one run: the whole result, element by element of a contribution, and
// with trees what is to be said of it.
type summed struct {
	bits     []byte
	distinct int // results of ranks that should have the same
	found    *NumericsFound
	out      *outcome
}

// find makes the run of a row, and those with other chunks.
func (p *numericsPlan) find(ctx context.Context, j *perfJob, set *numerics.Set) (*NumericsFound, error) {
	first, err := j.sum(ctx, *j.setting, j.call.Elems, set, true)
	if err != nil {
		return nil, err
	}
	found := first.found
	found.Hash = digest(first.bits)
	if found.Results = first.distinct; first.distinct > 0 {
		agree := first.distinct == 1
		found.RanksAgree = &agree
	}
	launch := first.out.launches[0]
	if p.sweep.Timed {
		found.Time = launch.Result.Duration() + overhead(launch)
	}
	for _, t := range launch.Result.Traffic {
		found.Moved += t.Remote()
	}
	for _, v := range first.out.judged[0].verdicts {
		if v.Provenance.Status == verify.Fail {
			found.Wrong += int64(v.Wrong)
		}
	}
	found.Chunkings = j.chunkings(first.out.plan)
	for i := range found.Chunkings {
		c := &found.Chunkings[i]
		if i == 0 {
			c.bits = first.bits
			continue
		}
		x := j.setting
		if len(c.Settings) > 0 {
			if x, err = j.with(c.Settings); err != nil {
				return nil, err
			}
		}
		other, err := j.sum(ctx, *x, c.Elements, set, false)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			c.Error = err.Error()
		default:
			c.bits = other.bits
		}
	}
	found.compare()
	return found, nil
}

// compare holds the elements that all chunkings have against each other.
func (f *NumericsFound) compare() {
	least, ran := len(f.Chunkings[0].bits), 0
	for i := range f.Chunkings {
		if c := &f.Chunkings[i]; c.Error == "" {
			least, ran = min(least, len(c.bits)), ran+1
		}
	}
	agree := true
	for i := range f.Chunkings {
		c := &f.Chunkings[i]
		if c.Error == "" {
			c.Hash, c.Agrees = digest(c.bits[:least]), bytes.Equal(c.bits[:least], f.Chunkings[0].bits[:least])
			agree = agree && c.Agrees
		}
	}
	for i := range f.Chunkings {
		f.Chunkings[i].bits = nil
	}
	if ran > 1 {
		f.ChunkingAgrees = &agree
	}
}

// digest is short: what differs by chance has other ones.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// chunkings are the ways to cut the same sums differently that an algorithm has: by fewer elements,
// which moves the bounds of all chunks, by slots, and by the pieces of a pipeline.
func (j *perfJob) chunkings(plan *device.Plan) []Chunking {
	n := j.call.Elems
	all := []Chunking{{Name: "as it is", Elements: n, Settings: []Setting{}}}
	for _, less := range []Chunking{{Name: "count/2", Elements: n / 2}, {Name: "count-1", Elements: n - 1}} {
		c := j.call
		c.Elems = less.Elements
		if c.Elems > 0 && refusal(plan.Algorithm, c) == nil && j.what.Check(c) == nil {
			less.Settings = []Setting{}
			all = append(all, less)
		}
	}
	if slot := int64(plan.Config.SlotSize); hasRings(plan) && slot >= 16 {
		all = append(all, Chunking{Name: "slots", Elements: n, Settings: []Setting{
			{"n_slots", strconv.Itoa(min(4096, 2*plan.Config.NSlots))}, {"slot_size", strconv.FormatInt(slot/2, 10)},
		}})
	}
	if plan.Algorithm.Pipelined {
		size := max(n/3, 1) * j.call.Type.Size()
		all = append(all, Chunking{Name: "chunk_size", Elements: n, Settings: []Setting{{"chunk_size", strconv.Itoa(size)}}})
	}
	return all
}

// with is the setting of a job with other settings of its algorithm.
func (j *perfJob) with(settings []Setting) (*setting, error) {
	spec := j.setting.Spec
	spec.Sets = slices.Clone(spec.Sets)
	for _, s := range settings {
		spec.Sets = append(spec.Sets, fmt.Sprintf("algorithms.%s.%s=%s", spec.Algorithm, s.Key, s.Value))
	}
	return load(spec)
}

// sum makes one run on inputs, with what a setting says.
func (j *perfJob) sum(ctx context.Context, x setting, elems int, set *numerics.Set, trees bool) (*summed, error) {
	s := &summed{}
	x.NElem, x.DType, x.Op, x.VerifyData = elems, j.call.Type, j.call.Op, true
	x.program = bench.OnceOn(j.inPlace, j.call.Root, set)
	x.trees = trees
	x.inspect = func(data *oplog.Log, c *device.Call) error { return s.take(data, c, trees) }
	var err error
	if s.out, err = x.once(ctx, pass{quiet: true}); err != nil {
		return nil, err
	}
	if s.bits == nil {
		return nil, fmt.Errorf("algorithm %s performed no collective", j.setting.Algorithm)
	}
	return s, nil
}

// take looks at the memory that a collective left behind.
func (s *summed) take(data *oplog.Log, c *device.Call, trees bool) error {
	g := &c.Groups[0]
	size := g.Call.Type.Size()
	in := numerics.Input{Type: g.Call.Type, Op: g.Call.Op, World: g.Call.World, In: func(r int) []byte { return g.Inputs[r] }}
	s.bits = make([]byte, g.Call.Elems*size)
	seen := map[string]bool{}
	for r := range g.Call.World {
		first, n := elements(c.Collective, g.Call, r)
		if n == 0 {
			continue
		}
		out, _, err := data.View(g.Out(r), g.Call.Type, n)
		if err != nil {
			return err
		}
		if r == 0 || !c.Collective.SameOutput {
			copy(s.bits[first*size:], out)
		}
		if c.Collective.SameOutput {
			seen[string(out)] = true
		}
		result := numerics.Result{Rank: r, First: first, Out: out}
		if trees {
			if result.Trees, err = data.Trees(g.Out(r), g.Call.Type, n); err != nil {
				return err
			}
		}
		in.Results = append(in.Results, result)
	}
	s.distinct = len(seen)
	if !trees {
		return nil
	}
	report, err := numerics.Judge(in)
	if err != nil {
		return err
	}
	a := data.Audit()
	s.found = &NumericsFound{
		Report: *report, Additions: a.Additions, Stalled: a.Stalled,
		FirstStalled: origin(a.FirstStalled), FirstOverflow: origin(a.Overflow),
	}
	return nil
}

// inOrder does n pieces of work, as many beside each other as the program may use processors, and
// hands out what comes of them in their order. Of work that ctx interrupted nothing is handed out.
func inOrder[T any](ctx context.Context, n int, work func(int) T, out func(T)) error {
	ahead := runtime.GOMAXPROCS(0)
	done := make([]chan T, n)
	start := func(i int) {
		if i < n && ctx.Err() == nil {
			done[i] = make(chan T, 1)
			go func() { done[i] <- work(i) }()
		}
	}
	for i := range min(ahead, n) {
		start(i)
	}
	for i := range n {
		if done[i] == nil {
			break
		}
		v := <-done[i]
		if ctx.Err() == nil {
			out(v)
		}
		start(i + ahead)
	}
	return ctx.Err()
}
