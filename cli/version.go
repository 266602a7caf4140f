package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and what it was built with",
		Args:  nothing,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "kernbench %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// version is that of this module, which is a dependency in a user's own program, with the
// commit where the build recorded one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	for _, d := range info.Deps {
		if d.Path == "kernbench" {
			v = d.Version
		}
	}
	if v == "" {
		v = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && info.Main.Path == "kernbench" {
			v += " " + s.Value
		}
	}
	return v
}
