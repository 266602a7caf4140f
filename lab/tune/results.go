package tune

import (
	"fmt"

	"kernbench/collective"
	"kernbench/lab/run"
	"kernbench/store"
	"kernbench/unit"
)

// RunRecord describes a sweep.
type RunRecord = store.Run

// RunPoints is a sweep with all of its points.
type RunPoints struct {
	Run    *RunRecord `json:"run"`
	Points []Point    `json:"points"`
}

// PointsOf returns a sweep with its points; 0 is the last one.
func PointsOf(st *store.Store, run int64) (*RunPoints, error) {
	if run == 0 {
		all, err := st.Runs()
		if err != nil {
			return nil, err
		}
		run = 1 // the store reports that it does not exist
		if n := len(all); n > 0 {
			run = all[n-1].ID
		}
	}
	r, err := st.Run(run)
	if err != nil {
		return nil, err
	}
	points, err := st.Points(run)
	if err != nil {
		return nil, err
	}
	return &RunPoints{r, points}, nil
}

// MadeBy returns the origin of a command's output about a sweep.
func (r *RunPoints) MadeBy(command string) run.MadeBy {
	p := run.NewMadeBy(command)
	for i := range r.Points {
		p.Add(r.Points[i].Fingerprint)
	}
	return p
}

// Best finds the best of a sweep: see Group.
func (r *RunPoints) Best() []*Group { return groupsOf(r.Points) }

// Diff holds what became of the points of one sweep in another.
type Diff struct {
	A       int64         `json:"a"`
	B       int64         `json:"b"`
	Same    int           `json:"same"`    // points of both whose time is the same
	Changed []ChangedTime `json:"changed"` // in the order of A
	OnlyA   []Point       `json:"only_a"`
	OnlyB   []Point       `json:"only_b"`
	Faster  int           `json:"faster"` // of Changed
	Slower  int           `json:"slower"`
}

// ChangedTime is a call whose time in two sweeps differs.
type ChangedTime struct {
	Was Point     `json:"was"`
	Is  Point     `json:"is"`
	By  unit.Time `json:"by_ps"`
}

// callOf returns a point without what may differ between two sweeps of the same.
func callOf(p *Point) string {
	return fmt.Sprint(p.Topology, "|", p.Fidelity, "|", p.Collective, "|", p.Algorithm, "|", p.Settings, "|", p.Type,
		"|", p.Op, "|", p.Root, "|", p.Ranks, "|", p.Size, "|", p.InPlace)
}

// DiffRuns compares two sweeps, point by point. It matches topologies by name, so that a changed
// machine is compared with its former state.
func DiffRuns(a, b *RunPoints) *Diff {
	d := &Diff{A: a.Run.ID, B: b.Run.ID, Changed: []ChangedTime{}, OnlyA: []Point{}, OnlyB: []Point{}}
	in := map[string]*Point{}
	for i := range b.Points {
		in[callOf(&b.Points[i])] = &b.Points[i]
	}
	for _, p := range a.Points {
		other := in[callOf(&p)]
		delete(in, callOf(&p))
		switch {
		case other == nil:
			d.OnlyA = append(d.OnlyA, p)
		case other.Time == p.Time && other.Error == p.Error:
			d.Same++
		default:
			d.Changed = append(d.Changed, ChangedTime{p, *other, other.Time - p.Time})
			if other.Error != "" || p.Error == "" && other.Time > p.Time {
				d.Slower++
			} else {
				d.Faster++
			}
		}
	}
	for i := range b.Points {
		if in[callOf(&b.Points[i])] != nil {
			d.OnlyB = append(d.OnlyB, b.Points[i])
		}
	}
	return d
}

// Empty reports whether nothing differs.
func (d *Diff) Empty() bool { return len(d.Changed)+len(d.OnlyA)+len(d.OnlyB) == 0 }

// BusFactor returns busbw / algbw of the call of a point; 0 if kernbench has no such collective any
// more.
func BusFactor(p *Point) float64 {
	what, err := collective.Lookup(p.Collective)
	if err != nil {
		return 0
	}
	return what.BusFactor(p.Ranks)
}
