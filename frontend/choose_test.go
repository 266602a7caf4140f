package frontend

import (
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// A plan of MSCCL++ that fits a call of another operator is taken, and computes a sum. A warning
// reports that.
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

// One runtime loads four files for a number of ranks. A fifth that fits is not loaded.
func TestFilesThatAreLoaded(t *testing.T) {
	var sources []Source
	add := func(name, attributes string) {
		s := *exchange(2, "LL", attributes)
		s.Name, s.Files[0].Name = name, name
		sources = append(sources, s)
	}
	for _, name := range []string{"a", "b", "c"} {
		add(name, `maxBytes="32"`)
	}
	add("refused", `nchannels="1" minBytes="200" maxBytes="100"`)
	sources[3].Files[0].Data = []byte(strings.Replace(string(sources[3].Files[0].Data), `nchannels="1" `, ``, 1))
	add("d", `maxBytes="64"`)
	add("e", `maxBytes="128"`)
	chosen := func(bytes int64) (file string, why []string) {
		q := plan.Query{Collective: "all_to_all", World: 2, Bytes: bytes, Elem: 2, Op: "sum"}
		for _, c := range Choose(sources, q) {
			if c.Runtime == "microsoft/msccl" {
				return c.File, c.Others[len(c.Others)-1].Why
			}
		}
		return "", nil
	}
	if file, _ := chosen(48); file != "d" {
		t.Errorf("48 bytes: %q, want the fourth that is loaded", file)
	}
	if file, why := chosen(96); file != "" || !strings.Contains(why[0], "it fits, and 4 files for 2 ranks come before it: 4 are loaded") {
		t.Errorf("96 bytes: %q, %q; want no file", file, why)
	}
}
