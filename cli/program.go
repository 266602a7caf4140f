package cli

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/tl"

	"github.com/spf13/cobra"
)

func (a *app) programCommand() *cobra.Command {
	var spec run.Spec
	var format string
	var rank rankFlag
	var classes bool
	cmd := &cobra.Command{
		Use:   "program ALGORITHM",
		Short: "Print the operations of each rank, as text that run --program accepts",
		Long: `Record the kernel of every rank, and print its operations. The text is complete: it also states
collective, elements, type, operator, rings, windows, slots and scratch memory. kernbench run
--program FILE runs it. docs/program.md describes the format.

A kernel that branches on a value of the run, such as a message from any direction or a word, cannot
be recorded. The error names the line that reads the value.
` + exitCodes,
		Example: `  kernbench program ring_allreduce --ranks 4 --n-elem 8
  kernbench program ring_allreduce_chunked --ranks 8 --classes
  kernbench program tree_allreduce --ranks 8 --n-elem 64 --dtype f32 --op max >tree.txt
  kernbench run --program tree.txt --verify-data`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: found %d algorithms, want one (kernbench list algorithms)", verbOf(cmd), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rejectFiles(false, args[0]); err != nil {
				return err
			}
			spec.Algorithm = args[0]
			f, err := run.Record(cmd.Context(), spec)
			if err != nil {
				return interrupted(cmd.Context(), err)
			}
			if r := rank.rank; r != nil {
				if *r >= f.World {
					return fmt.Errorf("--rank %d: the ranks are 0 to %d", *r, f.World-1)
				}
				f = f.Only(*r)
			}
			if classes {
				f.Classes()
			}
			if format == "json" {
				return f.WriteJSON(a.out)
			}
			return f.Write(a.out)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	machineFlags(f, &spec)
	tuningFlag(f, &spec)
	f.Var((*count)(&spec.Ranks), "ranks",
		"number of ranks, on the first PEs of the machine (default: from the bench or ccl.yaml, else all PEs)")
	f.Var(&rank, "rank", "print rank `R` only (default: all)")
	f.Var((*count)(&spec.NElem), "n-elem", "elements per rank (default: from the bench or ccl.yaml)")
	f.Var(&parsed[dtype.Type]{to: &spec.DType, parse: dtype.Parse, kind: "TYPE"}, "dtype",
		"element type: "+join(dtype.Types())+" (default: from the bench, mostly f16)")
	f.Var(&parsed[tl.ReduceOp]{to: &spec.Op, parse: tl.ParseReduceOp, kind: "OP"}, "op",
		"reduction: "+join(tl.ReduceOps())+" (default sum)")
	f.BoolVar(&classes, "classes", false, "print ranks that differ in offsets and peers only once, with a column for each difference")
	formatFlag(f, &format)
	return cmd
}
