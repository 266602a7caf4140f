package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each mistake on the command line ends with exit status 2, before anything is simulated. The
// message names what would be right.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.xml")
	if err := os.WriteFile(bad, []byte(`<algo name="a" proto="Sipmle" ngpus="0" nchannels="1"/>`), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	explained := "explain --algorithm ring_allreduce --ranks 2 --n-elem 2 "
	for _, tt := range []struct{ line, want string }{
		{"hepl", `unknown command "hepl"; did you mean "help"?`},
		{explained + "--what-if foo=1", "--what-if foo=1: foo: unknown key; the keys start with system"},
		{explained + "--what-if=pe.issue_ns=0 pe.isue_ns=0", `--what-if pe.isue_ns=0: pe.isue_ns: unknown key; did you mean "pe.issue_ns"?`},
		{"run --topology gb200", `no preset of that name; did you mean "gb200-nvl72"?`},
		{"run --program " + empty, empty + " is a folder without programs, want a program file"},
		{"run --program " + bad, " more: kernbench import " + bad},
		{"run --bench hccl_allreduce --aiv 20", "--aiv 20: want 1 to 8, the cores that a PE holds (pe.programs)"},
		{"run --bench hccl_allreduce --aiv 99", "--aiv 99: want 1 to 8, the cores that a PE holds (pe.programs)"},
		{"run --bench hccl_allreduce --algorithm ring_allreduce", "bench hccl_allreduce chooses no algorithm by name: remove --algorithm"},
		{"results query", "results query: found 0 arguments, want one SQL query, such as"},
	} {
		status, stdout, stderr := call(t.Context(), strings.Fields(tt.line)...)
		if status != ExitUsage || !strings.Contains(stderr, tt.want) || stdout != "" {
			t.Errorf("%s: exit status %d, want %d; stderr: %s, want %s; stdout: %s", tt.line, status, ExitUsage, stderr, tt.want, stdout)
		}
	}
}
