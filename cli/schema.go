package cli

import (
	"kernbench/conf"

	"github.com/spf13/cobra"
)

func (a *app) schemaCommand() *cobra.Command {
	files := []string{"topology", "ccl"}
	return &cobra.Command{
		Use:       "schema topology|ccl",
		Short:     "Print the JSON Schema of a configuration file",
		Example:   "  kernbench schema topology >topology.schema.json",
		Args:      choice("schema", files),
		ValidArgs: files,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := conf.Schema(args[0])
			if err != nil {
				return err
			}
			_, err = a.out.Write(text)
			return err
		},
	}
}
