package mock

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/machine"
)

// Name is the name of the executor.
const Name = "mock"

func init() {
	exec.Register(exec.Row{
		Name: Name, Summary: "all ranks at once, no clock", Default: exec.Checking,
		Capabilities: []exec.Capability{
			exec.Messages, exec.Data, exec.Account, exec.Schedules, exec.Rings, exec.OneSided, exec.Streams, exec.Tasks,
		},
		New: func(s exec.Setup) (exec.Executor, error) {
			return New(Options{
				Data: s.Data, History: s.History, RecordLines: s.RecordLines, Edits: s.Edits, Pointers: s.Pointers, Trace: s.Trace,
				Seed: s.Seed, Order: s.Order, NoAtomics: !s.Machine.Topology().Fabric().Atomics, Multimem: multimemOf(s.Machine),
			}), nil
		},
	})
}

// multimemOf returns what a machine lacks for operations on all copies.
func multimemOf(m *machine.Machine) func(pes []int32, t dtype.Type, reduces, copies bool) error {
	found := map[string]*machine.Multimem{} // by their PEs
	return func(pes []int32, t dtype.Type, reduces, copies bool) (err error) {
		key := fmt.Sprint(pes)
		x, known := found[key]
		if !known {
			if x, err = m.Multimem(pes); err != nil {
				return err
			}
			found[key] = x
		}
		if reduces {
			err = x.CheckReduce(t.String())
		}
		if err == nil && copies {
			err = x.CheckMulticast()
		}
		return err
	}
}
