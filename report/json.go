package report

import (
	"encoding/json"
	"io"

	"kernbench/dtype"
	"kernbench/lab"
)

// JSON prints a result for a program: the fields of lab.Result, with units in their names.
func JSON(w io.Writer, r *lab.Result) error {
	out := struct {
		*lab.Result
		OK   bool `json:"ok"`
		Spec spec `json:"spec"`
		// Lists are never null, so that a reader can loop without asking.
		Failures []lab.Failure `json:"failures"`
		Verdicts []lab.Verdict `json:"verdicts"`
		Notes    []string      `json:"notes"`
		Report   []string      `json:"report"`
	}{r, r.OK(), namedSpec(r.Spec), list(r.Failures), list(r.Verdicts), list(r.Notes), list(r.Report)}
	return write(w, out)
}

// spec is lab.Spec with type and operation by name.
type spec struct {
	lab.Spec
	DType string `json:"dtype,omitempty"`
	Op    string `json:"op"`
}

func namedSpec(s lab.Spec) spec {
	out := spec{Spec: s, Op: s.Op.String()}
	if s.DType != dtype.Invalid {
		out.DType = s.DType.String()
	}
	return out
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func write(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
