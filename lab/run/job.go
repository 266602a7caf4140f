package run

import (
	"cmp"

	"kernbench/bench"
	"kernbench/check/numerics"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/tl"
	"kernbench/tl/answers"
)

// OneCall returns a copy of a job that performs one call of a collective. Results are in the place
// of contributions or in a tensor of their own.
func (x *Job) OneCall(c collective.Call, inPlace bool) *Job { return x.OneCallOn(c, inPlace, nil) }

// OneCallOn is OneCall on contributions of a set; nil: on those of bench.Inputs.
func (x *Job) OneCallOn(c collective.Call, inPlace bool, set *numerics.Set) *Job {
	y := *x
	y.NElem, y.DType, y.Op = max(1, c.Elems), c.Type, c.Op
	y.program, y.named = bench.OnceOn(inPlace, c.Root, set), false
	return &y
}

// On returns a copy of a job for another executor, at its default fidelity.
func (x *Job) On(row *exec.Row) *Job {
	y := *x
	y.on(row)
	return &y
}

func (x *Job) on(row *exec.Row) {
	x.row, x.Executor, x.fidelity = row, row.Name, row.DefaultFidelity
}

// Verified returns a copy of a job that moves and checks data, or does not.
func (x *Job) Verified(verify bool) *Job {
	y := *x
	y.VerifyData = verify
	return &y
}

// Using returns a copy of a job that runs an algorithm with KEY=VALUE settings of its own. The
// error is a mistake in a setting.
func (x *Job) Using(algorithm string, settings []string) (_ *Job, err error) {
	y := *x
	y.Algorithm = algorithm
	if len(settings) > 0 {
		y.Entries, err = x.Entries.With(algorithm, settings)
	}
	return &y, err
}

// answering returns a copy of a job whose kernels get other values from atomics, and may issue so
// many instructions each; 0: any number.
func (x *Job) answering(a *answers.Answers, most uint32) *Job {
	y := *x
	y.Edits = &tl.Edits{Core: a.Core}
	if most > 0 {
		y.Limits.Events = most
	}
	return &y
}

// BenchProgram returns the host program that a job runs.
func (x *Job) BenchProgram() *bench.Program { return x.program }

// Row returns the executor of a job.
func (x *Job) Row() *exec.Row { return x.row }

// AtFidelity returns the fidelity of the executor; "": it has none.
func (x *Job) AtFidelity() string { return x.fidelity }

// World returns how many ranks the device is asked for; 0: as configured.
func (x *Job) World() int { return cmp.Or(x.Ranks, x.world) }

// Participants returns the PEs that take part, for any algorithm: all unless some are named.
func (x *Job) Participants() []int32 {
	if x.pes != nil {
		return x.pes
	}
	pes := make([]int32, cmp.Or(x.World(), x.Machine.NumPEs()))
	for i := range pes {
		pes[i] = int32(i)
	}
	return pes
}

// Device returns a device without an executor: it plans algorithms and launches nothing.
func (x *Job) Device() (*device.Context, error) {
	return device.New(device.Config{Machine: x.Machine, CCL: x.Entries, Row: x.row, World: x.World(), PEs: x.pes})
}

// Open makes the executor of a job, on its machine.
func (x *Job) Open(s exec.Setup) (exec.Executor, error) {
	s.Machine, s.Order, s.Fidelity = x.Machine, x.order, x.fidelity
	return x.row.Open(s)
}
