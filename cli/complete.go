package cli

import (
	"kernbench/algorithm"
	"kernbench/bench"

	"github.com/spf13/cobra"
)

// completeValues lets a shell complete the values of flags that name algorithms, machines and
// benches, for a verb and its subcommands.
func completeValues(cmd *cobra.Command) {
	for flag, names := range map[string]func() []string{"algorithm": algorithms, "topology": presets, "bench": benches} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(), cobra.ShellCompDirectiveDefault // files too
		})
		if err != nil {
			panic(err) // one flag has two completions
		}
	}
	for _, c := range cmd.Commands() {
		completeValues(c)
	}
}

func algorithms() []string {
	names := []string{algorithm.Auto}
	for _, a := range algorithm.All() {
		names = append(names, a.Name)
	}
	return names
}

func benches() []string {
	var names []string
	for _, p := range bench.All() {
		names = append(names, p.Name)
	}
	return names
}
