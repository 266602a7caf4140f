package fit

import "math"

// Problem is a measured table and the times of a model, as they are near one set of values of
// its parameters. Times are in ns.
type Problem struct {
	Params []Param
	Rows   []Row

	// Together changes all latencies with a prior by one factor.
	Together bool
}

// Param is a parameter of a machine.
type Param struct {
	At       float64 // value for which the model's times are known, above 0
	Prior    float64 // value that it has where the table does not say: that of the machine so far
	Fixed    float64 // what the machine adds to a latency where it takes effect: the rest of a hop
	Min, Max float64
	Inverse  bool // times go with 1/value, as with a rate
}

// Row is a size.
type Row struct {
	Measured float64
	Fitted   bool // else the fit must not see it
	Programs []Program
}

// Program is one of those that could have run: an algorithm with a protocol. Its time is a plane
// over the parameters, or their inverses:
//
//	launch + steps × (latency + overhead) + bytes / rate + the rest
//
// with as many steps and bytes as its slopes say, which hold near the values of the parameters.
type Program struct {
	Time  float64
	Slope []float64 // by parameter
}

// time returns the time of a program for other values.
func (p *Problem) time(g *Program, values []float64) float64 {
	t := g.Time
	for i := range p.Params {
		t += g.Slope[i] * (p.Params[i].axis(values[i]) - p.Params[i].axis(p.Params[i].At))
	}
	return math.Max(t, 1e-3) // planes go below 0 somewhere, times do not
}

// Depends reports whether the time of any fitted program changes with a parameter.
func (p *Problem) Depends(param int) bool {
	for i := range p.Rows {
		for k := range p.Rows[i].Programs {
			if p.Rows[i].Fitted && p.Rows[i].Programs[k].Slope[param] != 0 {
				return true
			}
		}
	}
	return false
}

// joint reports whether a parameter follows the factor of all latencies.
func (p *Problem) joint(param int) bool {
	q := &p.Params[param]
	return p.Together && !q.Inverse && q.Prior > 0
}

// factor returns by how much the latency takes longer than its prior.
func (p *Param) factor(v float64) float64 { return (v + p.Fixed) / (p.Prior + p.Fixed) }

// times returns the latency that takes longer than its prior by a factor.
func (p *Param) times(factor float64) float64 { return (p.Prior+p.Fixed)*factor - p.Fixed }

// axis returns what times are planes over.
func (p *Param) axis(v float64) float64 {
	if p.Inverse {
		return 1 / v
	}
	return v
}

// Time returns the time of the fastest program of a row, and its index; -1 if there is none.
func (p *Problem) Time(row int, values []float64) (float64, int) {
	best, which := math.Inf(1), -1
	for i := range p.Rows[row].Programs {
		if t := p.time(&p.Rows[row].Programs[i], values); t < best {
			best, which = t, i
		}
	}
	return best, which
}

// Deviation returns the mean of |ln(model/measured)| over fitted rows: exp of it is the geometric
// mean of the factors by which the model is off.
func (p *Problem) Deviation(values []float64) float64 {
	return p.mean(values, math.Abs)
}

func (p *Problem) mean(values []float64, of func(float64) float64) float64 {
	sum, n := 0.0, 0
	for i := range p.Rows {
		if !p.Rows[i].Fitted {
			continue
		}
		t, _ := p.Time(i, values)
		sum, n = sum+of(math.Log(t/p.Rows[i].Measured)), n+1
	}
	return sum / float64(max(1, n))
}

// knee is the error up to which errors count by their square, as suits noise. Larger ones count by
// their size, so that a few sizes that the model cannot compute do not distort the fit of all
// others.
const knee = 0.05

// pull is the weight of a prior. It chooses a value if the table does not determine it, and is
// negligible compared with the table's data.
const pull = 1e-5

// Loss returns what a fit makes small.
func (p *Problem) Loss(values []float64) float64 {
	loss := p.mean(values, func(e float64) float64 { return math.Sqrt(e*e+knee*knee) - knee })
	for i, v := range values {
		if d := math.Log(v / p.Params[i].Prior); p.Params[i].Prior > 0 {
			loss += pull * d * d
		}
	}
	return loss
}
