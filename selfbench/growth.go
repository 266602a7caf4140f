package selfbench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"kernbench/algorithm"
	"kernbench/fault"
	"kernbench/lab/run"
)

// Growth measures how the work of simulating each algorithm grows with the number of ranks.
type Growth struct {
	Origin
	Command  string      `json:"command"`
	Elements int         `json:"elements_per_rank"` // of f16
	Fidelity string      `json:"fidelity"`
	Rows     []GrowthRow `json:"rows"`

	MadeBy run.MadeBy `json:"made_by"` // its machine is the computer that measured
}

// GrowthRow is one algorithm. Exponents are those of the last sizes, where constant parts weigh
// least; nil: there are too few sizes, or nothing to count.
type GrowthRow struct {
	Algorithm  string        `json:"algorithm"`
	Collective string        `json:"collective"`
	Points     []GrowthPoint `json:"points"`
	Time       *float64      `json:"time_exponent,omitempty"`
	Messages   *float64      `json:"messages_exponent,omitempty"`
	Events     *float64      `json:"events_exponent,omitempty"`
	Note       string        `json:"note,omitempty"` // why there are no more points
}

// GrowthPoint is one number of ranks.
type GrowthPoint struct {
	Ranks    int     `json:"ranks"`
	Seconds  float64 `json:"cpu_seconds"` // of a run: user CPU time, the least of all runs
	Messages int64   `json:"messages"`    // of slots; puts, gets and updates of words
	Events   int64   `json:"events"`
}

const (
	growthElements = 2048 // 4 KiB, a slot; a multiple of the numbers of ranks that all-to-alls reach
	lastSizes      = 3

	// clockTick is the largest distance, in seconds, of two readings of the CPU time between which
	// a run seems to take nothing. A shorter time does not show growth.
	clockTick = 0.02
)

// began is approximately the start of the process.
var began = time.Now()

// growthRanks returns the numbers of ranks, as far as time allows.
func growthRanks(short bool) []int {
	if short {
		return []int{8, 16, 32, 64}
	}
	return []int{16, 32, 64, 128, 256, 512, 1024, 2048, 4096}
}

// Grow simulates algorithms on more and more ranks until the next number would take longer than
// what is left of the limit, a CPU time. It fits powers of the number of ranks. Only are names of
// algorithms. When ctx ends, the algorithms that are finished are there.
func Grow(ctx context.Context, s Spec) (*Growth, error) {
	if s.Runs < 1 || s.Limit <= 0 {
		return nil, errNoTime(&s)
	}
	all, err := chosenAlgorithms(s.Only)
	if err != nil {
		return nil, err
	}
	g := &Growth{
		Origin: s.origin(), Command: s.Command, MadeBy: s.madeBy(),
		Elements: growthElements, Fidelity: "slot",
	}
	for i, a := range all {
		if s.Progress != nil {
			s.Progress(Progress{a.Name, i, len(all)})
		}
		row, err := growthOf(ctx, a, &s)
		if err != nil {
			return g, err
		}
		g.Rows = append(g.Rows, *row)
	}
	return g, nil
}

func chosenAlgorithms(only []string) ([]*algorithm.Algorithm, error) {
	all := algorithm.All()
	if len(only) == 0 {
		return all, nil
	}
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	wanted := map[string]bool{}
	for _, pattern := range only {
		some, err := matching("algorithm", pattern, names, "kernbench list algorithms")
		if err != nil {
			return nil, err
		}
		for _, name := range some {
			wanted[name] = true
		}
	}
	return slices.DeleteFunc(all, func(a *algorithm.Algorithm) bool { return !wanted[a.Name] }), nil
}

// growthOf returns the row of one algorithm. The error is that of ctx.
func growthOf(ctx context.Context, a *algorithm.Algorithm, s *Spec) (*GrowthRow, error) {
	row := &GrowthRow{Algorithm: a.Name, Collective: a.Collective, Points: []GrowthPoint{}}
	inner, stop := withinCPU(ctx, s.Limit)
	defer stop()
	start := processTime()
	for _, n := range growthRanks(s.Short) {
		if next := row.expect(n); next > 0 && next*float64(s.Runs) > (s.Limit-processTime()+start).Seconds() {
			row.Note = fmt.Sprintf("%d ranks would take %.2g s a run", n, next)
			break
		}
		p, err := growthPoint(inner, a.Name, n, s.Runs)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && inner.Err() != nil:
			row.Note = fmt.Sprintf("%d ranks did not end within %v", n, s.Limit)
			row.fit()
			return row, nil
		case err != nil:
			first, _, _ := strings.Cut(err.Error(), "\n")
			row.Note = fmt.Sprintf("%d ranks: %s", n, first)
			if fault.Is(err) {
				row.fit()
				return row, nil
			}
			continue // it may not take this number of ranks, and take the next
		}
		row.Points, row.Note = append(row.Points, p), ""
	}
	row.fit()
	return row, nil
}

// withinCPU returns a context that ends when this process has used limit of CPU time from now on.
func withinCPU(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	end := processTime() + limit
	go func() {
		often := time.NewTicker(min(limit, 20*time.Millisecond))
		defer often.Stop()
		for processTime() < end {
			select {
			case <-ctx.Done():
				return
			case <-often.C:
			}
		}
		stop()
	}()
	return ctx, stop
}

// expect returns the expected time of a run with a number of ranks, if it grows as before; 0:
// unknown.
func (r *GrowthRow) expect(ranks int) float64 {
	k := len(r.Points)
	if k < 2 {
		return 0
	}
	a, b := &r.Points[k-2], &r.Points[k-1]
	e := math.Log(max(b.Seconds, clockTick)/max(a.Seconds, clockTick)) / math.Log(float64(b.Ranks)/float64(a.Ranks))
	return b.Seconds * math.Pow(float64(ranks)/float64(b.Ranks), max(1, e))
}

func growthPoint(ctx context.Context, name string, ranks, runs int) (GrowthPoint, error) {
	p := GrowthPoint{Ranks: ranks, Seconds: math.Inf(1)}
	const inSIP = 128
	spec := run.Spec{Algorithm: name, Ranks: ranks, NElem: growthElements,
		Sets: []string{fmt.Sprintf("system.sips.count=%d", (ranks+inSIP-1)/inSIP)}}
	for range runs {
		runtime.GC() // so that the garbage of earlier runs is not collected in this one
		start := processTime()
		r, err := run.Run(ctx, spec)
		if err != nil {
			return p, err
		}
		p.Seconds = min(p.Seconds, max(time.Microsecond, processTime()-start).Seconds()) // a coarse clock may stand still
		p.Messages, p.Events = r.Messages, r.Events
		for i := range r.Traffic {
			t := &r.Traffic[i]
			p.Messages += t.Puts + t.Gets + t.Notifies + t.Atomics
		}
	}
	return p, nil
}

// fit finds the exponents.
func (r *GrowthRow) fit() {
	last := r.Points[max(0, len(r.Points)-lastSizes):]
	r.Time = exponent(last, func(p *GrowthPoint) float64 { return p.Seconds })
	r.Messages = exponent(last, func(p *GrowthPoint) float64 { return float64(p.Messages) })
	r.Events = exponent(last, func(p *GrowthPoint) float64 { return float64(p.Events) })
}

// exponent returns the power of the number of ranks that is nearest to some counts. It fits a
// straight line through their logarithms, by least squares. Nil: fewer than two, or one of nothing.
func exponent(points []GrowthPoint, of func(*GrowthPoint) float64) *float64 {
	if len(points) < 2 {
		return nil
	}
	var x, y, xx, xy float64
	for i := range points {
		v := of(&points[i])
		if v <= 0 {
			return nil
		}
		a, b := math.Log(float64(points[i].Ranks)), math.Log(v)
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	n := float64(len(points))
	e := (n*xy - x*y) / (n*xx - x*x)
	return &e
}
