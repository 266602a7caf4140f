package cli

import (
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/frontend"
	"kernbench/frontend/plan"
	"kernbench/report"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/spf13/cobra"
)

func (a *app) selectCommand() *cobra.Command {
	var q plan.Query
	var dir, format string
	var bytes unit.Bytes
	elem := dtype.F16
	op := tl.Sum
	cmd := &cobra.Command{
		Use:   "select --dir FOLDER --collective NAME --bytes N",
		Short: "Print which file a runtime would choose for a call, and why",
		Long: `Print the file that each runtime chooses for a call, and why it rejects the others. A runtime chooses
the first file that fits. If none fits, its default algorithm runs, without a message.
Files are tried in the order of their names; a runtime that reads a folder may have another order.
The chosen file is checked for this call. Without --ranks, select tries each number of ranks that a
file for the collective has.
` + exitCodes,
		Example: `  kernbench select --dir algorithms --collective all_reduce --bytes 1MiB --ranks 8
  kernbench select --dir algorithms --collective all_gather --bytes 64KiB --ranks 8 --in-place --format json`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"dir", "collective", "bytes"} {
				if !cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is missing (%s --help shows the flags)", name, cmd.CommandPath())
				}
			}
			var names []string
			for _, co := range collective.All() {
				names = append(names, co.Name)
			}
			if !slices.Contains(names, q.Collective) {
				return unknownWord("collective", q.Collective, names)
			}
			q.Bytes, q.Elem, q.Op = int64(bytes), int64(elem.Size()), op.String()
			sources, _, err := frontend.Find(dir)
			if err != nil {
				return err
			}
			if len(sources) == 0 {
				return fmt.Errorf("--dir %s: found no file of a known format", dir)
			}
			worlds := []int{q.World}
			if q.World == 0 {
				worlds = frontend.Worlds(sources, q.Collective)
			}
			if len(worlds) == 0 {
				return fmt.Errorf("--dir %s: found no file for %s: --ranks N prints the reason for each file", dir, q.Collective)
			}
			var selections []frontend.Selection
			for _, q.World = range worlds {
				selections = append(selections, frontend.Choose(sources, q)...)
			}
			return show(a, format, selections, report.Selections)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&dir, "dir", "", "`FOLDER` of the files")
	f.StringVar(&q.Collective, "collective", "", "collective `NAME` of the call (kernbench list collectives)")
	f.Var(&size{&bytes}, "bytes", "bytes of the input or output of a rank, whichever is larger, such as 1MiB")
	f.Var((*count)(&q.World), "ranks", "number of ranks of the call (default: each number that a file has)")
	f.BoolVar(&q.InPlace, "in-place", false, "the call is in place: the result overwrites the input")
	f.Var(&parsed[dtype.Type]{to: &elem, parse: dtype.Parse, kind: "TYPE"}, "dtype", "element type: "+join(dtype.Types()))
	f.Var(&parsed[tl.ReduceOp]{to: &op, parse: tl.ParseReduceOp, kind: "OP"}, "op", "reduction: "+join(tl.ReduceOps()))
	formatFlag(f, &format)
	return cmd
}
