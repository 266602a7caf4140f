//go:build noview

package cli

import (
	"errors"
	"testing"
)

// Without the viewer, the error of its verb explains how to build kernbench with it.
func TestNoViewer(t *testing.T) {
	cmd := (&app{}).viewCommand()
	cmd.SetArgs([]string{"--no-browser", "x.html"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); !errors.Is(err, errNoViewer) {
		t.Errorf("got %v", err)
	}
}
