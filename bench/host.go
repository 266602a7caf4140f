package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"kernbench/device"
	"kernbench/dialect/torch"
	"kernbench/dtype"
	"kernbench/tl"
)

// Options are the options of all programs.
type Options struct {
	Algorithm string      // "": the program's own
	NElem     int         // elements per rank; 0: as set by the program or the configuration
	DType     dtype.Type  // Invalid: that of the program
	Op        tl.ReduceOp // of an AllReduce
	Seed      uint64      // of the inputs
	Input     *Input      // what ranks contribute; nil: as set by the program, as a rule by seed
	PEs       []int32     // the PEs that take part, ascending; nil: see Host.Devices

	With map[string]string // the program's own options, by name
}

// Host is the interface of a program to the run.
type Host struct {
	Device *device.Context
	Dist   *torch.Dist
	Options

	program  *Program
	asked    int // NElem that the caller gave; 0: none
	measured []*device.Launched
	report   func(line string)
	values   []Values
}

// NewHost makes the host of a program on a device. report gets the lines that the program reports;
// it may be nil.
func NewHost(p *Program, dev *device.Context, o Options, report func(line string)) *Host {
	if o.Algorithm == "" {
		o.Algorithm = p.Algorithm
	}
	if o.DType == dtype.Invalid {
		o.DType = p.DefaultDType()
	}
	asked := o.NElem
	if asked == 0 {
		o.NElem = p.NElem
	}
	if report == nil {
		report = func(string) {}
	}
	return &Host{Device: dev, Dist: torch.New(dev, o.Algorithm), Options: o, program: p, asked: asked, report: report}
}

// DefaultDType returns the element type unless another is given.
func (p *Program) DefaultDType() dtype.Type {
	if p.DType != dtype.Invalid {
		return p.DType
	}
	return dtype.F16
}

// Devices lists the PEs that take part in a Parallel program. They are the selected ones, else as
// many of the machine's first PEs as the program wants.
func (h *Host) Devices() []int32 {
	if h.PEs != nil {
		return h.PEs
	}
	pes := make([]int32, h.program.DefaultRanks(h.Device.Machine().NumPEs()))
	for i := range pes {
		pes[i] = int32(i)
	}
	return pes
}

// DefaultRanks returns how many PEs of a machine take part unless a number is given; 0: as
// configured.
func (p *Program) DefaultRanks(machine int) int { return min(p.Ranks, machine) }

// Report adds a line to the output of the run.
func (h *Host) Report(format string, args ...any) { h.report(fmt.Sprintf(format, args...)) }

// Measure selects the launches whose time, traffic and messages count for the program, in place of
// all its launches. A program may call it before the first one.
func (h *Host) Measure(l ...*device.Launched) {
	if h.measured == nil {
		h.measured = []*device.Launched{}
	}
	h.measured = append(h.measured, l...)
}

// Measured lists the launches given to Measure; nil: it was not called.
func (h *Host) Measured() []*device.Launched { return h.measured }

// ErrNoLaunch is returned for a program without a launch, which has no figures.
var ErrNoLaunch = errors.New("the host program made no launch, so there are no figures")

// Execute runs a program to its end. One that launched nothing has failed: the figures of a
// run are the results of its launches.
func (p *Program) Execute(ctx context.Context, h *Host) error {
	if err := p.CheckOptions(h.With); err != nil {
		return err
	}
	if err := p.Run(ctx, h); err != nil {
		// A shape of more than MaxInt32 elements is the fault of the flag, not of the program.
		if errors.Is(err, device.ErrShape) && h.asked > math.MaxInt32/h.Device.Machine().NumPEs() {
			return fmt.Errorf("--n-elem %d: %w", h.asked, err)
		}
		return err
	}
	if len(h.Device.Launches()) == 0 {
		return ErrNoLaunch
	}
	return nil
}

// Values is a comparison of results with a reference.
type Values struct {
	What      string // the result that was compared
	Elements  int
	Wrong     int
	First     int // the first wrong element
	Got, Want float64
	Bound     float64 // the largest difference that is allowed

	Digest uint64 // FNV-1a of the bits of all results
}

// Expect compares a result with a reference, element by element within a bound. The run's
// verdict on values is that all comparisons of its program agree. A NaN and an infinity agree
// with their like only, however wide the bound.
func (h *Host) Expect(what string, got, want, bound []float64) {
	v := Values{What: what, Elements: len(want), Digest: digest(got)}
	for i := range want {
		if i < len(got) && agrees(got[i], want[i], bound[i]) {
			continue
		}
		if v.Wrong == 0 {
			v.First, v.Want, v.Bound = i, want[i], bound[i]
			if i < len(got) {
				v.Got = got[i]
			}
		}
		v.Wrong++
	}
	h.values = append(h.values, v)
}

// digest returns the FNV-1a hash of values, taken eight bytes at a time.
func digest(values []float64) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, v := range values {
		h = (h ^ math.Float64bits(v)) * 0x100000001b3
	}
	return h
}

// agrees reports whether got is within bound of want.
func agrees(got, want, bound float64) bool {
	switch {
	case got == want || got != got && want != want:
		return true
	case got-got != 0 || want-want != 0: // one of them is no finite number
		return false
	}
	return math.Abs(got-want) <= bound
}

// Values lists the comparisons of the program so far.
func (h *Host) Values() []Values { return h.values }
