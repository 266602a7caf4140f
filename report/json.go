package report

import (
	"encoding/json"
	"io"

	"kernbench/lab"
)

// JSON prints anything that lab found for a program, with units in the fields' names. A
// result gets one field more, ok.
func JSON(w io.Writer, v any) error {
	if r, ok := v.(*lab.Result); ok {
		v = withVerdict(r)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// result is a lab.Result with the answer to all its questions. Lists are never null, so
// that a reader can loop without asking.
type result struct {
	*lab.Result
	OK       bool          `json:"ok"`
	Failures []lab.Failure `json:"failures"`
	Hazards  []lab.Hazard  `json:"hazards"`
	Verdicts []lab.Verdict `json:"verdicts"`
	Notes    []string      `json:"notes"`
	Report   []string      `json:"report"`
	Traffic  []lab.Traffic `json:"traffic"`
}

func withVerdict(r *lab.Result) result {
	return result{r, r.OK(), list(r.Failures), list(r.Hazards), list(r.Verdicts), list(r.Notes), list(r.Report), list(r.Traffic)}
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
