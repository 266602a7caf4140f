package calibrate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kernbench/lab/calibrate/fit"
	"kernbench/lab/calibrate/nccl"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/machine"
	"kernbench/unit"
)

// ScoreSpec is a machine and the measured tables that it is compared with.
type ScoreSpec struct {
	Base       run.Spec // the machine, its settings and fidelity, and the ranks if a table does not say
	Files      []string // with the tables
	Collective string   // by its own name or that of nccl-tests; as stated in each table

	Algorithms    []string   // algorithms that the library may have run; nil: Algorithms
	AllAlgorithms bool       // all that can have these ranks
	Largest       unit.Bytes // size that is simulated; beyond, times follow from the two largest

	Progress func(p run.Progress) // may be nil
}

// Score is the error of a machine against measured tables.
type Score struct {
	Topology string       `json:"topology"`
	Machine  string       `json:"machine"`
	Fidelity string       `json:"fidelity"`
	Tables   []TableScore `json:"tables"`
	MadeBy   run.MadeBy   `json:"made_by"`
}

// TableScore is a table and the times of the machine.
type TableScore struct {
	File       string       `json:"file"`
	Header     []fit.Remark `json:"header"`
	Collective string       `json:"collective"`
	Type       string       `json:"type"`
	Ranks      int          `json:"ranks"`
	InPlace    bool         `json:"in_place"`
	Algorithms []string     `json:"algorithms"`
	Protocols  []string     `json:"protocols"`
	Rows       []ScoreRow   `json:"rows"`
	Bands      []ScoreBand  `json:"bands"` // all sizes first
	Notes      []string     `json:"notes"`

	Switches []SwitchPoint `json:"switch_points"` // none without NCCL's model
}

// ScoreRow is a size of a table.
type ScoreRow struct {
	Size         unit.Bytes `json:"size_bytes"`
	Measured     unit.Time  `json:"measured_ps"`
	Simulated    unit.Time  `json:"simulated_ps"` // of the fastest algorithm and protocol
	Extrapolated bool       `json:"extrapolated"`
	Error        float64    `json:"error"` // simulated / measured - 1
	Algorithm    string     `json:"algorithm"`
	Protocol     string     `json:"protocol"`
	Outlier      bool       `json:"outlier"` // of the table: see Outliers
	NCCL         *Yardstick `json:"nccl"`    // nil: NCCL has no model of this machine
}

// Yardstick is the time of another model.
type Yardstick struct {
	Time      unit.Time `json:"time_ps"`
	Error     float64   `json:"error"`
	Algorithm string    `json:"algorithm"`
	Protocol  string    `json:"protocol"`
}

// ScoreBand sums up the sizes from one to another. Outliers are in the medians and not in the
// worst.
type ScoreBand struct {
	From unit.Bytes `json:"from_bytes"` // 0: from the smallest
	To   unit.Bytes `json:"to_bytes"`   // the first size beyond; 0: to the largest

	Machine Deviation  `json:"machine"`
	NCCL    *Deviation `json:"nccl"` // nil: see ScoreRow
}

// Deviation sums up errors, taken without their sign.
type Deviation struct {
	Sizes  int        `json:"sizes"`
	Median float64    `json:"median"`
	Worst  float64    `json:"worst"` // with its sign
	At     unit.Bytes `json:"worst_at_bytes"`
}

// scoreBands are the bands of every table: where latencies count, where both count, where bytes do.
var scoreBands = []ScoreBand{{}, {To: 64 * unit.KiB}, {From: 64 * unit.KiB, To: 16*unit.MiB + 1}, {From: 16*unit.MiB + 1}}

// RunScore simulates all sizes of tables on a machine as it is. The error is a mistake in the spec
// or a table, or the interruption by ctx.
func RunScore(ctx context.Context, s ScoreSpec) (*Score, error) {
	score := &Score{}
	for _, file := range s.Files {
		one := Spec{
			Base: s.Base, File: file, Collective: s.Collective, Algorithms: s.Algorithms, AllAlgorithms: s.AllAlgorithms,
			Largest: s.Largest, Progress: s.Progress,
		}
		c, err := planTable(ctx, &one)
		if err != nil {
			return nil, err
		}
		c.result.Rounds = 1
		r := c.result
		score.Topology, score.Machine, score.Fidelity, score.MadeBy = r.Topology, r.Machine, r.Fidelity, r.MadeBy
		t, err := c.score(ctx)
		if err != nil {
			return nil, err
		}
		score.Tables = append(score.Tables, *t)
	}
	return score, nil
}

// score simulates the sizes of a table with the machine's own values.
func (c *calibration) score(ctx context.Context) (*TableScore, error) {
	values := make([]float64, len(c.params))
	for i := range c.params {
		values[i] = c.params[i].base
	}
	if err := c.times(ctx, values, sweep.NumbersBelow(len(c.rows))); err != nil {
		return nil, err
	}
	r := c.result
	t := &TableScore{
		File: r.File, Header: r.Header, Collective: r.Collective, Type: r.Type, Ranks: r.Ranks, InPlace: r.InPlace,
		Algorithms: r.Algorithms, Protocols: r.Protocols, Rows: []ScoreRow{}, Notes: r.Notes,
	}
	var points []fit.Point
	for i := range c.rows {
		row := &c.rows[i]
		points = append(points, row.Point)
		best, k := c.fastest(values, i)
		if k < 0 {
			return nil, fmt.Errorf("%s: nothing can run at %v: %s", r.File, row.Size, lastNote(c.result.Notes))
		}
		one := ScoreRow{
			Size: row.Size, Measured: row.Time, Simulated: unit.Nanoseconds(best), Extrapolated: row.elems == 0,
			Algorithm: c.programs[k].algorithm, Protocol: c.programs[k].protocol,
		}
		one.Error = float64(one.Simulated)/float64(one.Measured) - 1
		if choice, ok := c.nccl.Time(c.what.Name, row.Size); ok {
			one.NCCL = &Yardstick{choice.Time, float64(choice.Time)/float64(one.Measured) - 1, choice.Algorithm, choice.Protocol}
		}
		t.Rows = append(t.Rows, one)
	}
	for i, outlier := range fit.Outliers(points) {
		t.Rows[i].Outlier = outlier
	}
	for _, b := range scoreBands {
		t.Bands = append(t.Bands, b.of(t.Rows))
	}
	t.Switches = switchPoints(t.Rows)
	t.Notes = list(c.result.Notes)
	return t, nil
}

// of sums up those rows that are in a band.
func (b ScoreBand) of(rows []ScoreRow) ScoreBand {
	var machine, yardstick []deviant
	for i := range rows {
		r := &rows[i]
		if r.Size < b.From || b.To > 0 && r.Size >= b.To {
			continue
		}
		machine = append(machine, deviant{r.Size, r.Error, r.Outlier})
		if r.NCCL != nil {
			yardstick = append(yardstick, deviant{r.Size, r.NCCL.Error, r.Outlier})
		}
	}
	b.Machine = deviation(machine)
	if len(yardstick) > 0 {
		d := deviation(yardstick)
		b.NCCL = &d
	}
	return b
}

// deviant is the error at a size.
type deviant struct {
	size    unit.Bytes
	error   float64
	outlier bool
}

func deviation(all []deviant) Deviation {
	d := Deviation{Sizes: len(all)}
	var off []float64
	for _, one := range all {
		off = append(off, math.Abs(one.error))
		if !one.outlier && math.Abs(one.error) > math.Abs(d.Worst) {
			d.Worst, d.At = one.error, one.size
		}
	}
	if n := len(off); n > 0 {
		slices.Sort(off)
		d.Median = (off[(n-1)/2] + off[n/2]) / 2
	}
	return d
}

// ncclSystem returns what NCCL's model knows of the machine. The innermost level is its NVLink. The
// next one is its network, of which each GPU of a node has a card.
func ncclSystem(m *machine.Machine, ranks int) nccl.System {
	t := m.Topology()
	levels := t.System().Between()
	reduces, copies := m.SwitchesReduce()
	s := nccl.System{NVLS: reduces && copies, Generation: nccl.Generation(t.Software().NCCL), Ranks: ranks, Nodes: 1,
		NVLink: levels[0].Link.BW.GBs()}
	node := levels[0].Members()
	if len(levels) > 1 && ranks > node && ranks%node == 0 {
		s.Nodes, s.Network = ranks/node, float64(node)*levels[1].Link.BW.GBs()
		// NCCL has one limit of LL over a network for CPUs of AMD, and another one for all others.
		s.AMD = levels[1].Software.LLRate > 0 && levels[1].Software.LLRate < 30*unit.GBPerSecond
	}
	return s
}
