package cli

import (
	"io"

	"kernbench/report"
)

// show writes the result of a verb in the format of its flag.
func show[T any](a *app, format string, v T, text func(io.Writer, T) error) error {
	if format == "json" {
		return report.JSON(a.out, v)
	}
	return text(a.out, v)
}
