package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"kernbench/frontend"
)

// Selections prints which file each runtime takes for a call, and why it does not take the others.
func Selections(w io.Writer, selections []frontend.Selection) error {
	var b bytes.Buffer
	several := len(selections) > 0 && selections[0].Ranks != selections[len(selections)-1].Ranks
	for i, c := range selections {
		if i > 0 {
			b.WriteByte('\n')
		}
		if several && (i == 0 || c.Ranks != selections[i-1].Ranks) {
			fmt.Fprintf(&b, "%d ranks\n\n", c.Ranks)
		}
		file := c.File
		if file == "" {
			file = "no file: it runs its default algorithm, without a message"
		}
		fmt.Fprintf(&b, "%s: %s\n", c.Runtime, file)
		if c.Warning != "" {
			fmt.Fprintf(&b, "  warning: %s\n", c.Warning)
		}
		for _, o := range c.Others {
			fmt.Fprintf(&b, "  not %s: %s\n", o.File, strings.Join(o.Why, "; "))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
