//go:build noview

package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// errNoViewer is the error of a program that was built without the viewer.
var errNoViewer = errors.New("this kernbench was built without its viewer: build it without -tags noview")

func (a *app) viewCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "view [FILE|DB|FOLDER]...",
		Short:              "View, compare and start runs in a browser (not in this program)",
		Long:               errNoViewer.Error(),
		DisableFlagParsing: true,
		RunE:               func(*cobra.Command, []string) error { return errNoViewer },
	}
}
