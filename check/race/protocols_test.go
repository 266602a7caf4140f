package race_test

import (
	"strings"
	"testing"

	"kernbench/mem"

	"github.com/google/go-cmp/cmp"
)

// protocol holds what ranks do to meet, and the hazards that the judge must find in it.
type protocol struct {
	name  string
	ranks int
	run   func(h *account)
	want  []string
}

// judgeAll judges each protocol in a subtest.
func judgeAll(t *testing.T, all []protocol) {
	t.Helper()
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, c.ranks, mem.PutSignal, c.run)
			if diff := cmp.Diff(c.want, kinds(rep)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, rep)
			}
			if rep.Unsettled {
				t.Error("unsettled")
			}
			for i := range rep.Hazards {
				if m := rep.Hazards[i].Missing; strings.Contains(m, "  ") || strings.Contains(m, "at  ") {
					t.Errorf("a place is missing: %s", m)
				}
			}
		})
	}
}
