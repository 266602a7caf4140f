package cli

import (
	"errors"
	"fmt"

	"kernbench/dtype"
	"kernbench/lab/limits"
	"kernbench/report"
	"kernbench/unit"

	"github.com/spf13/cobra"
)

func (a *app) boundCommand() *cobra.Command {
	spec := limits.Spec{Min: unit.KiB, Max: 16 * unit.MiB, Factor: 8}
	var format string
	cmd := &cobra.Command{
		Use:   "bound COLLECTIVE",
		Short: "Print lower limits of a collective's time on a machine, and what sets them",
		Long: `Print lower limits of a collective's simulated time. No algorithm on this machine is faster than the
highest of them, which is marked by *. Each row names what sets the limit: two ranks, a link, a cut
through the machine, a memory, the vector units.

The rows vector, fan-out, slots and pipeline hold for one algorithm only, on rings as configured.
` + exitCodes,
		Example: `  kernbench bound all_reduce --ranks 8
  kernbench bound all_to_all -b 1M -e 1M --topology ahbm-1sip
  kernbench bound broadcast --ranks 64 --n-elem 4096 --dtype f16 --set defaults.n_slots=2 --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: found %d arguments, want one collective (kernbench list collectives)", verbOf(cmd), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			spec.Collective, spec.Base.Command = args[0], a.commandLine()
			flags := cmd.Flags()
			if flags.Changed("n-elem") && (flags.Changed("minbytes") || flags.Changed("maxbytes")) {
				return errors.New("--n-elem and a range of sizes: both set the size; give one of them")
			}
			if flags.Changed("stepbytes") && !flags.Changed("stepfactor") {
				spec.Factor = 0
			}
			l, err := limits.Run(cmd.Context(), spec)
			if l != nil {
				if perr := show(a, format, l, report.Bound); perr != nil {
					return perr
				}
			}
			return interrupted(cmd.Context(), err)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.VarP(&size{&spec.Min}, "minbytes", "b", "smallest size")
	f.VarP(&size{&spec.Max}, "maxbytes", "e", "largest size")
	f.IntVarP(&spec.Factor, "stepfactor", "f", spec.Factor, "`FACTOR` between sizes")
	f.VarP(&size{&spec.Step}, "stepbytes", "i", "step between sizes, instead of a factor")
	f.Var((*count)(&spec.Base.NElem), "n-elem", "elements per rank, instead of sizes")
	f.Var(&parsed[dtype.Type]{to: &spec.Base.DType, parse: dtype.Parse, kind: "TYPE"}, "dtype",
		"element type: "+join(dtype.Types())+" (default f32)")
	f.VarP(&rankFlag{&spec.Root}, "root", "r", "`RANK` of the root, for rooted collectives")
	f.Var((*count)(&spec.Base.Ranks), "ranks", "number of ranks, on the first PEs of the machine (default: from ccl.yaml, else all PEs)")
	f.VarP((*deviceList)(&spec.Base.Devices), "device", "d",
		"PEs of the ranks, by their numbers in the machine's rank order: 0-3 or 0,2,5-7 (instead of --ranks)")
	machineFlags(f, &spec.Base)
	f.StringVar(&spec.Base.Algorithm, "algorithm", "", "`NAME` of the algorithm for the configured limits (default: that of perf)")
	fidelityFlag(f, &spec.Base)
	formatFlag(f, &format)
	return cmd
}
