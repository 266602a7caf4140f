package report

import (
	"encoding/json"
	"io"

	"kernbench/lab/run"
)

// JSON prints any result of lab as JSON, with units in the fields' names. A run's result has one
// more field, ok.
func JSON(w io.Writer, v any) error {
	if r, ok := v.(*run.Result); ok {
		v = withVerdict(r)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// result is a run.Result with the verdict of all its checks. Lists are never null, so that a reader
// can loop over them.
type result struct {
	*run.Result
	OK       bool          `json:"ok"`
	Failures []run.Failure `json:"failures"`
	Hazards  []run.Hazard  `json:"hazards"`
	Verdicts []run.Verdict `json:"verdicts"`
	Notes    []string      `json:"notes"`
	Report   []string      `json:"report"`
	Traffic  []run.Traffic `json:"traffic"`
}

func withVerdict(r *run.Result) result {
	return result{r, r.OK(), list(r.Failures), list(r.Hazards), list(r.Verdicts), list(r.Notes), list(r.Report), list(r.Traffic)}
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
