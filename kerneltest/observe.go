package kerneltest

import (
	"context"

	"kernbench/collective"
	"kernbench/exec"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Outcome is the result of a run.
type Outcome struct {
	Outputs [][]float64       // each rank's shard, or its result apart
	In, Out [][]byte          // each rank's shard before, and Outputs as they lie in memory
	Prov    []collective.Prov // the contributors to Outputs
	Hasher  *collective.Hasher
	Result  launch.Result
	Window  *mem.Window // of Config.Layout, with the control words as the run left them

	Operation func(id int32) string // the operation that made an opaque element, with its place
	Overflow  string                // the first operation that made an infinity or a NaN of finite operands
}

// Once performs one schedule of a kernel and returns the contents of the ranks' shards afterwards.
// Any fault ends the test. It judges nothing else.
func Once(t TB, k tl.Kernel, cfg Config) [][]float64 {
	t.Helper()
	out, err := Try(k, cfg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out
}

// Try is Once for tests that expect a fault.
func Try(k tl.Kernel, cfg Config) ([][]float64, error) {
	o, err := Observe(context.Background(), k, cfg)
	if err != nil {
		return nil, err
	}
	return o.Outputs, nil
}

// Observe performs one schedule of a kernel as a collective by cfg.Op. The inputs are labelled as
// the ranks' contributions, and the outcome states which results have them.
func Observe(ctx context.Context, k tl.Kernel, cfg Config) (*Outcome, error) {
	l, err := cfg.launch(k)
	if err != nil {
		return nil, err
	}
	row, err := cfg.executor()
	if err != nil {
		return nil, err
	}
	log := oplog.New(oplog.Options{Inline: !row.Can(exec.Clock), Timed: row.Can(exec.Clock), Explain: true})
	defer log.Close()
	o := &Outcome{Hasher: log.Hasher(), Operation: log.Why}
	if err := cfg.load(log, l, o); err != nil {
		return nil, err
	}
	x, err := cfg.open(row, log)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	log.Begin(cfg.Op, cfg.World)
	res, err := cfg.Limits.Launch(ctx, x, l)
	log.End()
	if err != nil {
		nameMemory(err, &l.Groups[0].Args)
		return nil, err
	}
	o.Result, o.Overflow = *res, log.Overflow(0)
	return o, cfg.read(log, l, o)
}
