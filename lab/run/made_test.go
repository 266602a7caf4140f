package run

import (
	"strings"
	"testing"
)

func TestOnlyLoadedJobsRun(t *testing.T) {
	for name, do := range map[string]func() error{
		"Execute": func() error { _, err := new(Job).Execute(t.Context(), Pass{}); return err },
		"Run":     func() error { _, err := new(Job).Run(t.Context()); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "not made by Load") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
