package report

import (
	"strings"

	"kernbench/lab/run"
)

// madeByMarkdown returns the last line of a page with figures: the command and version that made
// them.
func madeByMarkdown(p run.MadeBy) string {
	lines := p.Lines()
	for i, l := range lines {
		if command, ok := strings.CutPrefix(l, "command: "); ok {
			lines[i] = "command: `" + command + "`"
		}
	}
	return "Made by " + strings.Join(lines, "; ") + "\n"
}
