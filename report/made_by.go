package report

import (
	"strings"

	"kernbench/lab"
)

// madeByMarkdown is the last line of a page with figures: where they come from.
func madeByMarkdown(p lab.MadeBy) string {
	lines := p.Lines()
	for i, l := range lines {
		if command, ok := strings.CutPrefix(l, "command: "); ok {
			lines[i] = "command: `" + command + "`"
		}
	}
	return "Made by " + strings.Join(lines, "; ") + "\n"
}
