package cli

import (
	"io"

	"kernbench/report"
)

// show writes what a verb found, in the format that its flag asks for.
func show[T any](a *app, format string, v T, text func(io.Writer, T) error) error {
	if format == "json" {
		return report.JSON(a.out, v)
	}
	return text(a.out, v)
}
