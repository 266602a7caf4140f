package report

import (
	"errors"
	"fmt"
	"io"
	"time"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// PerfNCCL writes a sweep, when it has ended, as nccl-tests does with -J: in version 3 of its JSON.
// There Booleans are strings and a root is a padded string.
type PerfNCCL struct {
	W io.Writer

	Args          []string         // of the command, after the collective
	Threads, GPUs int              // -t and -g; 0: not given
	Now           func() time.Time // the wall clock, read at the start and at the end

	started time.Time
}

// ncclVersion is the version of the form.
const ncclVersion = 3

type ncclFile struct {
	Version     int              `json:"version"`
	Started     string           `json:"start_time"`
	Args        []string         `json:"args"`
	Env         []string         `json:"env"`
	NCCL        int              `json:"nccl_version"` // 0: none
	Config      ncclConfig       `json:"config"`
	Results     []ncclResult     `json:"results"`
	OutOfBounds ncclOutOfBounds  `json:"out_of_bounds"`
	Average     ncclAverageBusBW `json:"average_bus_bandwidth"`
	Errors      []string         `json:"errors"`
	Ended       string           `json:"end_time"`

	MadeBy run.MadeBy `json:"made_by"` // which nccl-tests does not have
}

type ncclConfig struct {
	Threads      int          `json:"nthreads"`
	GPUs         int          `json:"ngpus"`
	Min          int64        `json:"minimum_bytes"`
	Max          int64        `json:"maximum_bytes"`
	Factor       int          `json:"step_factor,omitempty"`
	Step         int64        `json:"step_bytes,omitempty"`
	Warmup       int          `json:"warmup_iters"`
	Iterations   int          `json:"iterations"`
	Aggregated   int          `json:"aggregated_iterations"`
	Validation   int          `json:"validation"`
	Graph        int          `json:"graph"`
	Blocking     string       `json:"blocking_collectives"`
	PerIter      string       `json:"per_iter_timing"`
	PerIterSkip  int          `json:"per_iter_skip"`
	ParallelInit string       `json:"parallel_init"`
	Devices      []ncclDevice `json:"devices"`
}

type ncclDevice struct {
	Rank   int    `json:"rank"`
	Group  int    `json:"group"`
	PID    int    `json:"pid"`
	Host   string `json:"hostname"`
	Device int    `json:"device"`
	Hex    string `json:"device_hex"`
	Info   string `json:"device_info"`
}

type ncclResult struct {
	Size       int64          `json:"size"`
	Count      int            `json:"count"`
	Type       string         `json:"type"`
	RedOp      string         `json:"redop"`
	Root       string         `json:"root"`
	OutOfPlace *ncclPlacement `json:"out_of_place"` // nil: not measured
	InPlace    *ncclPlacement `json:"in_place"`
	Iterations int            `json:"actual_iterations"`
	Name       string         `json:"experiment_name"`
}

type ncclPlacement struct {
	Time  float64  `json:"time"` // µs
	AlgBW float64  `json:"alg_bw"`
	BusBW float64  `json:"bus_bw"`
	Wrong *float64 `json:"nwrong"` // nil: not checked
}

type ncclOutOfBounds struct {
	Count int64  `json:"count"`
	OK    string `json:"okay"`
}

type ncclAverageBusBW struct {
	Bandwidth float64 `json:"bandwidth"`
	OK        string  `json:"okay"`
}

// Begin refuses sweeps that the format cannot express, and writes nothing yet.
func (n *PerfNCCL) Begin(s *perf.Sweep) error {
	switch {
	case !s.Timed:
		return fmt.Errorf("-J: executor %s has no clock, and each result of nccl-tests' JSON has a time: use --format json", s.Executor)
	case s.Ranks == 0:
		return errors.New("-J: nccl-tests' JSON has one number of ranks for all rows, and these differ: use --format json, or leave out --vary defaults.world_size")
	}
	n.started = n.Now()
	return nil
}

// Row writes nothing yet.
func (n *PerfNCCL) Row(*perf.Sweep, *perf.Row) error { return nil }

// End writes all.
func (n *PerfNCCL) End(s *perf.Sweep) error {
	f := ncclFile{
		Version: ncclVersion, Started: ncclTime(n.started), Ended: ncclTime(n.Now()), MadeBy: s.MadeBy,
		Env: []string{}, Errors: []string{}, Results: []ncclResult{},
		Args: append([]string{s.NCCL + "_perf"}, n.Args...),
		Config: ncclConfig{
			Threads: max(1, n.Threads), GPUs: n.GPUs, Min: int64(s.Min), Max: int64(s.Max), Factor: s.Factor, Step: int64(s.Step),
			Warmup: s.Warmup, Iterations: s.Iterations, Aggregated: 1,
			Blocking: ncclBool(false), PerIter: ncclBool(false), ParallelInit: ncclBool(false),
		},
		OutOfBounds: ncclOutOfBounds{s.Wrong, ncclBool(s.Wrong == 0)},
		Average:     ncclAverageBusBW{s.AvgBusBW, "unchecked"}, // no expected value was given
	}
	if s.Check {
		f.Config.Validation = 1
	}
	if f.Config.GPUs == 0 {
		f.Config.GPUs = s.Ranks / f.Config.Threads
	}
	for r := range s.Ranks {
		f.Config.Devices = append(f.Config.Devices, ncclDevice{Rank: r, Host: "kernbench", Device: r, Info: s.Machine})
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		f.Results = append(f.Results, ncclResult{
			Size: int64(r.Size), Count: r.Count, Type: ncclType(r.Type), RedOp: r.RedOp, Root: fmt.Sprintf("%6d", r.Root),
			OutOfPlace: ncclPlacementOf(r.OutOfPlace), InPlace: ncclPlacementOf(r.InPlace), Iterations: s.Iterations, Name: experiment(r),
		})
		if why := remark(r); why != "" {
			f.Errors = append(f.Errors, fmt.Sprintf("%s, %d B: %s", experiment(r), int64(r.Size), why))
		}
	}
	return JSON(n.W, f)
}

func ncclPlacementOf(p *sweep.Placement) *ncclPlacement {
	if p == nil || p.Error != "" {
		return nil
	}
	out := &ncclPlacement{Time: float64(p.Time) / 1e6, AlgBW: p.AlgBW, BusBW: p.BusBW}
	if p.Wrong != nil {
		wrong := float64(*p.Wrong)
		out.Wrong = &wrong
	}
	return out
}

// experiment names what distinguishes rows of one size: the algorithm and its settings.
func experiment(r *perf.Row) string {
	name := r.Algorithm
	for _, s := range r.Settings {
		name += " " + s.Key + "=" + s.Value
	}
	return name
}

func ncclBool(b bool) string { return fmt.Sprint(b) }

func ncclTime(t time.Time) string { return t.Format(time.DateTime) }
