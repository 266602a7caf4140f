package cli

import (
	"bytes"
	"errors"
	"fmt"

	"kernbench/internal/outfile"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/plot/scene"
	"kernbench/report"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) topologyCommand() *cobra.Command {
	verbs := []string{"show", "validate"}
	cmd := &cobra.Command{
		Use:   "topology show|validate",
		Short: "Draw a machine, or check the files that describe one",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: want show or validate", verbOf(cmd))
			}
			return unknownWord("subcommand of topology", args[0], verbs)
		},
	}
	cmd.SetFlagErrorFunc(machineIsArgument)
	cmd.AddCommand(a.topologyShowCommand(), a.topologyValidateCommand())
	return cmd
}

// machineIsArgument is flagError for commands that take the machine as an argument.
func machineIsArgument(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedName() == "topology" {
		return fmt.Errorf("unknown flag --topology: the machine is an argument of %s", cmd.UseLine())
	}
	return flagError(cmd, err)
}

func (a *app) topologyShowCommand() *cobra.Command {
	var sets []string
	var format, output string
	cmd := &cobra.Command{
		Use:   "show [PRESET|FILE]",
		Short: "Draw the networks, links and memories of a machine",
		Long: `Draw each network of a machine once: the levels of SIPs from the outermost inwards, one SIP with its
cubes, one cube with its routers, PEs and SRAM. Below are each type of link with its rate, the
memories, and the narrowest cut between two halves of the PEs. A picture (svg, png, html) nests the
networks: each is drawn in the first member of the one around it. A device with one PE has no
routers. The default is the built-in machine.
` + exitCodes,
		Example: `  kernbench topology show
  kernbench topology show dgx-h100 --format svg -o dgx-h100.svg
  kernbench topology show mine.yaml --set system.sips.count=4 --format json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			d, err := drawing(name, sets)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			switch format {
			case "svg", "png", "html":
				var data []byte
				data, err = scene.Encode(d.Picture(report.AboutFigure(run.NewMadeBy(a.commandLine(), d.Fingerprint()),
					d.Machine)), scene.Format(format))
				b.Write(data)
			case "json":
				err = report.JSON(&b, d)
			default:
				err = report.Topology(&b, d)
			}
			if err != nil {
				return err
			}
			if output != "" && output != machine.Stdin {
				return outfile.WriteFile(output, b.Bytes())
			}
			_, err = a.out.Write(b.Bytes())
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	setFlags(f, &sets, "a key of topology.yaml")
	f.Var(newWord(&format, "text", "FORMAT", "text", "svg", "png", "html", "json"), "format", "text, svg, png, html or json")
	f.StringVarP(&output, "output", "o", "", "`FILE` to write, instead of standard output")
	return cmd
}

func (a *app) topologyValidateCommand() *cobra.Command {
	var sets []string
	var format string
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check files that describe a machine",
		Long: `Check each FILE or preset, and print every error: the place, what was found, and what would be right.
Then build the machine, and check what only the whole shows: buffers too small for a message, routes
that can wait for each other in a cycle. - is standard input.

The exit status is 0 if all files are valid, else 2.
`,
		Example: `  kernbench topology validate mine.yaml
  kernbench topology validate machines/*.yaml --format json
  sed s/256/128/ mine.yaml | kernbench topology validate -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: name a file, or - for standard input", verbOf(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := machine.Validate(cmd.Context(), args, sets, cmd.InOrStdin())
			if all != nil {
				if perr := show(a, format, all, report.Validity); perr != nil {
					return perr
				}
			}
			if err != nil {
				return interrupted(cmd.Context(), err)
			}
			for i := range all {
				if !all[i].OK {
					return reported{errors.New(all[i].File + " describes no machine")}
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	setFlags(f, &sets, "a key of topology.yaml over each file")
	formatFlag(f, &format)
	return cmd
}
