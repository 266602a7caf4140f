package calibrate

import (
	"fmt"
	"path/filepath"
	"strings"

	"kernbench/conf"
	"kernbench/unit"
)

// YAML returns the fitted machine as a topology.yaml. It is that of the machine before, with the
// fitted keys changed, each with a comment, and with what auto runs at each size.
func (c *Calibration) YAML() ([]byte, error) { return alone(c).YAML() }

// TuningYAML returns the algorithm and the settings of each size as a tuning table. With it and the
// machine of YAML, the algorithm auto takes the times that were reported.
func (c *Calibration) TuningYAML() ([]byte, error) { return alone(c).TuningYAML() }

// alone returns the fit to one table.
func alone(c *Calibration) *Joint {
	return &Joint{Tables: []*Calibration{c}, Parameters: c.Parameters, MadeBy: c.MadeBy}
}

// YAML is Calibration.YAML of all tables.
func (j *Joint) YAML() ([]byte, error) {
	choices, err := j.choices()
	if err != nil {
		return nil, err
	}
	return j.machine(choices)
}

// TuningYAML is Calibration.TuningYAML of all tables.
func (j *Joint) TuningYAML() ([]byte, error) {
	choices, err := j.choices()
	if err != nil {
		return nil, err
	}
	text := "# Which algorithm and protocol are fastest at which size on the machine that was calibrated to\n# " +
		j.names() + ": read with --tuning FILE by the algorithm auto. A row holds from its size on.\n"
	for _, l := range j.MadeBy.Lines() {
		text += "# " + l + "\n"
	}
	return []byte(text + "tables:\n" + choices), nil
}

// names returns the files of the tables.
func (j *Joint) names() string {
	var all []string
	for _, c := range j.Tables {
		all = append(all, filepath.Base(c.File))
	}
	return strings.Join(all, ", ")
}

// machine is YAML with some choices.
func (j *Joint) machine(choices string) ([]byte, error) {
	var above []string
	for _, c := range j.Tables {
		above = append(above,
			fmt.Sprintf("%s, calibrated to %s: %s of %d ranks, %s.", filepath.Base(c.Topology), filepath.Base(c.File),
				c.Collective, c.Ranks, c.Type),
			fmt.Sprintf("Simulated times are off by %.1f %% in the mean over %s that were fitted, and by %.1f %% over %d that were not.",
				c.Fitted.Mean*100, unit.Count(c.Fitted.Sizes, "size"), c.HeldOut.Mean*100, c.HeldOut.Sizes),
			"Each is that of the fastest of "+strings.Join(c.Algorithms, ", ")+" with "+strings.Join(c.Protocols, ", ")+".")
		for _, r := range c.Header {
			if r.Key == "source" || r.Key == "hardware" {
				above = append(above, r.Key+": "+r.Value)
			}
		}
	}
	above = append(above, j.MadeBy.Lines()...)
	above = append(above, "", "As it was before:", "")
	changes := []conf.Change{{Key: "choices", Value: choices, Block: true}}
	for _, s := range j.Tables[0].sets {
		key, value, _ := strings.Cut(s, "=")
		changes = append(changes, conf.Change{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value), Why: "as asked with --set"})
	}
	for i := range j.Parameters {
		p := &j.Parameters[i]
		if p.Kept != "" {
			continue
		}
		why := fmt.Sprintf("fitted to %s; before %s", j.names(), p.param.text(p.Base))
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
	return conf.Rewrite(j.Tables[0].base, changes, above)
}
