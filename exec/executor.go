package exec

import (
	"context"
	"io"

	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Executor runs launches, one after the other.
type Executor interface {
	// Launch runs a kernel to its end. It returns a mistake of the kernel as one of the types of
	// package fault.
	Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error)
	// Data returns the log that carries values, nil in a run without a data pass.
	Data() *oplog.Log
	// Close ends what the executor has running.
	Close()
}

// Streamer is an Executor that has the capability Streams.
type Streamer interface {
	// RunStreams performs the queued work of all streams, in parallel, to the end.
	RunStreams(ctx context.Context, b *launch.Batch) (*launch.Result, error)
}

// Counter is an Executor that counts what links carry, if Setup.Usage is set.
type Counter interface {
	// Counts returns what links have carried, by link of the machine.
	Counts() []noc.Count
}

// Setup is the argument of an executor's constructor. A field is zero if the row lacks its
// capability.
type Setup struct {
	Machine *machine.Machine

	Order    mem.Ordering // of effects on other ranks' memory, as in the topology of Machine
	Fidelity string       // Network: one of Row.Fidelities; "" is Row.DefaultFidelity
	Seed     uint64       // Schedules: number of a random schedule; 0 is the executor's own

	Data     *oplog.Log   // Data: where to record what happens to values; nil for none
	History  *history.Log // Account: where to record accesses to memory; nil for none
	Trace    trace.Sink   // Trace, or Messages for sends and receives without times: consumer of events; nil for none
	Causes   *cause.Log   // Causes: where to record why time passes; nil for none
	Scope    trace.Scope  // Trace: the part of the run that Trace gets
	Usage    *trace.Usage // Trace: gets all of the run; nil for none. A Counter then counts
	Pointers io.Writer    // Rings: gets the pointers of all rings after each launch; nil for none

	Edits       *tl.Edits // of kernels; nil for none
	RecordLines bool      // keep the kernel's source lines, for faults that name two operations
	SecondCore  bool      // a second processor is idle; it changes no result

	// Progress is called now and then with the number of ranks that have ended. It may be nil,
	// and an executor need not call it.
	Progress func(done, ranks int, now unit.Time)
}
