package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (a *app) newAlgorithmCommand() *cobra.Command {
	var window bool
	cmd := &cobra.Command{
		Use:   "algorithm NAME",
		Short: "Write algorithm/NAME.go and its test into this checkout of kernbench",
		Long: `Write a working all-reduce and its test, to be changed into what you have in mind. It must be
called inside a checkout of kernbench; elsewhere, kernbench new project DIR makes a module of your own.`,
		Example: "  kernbench new algorithm ring_max\n  kernbench new algorithm pull_max --window",
		Args:    oneName("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := newScaffold(args[0])
			if err != nil {
				return err
			}
			root, err := checkout(".")
			if err != nil {
				return fmt.Errorf("%w: change into one, or start a module of your own with kernbench new project DIR", err)
			}
			s.Package, s.Window = "algorithm", window
			files := s.algorithmFiles(filepath.Join(root, "algorithm"))
			if err := s.write(files); err != nil {
				return err
			}
			for _, f := range files {
				fmt.Fprintln(a.out, "wrote", f.path)
			}
			return templates.ExecuteTemplate(a.out, "algorithm.txt.tmpl", s)
		},
	}
	windowFlag(cmd.Flags(), &window)
	return cmd
}

// oneName takes exactly one argument.
func oneName(what string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: exactly one %s is expected, got %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
