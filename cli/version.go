package cli

import (
	"fmt"
	"runtime"

	"kernbench/lab/run"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the Go release that built it",
		Args:  nothing,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "kernbench %s %s %s/%s\n", run.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
