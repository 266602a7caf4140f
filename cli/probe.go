package cli

import (
	"kernbench/lab/probe"
	"kernbench/lab/run"
	"kernbench/report"

	"github.com/spf13/cobra"
)

func (a *app) probeCommand() *cobra.Command {
	var spec run.Spec
	var format string
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Measure how fast PEs of a machine read near and far memory",
		Long: `Measure reads of memory on a machine: of a PE's own slice, a neighbour's slice, a far slice, and by
several PEs at once. On the default machine the table also has the published figures.
` + exitCodes,
		Example: "  kernbench probe\n  kernbench probe --topology ahbm-6sip-torus --set cube.noc.link_bw_gbs=512",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := probe.Run(cmd.Context(), spec)
			if len(rows) > 0 {
				if perr := show(a, format, rows, report.Probe); perr != nil {
					return perr
				}
			}
			return interrupted(cmd.Context(), err)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	machineFlags(f, &spec)
	fidelityFlag(f, &spec)
	formatFlag(f, &format)
	return cmd
}
