package page_test

import (
	"bytes"
	"context"
	"testing"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/web/page"
)

// TestSize: a page of 256 ranks stays far below 3 MB, and holds all that a page of few ranks does.
func TestSize(t *testing.T) {
	for _, algorithm := range []string{"ring_allreduce_chunked", "recursive_doubling_allreduce"} {
		v, r, _, err := view.Observe(context.Background(), explain.Spec{Run: run.Spec{Algorithm: algorithm, Ranks: 256, NElem: 2048}},
			view.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := view.New(algorithm, r.MadeBy)
		d.Runs = []*view.Run{v}
		var b bytes.Buffer
		if err := page.Write(&b, page.About{Title: algorithm}, d); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 1e6 {
			t.Errorf("%s: a page of 256 ranks has %d bytes", algorithm, b.Len())
		}
		if len(v.Timeline.Lanes) != 256 || len(v.Timeline.Path.Start) == 0 || len(v.Links.Links) == 0 || len(v.Sources) == 0 {
			t.Errorf("%s: the page lacks lanes, a path, links or sources", algorithm)
		}
		t.Logf("%s: %d bytes", algorithm, b.Len())
	}
}
