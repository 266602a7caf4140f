package perf

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"kernbench/check/numerics"
	"kernbench/check/verify"
	"kernbench/device"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/record/oplog"
)

// summed holds what is kept of one run: the whole result, element by element of a contribution, and
// with trees their description.
type summed struct {
	bits     []byte
	distinct int // results of ranks that should have the same
	found    *RoundingFound
	out      *run.Execution
}

// find makes the run of a row, and those with other chunks.
func (p *numericsPlan) find(ctx context.Context, j *sweep.Case, set *numerics.Set) (*RoundingFound, error) {
	first, err := sum(ctx, j, j.Job, j.Call.Elems, set, true)
	if err != nil {
		return nil, err
	}
	found := first.found
	found.Hash = digest(first.bits)
	if found.Results = first.distinct; first.distinct > 0 {
		agree := first.distinct == 1
		found.RanksAgree = &agree
	}
	launch := first.out.Launches[0]
	if p.sweep.Timed {
		found.Time = launch.Result.Duration() + run.Overhead(launch)
	}
	for _, t := range launch.Result.Traffic {
		found.Moved += t.Remote()
	}
	for _, v := range first.out.Judged[0].Verdicts {
		if v.Provenance.Status == verify.Fail {
			found.Wrong += int64(v.Wrong)
		}
	}
	found.Chunkings = chunkings(j, first.out.Plan)
	for i := range found.Chunkings {
		c := &found.Chunkings[i]
		if i == 0 {
			c.bits = first.bits
			continue
		}
		x := j.Job
		if len(c.Settings) > 0 {
			if x, err = withSettings(j, c.Settings); err != nil {
				return nil, err
			}
		}
		other, err := sum(ctx, j, x, c.Elements, set, false)
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

// compare compares the elements that all chunkings have.
func (f *RoundingFound) compare() {
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

// digest returns a short hash of a result.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// chunkings returns the other ways to cut the same sums that an algorithm has. They use fewer
// elements, which moves the bounds of all chunks, or other slots, or other pieces of a pipeline.
func chunkings(j *sweep.Case, plan *device.Plan) []Chunking {
	n := j.Call.Elems
	all := []Chunking{{Name: "as it is", Elements: n, Settings: []sweep.Setting{}}}
	for _, less := range []Chunking{{Name: "count/2", Elements: n / 2}, {Name: "count-1", Elements: n - 1}} {
		c := j.Call
		c.Elems = less.Elements
		if c.Elems > 0 && sweep.Refusal(plan, c) == nil && j.What.Check(c) == nil {
			less.Settings = []sweep.Setting{}
			all = append(all, less)
		}
	}
	if slot := int64(plan.Config.SlotSize); run.HasRings(plan) && slot >= 16 {
		all = append(all, Chunking{Name: "slots", Elements: n, Settings: []sweep.Setting{
			{Key: "n_slots", Value: strconv.Itoa(min(4096, 2*plan.Config.NSlots))},
			{Key: "slot_size", Value: strconv.FormatInt(slot/2, 10)},
		}})
	}
	if plan.Algorithm.Pipelined {
		size := max(n/3, 1) * j.Call.Type.Size()
		all = append(all, Chunking{Name: "chunk_size", Elements: n,
			Settings: []sweep.Setting{{Key: "chunk_size", Value: strconv.Itoa(size)}}})
	}
	return all
}

// withSettings loads the job of a case with other settings of its algorithm.
func withSettings(j *sweep.Case, settings []sweep.Setting) (*run.Job, error) {
	spec := j.Job.Spec
	spec.Sets = slices.Clone(spec.Sets)
	for _, s := range settings {
		spec.Sets = append(spec.Sets, fmt.Sprintf("algorithms.%s.%s=%s", spec.Algorithm, s.Key, s.Value))
	}
	return run.Load(spec)
}

// sum makes one run on inputs, by a job.
func sum(ctx context.Context, j *sweep.Case, x *run.Job, elems int, set *numerics.Set, trees bool) (*summed, error) {
	s := &summed{}
	call := j.Call
	call.Elems = elems
	var err error
	if s.out, err = x.OneCallOn(call, j.InPlace, set).Verified(true).Execute(ctx, run.Pass{
		Quiet: true, Trees: trees,
		Inspect: func(data *oplog.Log, c *device.Call) error { return s.take(data, c, trees) },
	}); err != nil {
		return nil, err
	}
	if s.bits == nil {
		return nil, fmt.Errorf("algorithm %s performed no collective", j.Job.Algorithm)
	}
	return s, nil
}

// take reads the memory after a collective.
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
	s.found = &RoundingFound{
		Report: *report, Additions: a.Additions, Stalled: a.Stalled,
		FirstStalled: origin(a.FirstStalled), FirstOverflow: origin(a.Overflow),
	}
	return nil
}
