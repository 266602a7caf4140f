package sim

import (
	"kernbench/exec"
	"kernbench/hw/noc"
)

// Name is the name of the executor.
const Name = "sim"

func init() {
	exec.Register(exec.Row{
		Name: Name, Summary: "with time, on a model of PEs, memories and links", Default: exec.Timing,
		Capabilities: []exec.Capability{
			exec.Clock, exec.Trace, exec.Messages, exec.Network, exec.Data, exec.Account, exec.Schedules,
			exec.Rings, exec.OneSided, exec.Streams, exec.Tasks, exec.Causes,
		},
		Fidelities: []exec.Fidelity{
			{Name: noc.Ideal.String(), Summary: "no contention"},
			{Name: noc.Slot.String()},
			{Name: noc.Flit.String(), Summary: "256 B, the reference"},
		},
		DefaultFidelity: noc.Slot.String(),
		New: func(s exec.Setup) (exec.Executor, error) {
			o := Options{
				Data: s.Data, History: s.History, Trace: s.Trace, Scope: s.Scope, Usage: s.Usage, Causes: s.Causes,
				RecordLines: s.RecordLines, Edits: s.Edits,
				Pointers: s.Pointers,
				Seed:     s.Seed, SecondCore: s.SecondCore, Progress: s.Progress,
			}
			if s.Fidelity != "" {
				var err error
				if o.Fidelity, err = noc.ParseFidelity(s.Fidelity); err != nil {
					return nil, err
				}
			}
			return New(s.Machine, o), nil
		},
	})
}
