package tune

import (
	"cmp"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// Group is a call on a machine, at all sizes that have a point without an error.
type Group struct {
	Topology    string `json:"topology"`
	Machine     string `json:"machine"`
	Fingerprint string `json:"fingerprint"`
	Fidelity    string `json:"fidelity"`
	Collective  string `json:"collective"`
	Ranks       int    `json:"ranks"`
	Type        string `json:"type"`
	Op          string `json:"op"`
	Root        int    `json:"root"`

	Rows   []Row   `json:"rows"`   // by size
	Ranges []Range `json:"ranges"` // by size, without a gap

	by []map[candidate]*Point // rows' points
}

// Row holds the results for one size.
type Row struct {
	Size       unit.Bytes `json:"size"`
	Best       *Point     `json:"best"`
	RunnerUp   *Point     `json:"runner_up"`  // the best of another algorithm; nil: there is none
	Configured *Point     `json:"configured"` // the best with settings as they are configured; nil: there is none
	Points     int        `json:"points"`     // points without an error

	// Regret is the relative loss against the best if this size were not tuned, so that a table of
	// its two neighbours decided. It estimates the loss of a table between its sizes. Nil: there is
	// no size on one side, or that choice has no time here.
	Regret *float64 `json:"regret"`

	Auto *Auto `json:"auto,omitempty"` // nil: not asked for
}

// Auto is the algorithm that auto runs at a size, without a tuning table.
type Auto struct {
	Algorithm string    `json:"algorithm"`
	Protocol  string    `json:"protocol,omitempty"` // "": as configured
	Settings  string    `json:"settings,omitempty"` // of rings and pieces; "": as configured
	Time      unit.Time `json:"time_ps"`
	Estimated bool      `json:"estimated"`
	Regret    float64   `json:"regret"` // what it loses against the best of the row, relative to that
}

// Range is a range of sizes in which one candidate is the best. It begins at a crossover.
type Range struct {
	From      unit.Bytes `json:"from"`
	To        unit.Bytes `json:"to"` // the last size; 0: there is no end
	Algorithm string     `json:"algorithm"`
	Settings  string     `json:"settings"`
	Regret    *float64   `json:"regret"` // the highest of its sizes; nil: none is known
	Else      []string   `json:"else"`   // other algorithms as they are configured, the fastest first, up to one that refuses no call
}

// asConfigured reports whether a point was measured with everything as configured. The shape of a
// grid, which some algorithms need, is an exception.
func asConfigured(p *Point) bool {
	for _, s := range strings.Fields(p.Settings) {
		if !strings.HasPrefix(s, "w=") {
			return false
		}
	}
	return true
}

// takesAll reports whether an algorithm of the library refuses no call.
func takesAll(name string) bool {
	a, err := algorithm.Lookup(name)
	return err == nil && !a.Limited()
}

// candidate is an algorithm with settings.
type candidate struct{ algorithm, settings string }

// groupsOf sorts points, which are in the order of the store, into groups, and finds the best.
func groupsOf(points []Point) []*Group {
	var all []*Group
	for i := range points {
		p := &points[i]
		head := Group{
			Topology: p.Topology, Machine: p.Machine, Fingerprint: p.Fingerprint, Fidelity: p.Fidelity,
			Collective: p.Collective, Ranks: p.Ranks, Type: p.Type, Op: p.Op, Root: p.Root,
		}
		if n := len(all); n == 0 || !all[n-1].same(&head) {
			all = append(all, &head)
		}
		g := all[len(all)-1]
		if p.Error != "" {
			continue
		}
		if n := len(g.Rows); n == 0 || g.Rows[n-1].Size != p.Size {
			g.Rows, g.by = append(g.Rows, Row{Size: p.Size}), append(g.by, map[candidate]*Point{})
		}
		g.by[len(g.by)-1][candidate{p.Algorithm, p.Settings}] = p
	}
	all = slices.DeleteFunc(all, func(g *Group) bool { return len(g.Rows) == 0 })
	for _, g := range all {
		for i := range g.Rows {
			g.findBest(i)
		}
		for i := range g.Rows {
			g.Rows[i].Regret = g.regret(i)
		}
		g.ranges()
	}
	return all
}

func (g *Group) same(o *Group) bool {
	return g.Topology == o.Topology && g.Fingerprint == o.Fingerprint && g.Fidelity == o.Fidelity && g.Collective == o.Collective &&
		g.Ranks == o.Ranks && g.Type == o.Type && g.Op == o.Op && g.Root == o.Root
}

// sorted lists the points of a row, the best first.
func (g *Group) sorted(row int) []*Point {
	var all []*Point
	for _, p := range g.by[row] {
		all = append(all, p)
	}
	slices.SortFunc(all, faster) // faster never returns 0 for two points of a row
	return all
}

// findBest sets the best, the runner-up and the best as configured of a row.
func (g *Group) findBest(row int) {
	r := &g.Rows[row]
	all := g.sorted(row)
	r.Best, r.Points = all[0], len(all)
	for _, p := range all {
		if r.RunnerUp == nil && p.Algorithm != r.Best.Algorithm {
			r.RunnerUp = p
		}
		if r.Configured == nil && asConfigured(p) {
			r.Configured = p
		}
	}
}

// crossover returns the size from which another row is best. It is the intersection of the lines
// through the times of both at both sizes. If one of the times is unknown, it is the later size.
func (g *Group) crossover(lo, hi int) unit.Bytes {
	from, to := g.Rows[lo].Size, g.Rows[hi].Size
	a, b := g.Rows[lo].Best, g.Rows[hi].Best
	early, late := g.by[lo][candidate{b.Algorithm, b.Settings}], g.by[hi][candidate{a.Algorithm, a.Settings}]
	if early == nil || late == nil {
		return to
	}
	ahead, behind := int64(early.Time-a.Time), int64(late.Time-b.Time)
	if ahead+behind <= 0 {
		return to
	}
	meet := from + 1 + unit.Bytes(sweep.MulDiv(int64(to-from), ahead, ahead+behind))
	return min(meet, to)
}

// SetAuto sets what auto runs at the size of a row, and its regret. If the time of auto is an
// estimate, the best point may be estimated from other sizes, because of the budget. If both have
// one algorithm and the same settings then, Regret is 0.
func (g *Group) SetAuto(row int, a Auto) {
	r := &g.Rows[row]
	best := slices.Sorted(strings.FieldsSeq(r.Best.Settings))
	if same := r.Best.Algorithm == a.Algorithm && slices.Equal(a.settings(), best); !same || !a.Estimated {
		a.Regret = float64(a.Time)/float64(max(1, r.Best.Time)) - 1
	}
	r.Auto = &a
}

// settings returns auto's settings, sorted, in the form that points use. auto tries protocols only
// where simple is configured.
func (a *Auto) settings() []string {
	all := strings.Fields(a.Settings)
	if a.Protocol != "" && a.Protocol != "simple" {
		all = append(all, "protocol="+a.Protocol)
	}
	slices.Sort(all)
	return all
}

// regret returns the loss of a row if it used the candidate of its neighbours.
func (g *Group) regret(row int) *float64 {
	if row == 0 || row == len(g.Rows)-1 {
		return nil
	}
	chosen := g.Rows[row-1].Best
	if g.Rows[row].Size >= g.crossover(row-1, row+1) {
		chosen = g.Rows[row+1].Best
	}
	p := g.by[row][candidate{chosen.Algorithm, chosen.Settings}]
	if p == nil {
		return nil
	}
	r := 0.0
	if best := g.Rows[row].Best.Time; best > 0 {
		r = float64(p.Time-best) / float64(best)
	}
	return &r
}

// ranges puts sizes together that have one best.
func (g *Group) ranges() {
	for i := range g.Rows {
		r := &g.Rows[i]
		n := len(g.Ranges)
		if n == 0 || g.Ranges[n-1].Algorithm != r.Best.Algorithm || g.Ranges[n-1].Settings != r.Best.Settings {
			next := Range{Algorithm: r.Best.Algorithm, Settings: r.Best.Settings, Else: []string{}}
			if n > 0 {
				next.From = g.crossover(i-1, i)
				g.Ranges[n-1].To = next.From - 1
			}
			for _, p := range g.sorted(i) {
				if p.Algorithm != r.Best.Algorithm && p.Settings == "" {
					next.Else = append(next.Else, p.Algorithm)
					if takesAll(p.Algorithm) {
						break
					}
				}
			}
			g.Ranges = append(g.Ranges, next)
			n++
		}
		at := &g.Ranges[n-1]
		if r.Regret != nil && (at.Regret == nil || *r.Regret > *at.Regret) {
			at.Regret = r.Regret
		}
	}
}

// faster orders points by time, then measured points first, then by the number of settings.
func faster(a, b *Point) int {
	measured := func(p *Point) int {
		if p.Estimated {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(measured(a), measured(b)),
		cmp.Compare(strings.Count(a.Settings, "="), strings.Count(b.Settings, "=")),
		cmp.Compare(a.Algorithm, b.Algorithm), byLength(a.Settings, b.Settings))
}

// byLength orders texts by length, then alphabetically. So it puts 4 before 16.
func byLength(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }
