package calibrate

import (
	"fmt"
	"path/filepath"
	"strings"

	"kernbench/conf"
	"kernbench/unit"
)

// YAML is the fitted machine as a topology.yaml: that of the machine before, with the keys changed
// that were fitted, each with a comment, and with what auto runs at each size.
func (c *Calibration) YAML() ([]byte, error) {
	tables, err := c.tables()
	if err != nil {
		return nil, err
	}
	return c.yaml(tables)
}

// yaml is YAML with some choices.
func (c *Calibration) yaml(choices string) ([]byte, error) {
	table := filepath.Base(c.File)
	above := []string{
		fmt.Sprintf("%s, calibrated to %s: %s of %d ranks, %s.", filepath.Base(c.Topology), table, c.Collective, c.Ranks, c.Type),
		fmt.Sprintf("Simulated times are off by %.1f %% in the mean over %s that were fitted, and by %.1f %% over %d that were not.",
			c.Fitted.Mean*100, unit.Count(c.Fitted.Sizes, "size"), c.HeldOut.Mean*100, c.HeldOut.Sizes),
		"Each is that of the fastest of " + strings.Join(c.Algorithms, ", ") + " with " + strings.Join(c.Protocols, ", ") + ".",
	}
	for _, r := range c.Header {
		if r.Key == "source" || r.Key == "hardware" {
			above = append(above, r.Key+": "+r.Value)
		}
	}
	above = append(above, c.MadeBy.Lines()...)
	above = append(above, "", "As it was before:", "")
	changes := []conf.Change{{Key: "choices", Value: choices, Block: true}}
	for _, s := range c.sets {
		key, value, _ := strings.Cut(s, "=")
		changes = append(changes, conf.Change{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value), Why: "as asked with --set"})
	}
	for i := range c.Parameters {
		p := &c.Parameters[i]
		if p.Kept != "" {
			continue
		}
		why := fmt.Sprintf("fitted to %s; before %s", table, p.param.text(p.Base))
		switch {
		case p.Low != nil && p.High != nil:
			why += fmt.Sprintf("; could be %.3g to %.3g", *p.Low, *p.High)
		case p.Low != nil:
			why += fmt.Sprintf("; could be %.3g and more", *p.Low)
		case p.High != nil:
			why += fmt.Sprintf("; could be %.3g and less", *p.High)
		default:
			why += "; the table hardly tells"
		}
		for _, s := range p.param.settings(p.Fitted) {
			changes = append(changes, conf.Change{Key: s.Key, Value: s.Value, Why: why})
		}
	}
	return conf.Rewrite(c.base, changes, above)
}
