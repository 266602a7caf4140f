package frontend

import (
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// A plan of MSCCL++ that fits a call of another operator is taken, and computes a sum: that is
// told.
func TestOperatorOfACallIsNotCompared(t *testing.T) {
	const gpu = `{"id":0,"input_chunks":1,"output_chunks":1,"scratch_chunks":0,"threadblocks":[],"channels":[],"remote_buffers":[],"semaphores":[]}`
	data := []byte(`{"name":"one","collective":"allreduce","protocol":"Simple","inplace":true,"gpus":[` + gpu + `]}`)
	sources := []Source{{Name: "one.json", Dialect: DialectOf(data), Files: []plan.File{{Name: "one.json", Data: data}}}}
	for op, want := range map[string]string{"sum": "", "max": "it computes a sum, and the call asks for max"} {
		q := plan.Query{Collective: "all_reduce", World: 1, Bytes: 64, Elem: 4, Op: op, InPlace: true}
		for _, c := range Choose(sources, q) {
			if c.Dialect != "mscclpp" {
				continue
			}
			if c.File != "one.json" || !strings.Contains(c.Warning, want) || want == "" && c.Warning != "" {
				t.Errorf("%s: file %q, warning %q; want one.json and %q", op, c.File, c.Warning, want)
			}
		}
	}
}
