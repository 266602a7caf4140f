package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"kernbench/lab/calibrate"
)

// CalibrationCSV prints the sizes of a fit, a line for each, with all digits.
func CalibrationCSV(w io.Writer, c *calibrate.Calibration) error {
	out := csv.NewWriter(w)
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	out.Write([]string{
		"collective", "ranks", "type", "topology", "size_bytes", "measured_us", "simulated_us", "extrapolated",
		"error", "role", "why", "algorithm", "protocol", "before_us",
	})
	for i := range c.Rows {
		r := &c.Rows[i]
		out.Write([]string{
			c.Collective, strconv.Itoa(c.Ranks), c.Type, c.Topology, strconv.FormatInt(int64(r.Size), 10),
			number(r.Measured.Ns() / 1e3), number(r.Simulated.Ns() / 1e3),
			strconv.FormatBool(r.Extrapolated), number(r.Error), string(r.Role), r.Why, r.Algorithm, r.Protocol,
			number(r.Before.Ns() / 1e3),
		})
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return csvFoot(w, nil, c.MadeBy)
}
