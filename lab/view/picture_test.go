package view_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/plot/scene"
	"kernbench/unit"
)

// legible checks that all is in a picture, and that texts lie apart.
func legible(t *testing.T, name string, p *scene.Picture) {
	t.Helper()
	var texts []scene.Text
	for _, item := range p.Items {
		if !item.Bounds().Within(p.View()) {
			t.Errorf("%s: %+v is not in %v", name, item, p.View())
		}
		if text, ok := item.(scene.Text); ok {
			for _, other := range texts {
				if text.Bounds().Overlaps(other.Bounds()) {
					t.Errorf("%s: %q lies over %q", name, text.Text, other.Text)
				}
			}
			texts = append(texts, text)
		}
	}
}

// TestPictures: runs of all kinds have pictures that can be read.
func TestPictures(t *testing.T) {
	for _, s := range []run.Spec{
		{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 12},
		{Topology: "ahbm-cube", Algorithm: "window_all_to_all", Ranks: 8, NElem: 512},
		{Algorithm: "tree_allreduce", Ranks: 70, NElem: 64},
	} {
		v, _ := observed(t, s, view.Options{})
		for what, draw := range map[string]func([]scene.Fact) (*scene.Picture, error){"time line": v.TimelinePicture,
			"heat map": v.HeatPicture} {
			p, err := draw([]scene.Fact{{Name: "command", Value: "kernbench explain"}})
			if err != nil {
				t.Fatal(err)
			}
			legible(t, v.Name+", "+what, p)
			if len(p.About) != 1 || !strings.HasPrefix(p.Title, v.Name+": ") {
				t.Errorf("%s: %q, %v", what, p.Title, p.About)
			}
		}
	}
}

// tips lists the rectangles of a picture that have a tip, with their part of the width.
func tips(p *scene.Picture, width float64) string {
	var all []string
	for _, item := range p.Items {
		if r, ok := item.(scene.Rect); ok && r.Tip != "" {
			all = append(all, fmt.Sprintf("%s (%.0f %%, %v high)", r.Tip, 100*(r.MaxX-r.MinX)/width, math.Round((r.MaxY-r.MinY)*10)/10))
		}
	}
	return strings.Join(all, "\n")
}

// axis returns the width of the time axis: between the labels of its ends.
func axis(p *scene.Picture) float64 {
	left, right := math.Inf(1), 0.0
	for _, item := range p.Items {
		if line, ok := item.(scene.Path); ok && line.Stroke.Color == scene.Light {
			left, right = min(left, line.Points[0].X), max(right, line.Points[0].X)
		}
	}
	return right - left
}

func TestTimelinePicture(t *testing.T) {
	const own = 15 << 4
	r := &view.Run{Name: "ring, 2 ranks", Timeline: &view.Timeline{
		Length: 1000 * unit.Nanosecond, Width: 100 * unit.Nanosecond, Ranks: 2, Reasons: []string{"issue", "queueing"},
		Lanes: []*view.Lane{
			{Rank: 0, Bins: []byte{1 | own, 1 | own, 1 | own, 1 | own, 1 | own, 2, 2, 2, 2, 2}},
			{Rank: 1, Bins: []byte{0, 0, 0, 0, 2 | own, 2 | own, 1, 1, 1, 1}},
		},
		Operations: view.Operations{Rank: []int32{-1, 0, 1}},
		Path:       &view.Spans{Start: []int64{0, 400_000}, Length: []int64{400_000, 600_000}, Own: []int32{1, 2}, Of: []int32{1, 2}},
	}}
	p, err := r.TimelinePicture(nil)
	if err != nil {
		t.Fatal(err)
	}
	legible(t, r.Name, p)
	want := `rank 0, own work, issue, 0 ns to 500 ns (50 %, 8 high)
rank 0, waits, queueing, 500 ns to 1000 ns (50 %, 4 high)
rank 1, own work, queueing, 400 ns to 600 ns (20 %, 8 high)
rank 1, waits, issue, 600 ns to 1000 ns (40 %, 4 high)`
	if got := tips(p, axis(p)); got != want {
		t.Errorf("it shows\n%s, want\n%s", got, want)
	}
	for _, item := range p.Items {
		if line, ok := item.(scene.Path); ok && line.Tip == "critical path" {
			if n := line.Points; len(n) != 4 || n[0].Y != n[1].Y || n[2].Y != n[0].Y+10 || math.Abs((n[1].X-n[0].X)/axis(p)-0.4) > 1e-9 {
				t.Errorf("the critical path is %v", n)
			}
		}
	}
	// Of many ranks there is a lane for each class; the path runs in it whichever rank it is at.
	one := r.Timeline.Lanes[0]
	class := view.Class{}
	r.Timeline.Lanes = nil
	for i := range 70 {
		lane := *one
		lane.Rank = i
		r.Timeline.Lanes = append(r.Timeline.Lanes, &lane)
		class.Ranks = append(class.Ranks, i)
	}
	r.Timeline.Classes = []view.Class{class}
	if p, err = r.TimelinePicture(nil); err != nil {
		t.Fatal(err)
	}
	paths := 0
	for _, item := range p.Items {
		if line, ok := item.(scene.Path); ok && line.Tip == "critical path" {
			paths++
			if n := line.Points; len(n) != 2 || math.Abs((n[1].X-n[0].X)/axis(p)-1) > 1e-9 {
				t.Errorf("the critical path of a class is %v", n)
			}
		}
	}
	if got := tips(p, axis(p)); paths != 1 || !strings.Contains(got, "rank 0 and 69 alike, own work, issue") {
		t.Errorf("%d paths; it shows\n%s", paths, got)
	}
	if _, err := (&view.Run{Name: "x"}).TimelinePicture(nil); err == nil || !strings.Contains(err.Error(), "no time line") {
		t.Errorf("%v", err)
	}
}

func TestHeatPicture(t *testing.T) {
	r := &view.Run{Name: "ring", Timeline: &view.Timeline{Length: 400 * unit.Nanosecond},
		Links: &view.Links{Width: 100 * unit.Nanosecond, All: 2, Links: []*view.Link{
			{Name: "a->b", Busy: []byte{255, 255, 0, 51}, Used: 0.55, Queued: 7 * unit.Nanosecond},
			{Name: "b->a", Busy: []byte{0, 1, 0, 0}},
		}}}
	p, err := r.HeatPicture(nil)
	if err != nil {
		t.Fatal(err)
	}
	legible(t, r.Name, p)
	want := `a->b: busy 100 % of the time, 0 ns to 200 ns (50 %, 7 high)
a->b: busy 20 % of the time, 300 ns to 400 ns (25 %, 7 high)
b->a: busy 0.39 % of the time, 100 ns to 200 ns (25 %, 7 high)`
	if got := tips(p, axis(p)); got != want {
		t.Errorf("it shows\n%s, want\n%s", got, want)
	}
	// Of links with little to do the busiest interval is dark, too.
	r.Links.Busiest = 0.015
	if p, err = r.HeatPicture(nil); err != nil {
		t.Fatal(err)
	}
	if got := tips(p, axis(p)); !strings.Contains(got, "a->b: busy 1.5 % of the time, 0 ns") ||
		!strings.Contains(got, "b->a: busy < 0.01 %") {
		t.Errorf("it shows\n%s", got)
	}
	dark := false
	for _, item := range p.Items {
		if box, ok := item.(scene.Rect); ok && strings.Contains(box.Tip, "busy 1.5 %") {
			dark = dark || *box.Fill>>16 < 0xe0
		}
		if label, ok := item.(scene.Text); ok && label.Text == "busy all the time" {
			t.Error("the scale ends at all of the time")
		}
	}
	if !dark {
		t.Error("the busiest interval is light")
	}
	if _, err := (&view.Run{Name: "x"}).HeatPicture(nil); err == nil || !strings.Contains(err.Error(), "used no links") {
		t.Errorf("%v", err)
	}
}
