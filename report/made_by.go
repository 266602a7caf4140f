package report

import (
	"strings"

	"kernbench/lab/run"
)

// madeByMarkdown is the last line of a page with figures: where they come from.
func madeByMarkdown(p run.MadeBy) string {
	lines := p.Lines()
	for i, l := range lines {
		if command, ok := strings.CutPrefix(l, "command: "); ok {
			lines[i] = "command: `" + command + "`"
		}
	}
	return "Made by " + strings.Join(lines, "; ") + "\n"
}
