package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (a *app) newAlgorithmCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "algorithm NAME",
		Short: "Write algorithm/NAME.go and its test into this checkout of kernbench",
		Long: `Write a working all-reduce and its test, to be changed into what you have in mind. It must be
called inside a checkout of kernbench; elsewhere, kernbench new project DIR makes a module of your own.`,
		Example: "  kernbench new algorithm ring_max",
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
			s.Package = "algorithm"
			dir := filepath.Join(root, "algorithm")
			files := []file{
				{filepath.Join(dir, s.Name+".go"), "algorithm.go.tmpl"},
				{filepath.Join(dir, s.Name+"_test.go"), "algorithm_test.go.tmpl"},
			}
			if err := s.write(files); err != nil {
				return err
			}
			for _, f := range files {
				fmt.Fprintln(a.out, "wrote", f.path)
			}
			return templates.ExecuteTemplate(a.out, "algorithm.txt.tmpl", s)
		},
	}
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
