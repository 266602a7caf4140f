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
		Short: "Which file would a runtime take for a call, and why not the others?",
		Long: `Runtimes take the first file that fits a call, and skip the others without a word: then the default
algorithm runs. This names the file that each runtime takes, and the reasons against every other.
Files are tried in the order of their names. The file that is taken is judged for this call.
Without --ranks the question is asked for each number of ranks that a file for the collective has.
` + exitCodes,
		Example: `  kernbench select --dir algorithms --collective all_reduce --bytes 1MiB --ranks 8
  kernbench select --dir algorithms --collective all_gather --bytes 64KiB --ranks 8 --in-place --format json`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"dir", "collective", "bytes"} {
				if !cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is missing", name)
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
				return fmt.Errorf("--dir %s: no file there is of a known format", dir)
			}
			worlds := []int{q.World}
			if q.World == 0 {
				worlds = frontend.Worlds(sources, q.Collective)
			}
			if len(worlds) == 0 {
				return fmt.Errorf("--dir %s: no file there is for %s: --ranks N says why each is not", dir, q.Collective)
			}
			var choices []frontend.Choice
			for _, q.World = range worlds {
				choices = append(choices, frontend.Choose(sources, q)...)
			}
			return show(a, format, choices, report.Choices)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&dir, "dir", "", "the `FOLDER` with the files")
	f.StringVar(&q.Collective, "collective", "", "collective `NAME` of the call (kernbench list collectives)")
	f.Var(&size{&bytes}, "bytes", "bytes of the larger of a rank's input and output, such as 1MiB")
	f.Var((*count)(&q.World), "ranks", "how many ranks the call has (default: each number that a file has)")
	f.BoolVar(&q.InPlace, "in-place", false, "the result takes the place of the contribution (default: memory of its own)")
	f.Var(&parsed[dtype.Type]{to: &elem, parse: dtype.Parse, kind: "TYPE"}, "dtype", "element type: "+join(dtype.Types()))
	f.Var(&parsed[tl.ReduceOp]{to: &op, parse: tl.ParseReduceOp, kind: "OP"}, "op", "reduction: "+join(tl.ReduceOps()))
	formatFlag(f, &format)
	return cmd
}
