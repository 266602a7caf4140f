package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (a *app) newAlgorithmCommand() *cobra.Command {
	var window bool
	var performs string
	cmd := &cobra.Command{
		Use:   "algorithm NAME",
		Short: "Create NAME.go and its test in this checkout, or in a project of your own",
		Long: `Create a working kernel of a collective and its test, for you to change. In a checkout of kernbench
the files go to the folder algorithm. In a module of your own they go next to main.go. kernbench new
project DIR creates such a module.`,
		Example: "  kernbench new algorithm ring_max\n  kernbench new algorithm pass_on --collective shift\n  kernbench new algorithm pull_max --window",
		Args:    oneName("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := newScaffold(args[0])
			if err != nil {
				return err
			}
			s.Window = window
			if err := s.performs(performs); err != nil {
				return err
			}
			root, err := moduleAt(".")
			if err != nil {
				return fmt.Errorf("%w: change into one, or start a module of your own with kernbench new project DIR", err)
			}
			dir := filepath.Join(root.dir, "algorithm")
			s.Package = "algorithm"
			if root.path != kernbench {
				dir, s.Package, s.Project = root.dir, "main", root.path
				if _, err := os.Stat(filepath.Join(dir, "main.go")); err != nil {
					return fmt.Errorf("%s has no main.go, which would register the algorithm: kernbench new project DIR makes a module with one",
						dir)
				}
			}
			files := s.algorithmFiles(dir)
			if err := s.write(files); err != nil {
				return err
			}
			for _, f := range files {
				fmt.Fprintln(a.out, "wrote", f.path)
			}
			return templates().ExecuteTemplate(a.out, "algorithm.txt.tmpl", s)
		},
	}
	collectiveFlag(cmd.Flags(), &performs)
	windowFlag(cmd.Flags(), &window)
	return cmd
}

// oneName takes exactly one argument.
func oneName(what string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: found %d arguments, want one %s", verbOf(cmd), len(args), what)
		}
		return nil
	}
}
