package cli

import (
	"fmt"

	"kernbench/bench"
	"kernbench/lab/run"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// benchHelp lets the help of a verb show the options of the bench that --bench names, and of no
// other bench.
func benchHelp(cmd *cobra.Command, s *run.Spec) {
	cmd.Long += `
A bench may have options of its own: kernbench ` + cmd.Name() + ` --bench NAME --help shows them.
`
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		p := &bench.Program{}
		if s.Bench != "" {
			var err error
			if p, err = bench.Lookup(s.Bench); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "kernbench: %v\n", err)
				p = &bench.Program{}
			} else {
				cmd.Long = fmt.Sprintf("Bench %s: %s.\n\n%s", p.Name, p.Summary, cmd.Long)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, own := f.Value.(*benchOption); own {
				f.Hidden = !showOption(f, p)
			}
		})
		help(cmd, args)
	})
}

// showOption describes a flag as the option of a bench. It returns false if the bench has no such
// option.
func showOption(f *pflag.Flag, p *bench.Program) bool {
	for i := range p.Options {
		if o := &p.Options[i]; o.Name == f.Name {
			f.Usage, f.Value.(*benchOption).kind = optionUsage(o), optionKinds[o.Kind]
			return true
		}
	}
	return false
}

// optionUsage returns an option of a bench as the help shows it.
func optionUsage(o *bench.Option) string {
	return fmt.Sprintf("%s (%s; default %s)", o.Help, o.Allowed(), o.Default)
}
