package plot

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/plot/scene"

	"github.com/google/go-cmp/cmp"
)

// fontStyle is the font in a figure, which golden files do not have.
var fontStyle = regexp.MustCompile(`(?m)^<style>.*</style>\n`)

var update = flag.Bool("update", false, "rewrite the golden files")

// line returns a curve over powers of two, each point from the one before by a factor.
func line(name string, role Role, from, factor float64, n int) Curve {
	c := Curve{Name: name, Role: role}
	for i := range n {
		c.Points = append(c.Points, XY{1024 * math.Exp2(float64(i)), from * math.Pow(factor, float64(i))})
	}
	return c
}

// sizes returns a figure of curves over sizes.
func sizes(curves ...Curve) *Figure {
	return &Figure{
		Title: "all_reduce, 8 ranks", Notes: []string{"a machine"}, X: Axis{Name: "size", Scale: Log2, Label: Bytes},
		Panel: []Panel{{Title: "time (lower is better)", Better: Lower, Y: Axis{Scale: Log10, Label: Nanoseconds}, Curves: curves}},
		About: []scene.Fact{{Name: "command", Value: "kernbench perf"}},
	}
}

func figures() map[string]*Figure {
	crossing := []Curve{line("tree", Computed, 100, 2, 10), line("ring", Computed, 400, 1.5, 10), line("bound", Bound, 50, 1.3, 10)}
	many := []Curve{}
	for i := range 23 {
		many = append(many, line(fmt.Sprintf("algorithm_with_a_long_name_%d n_slots=%d cube.noc.link_bw_gbs=1024", i,
			i), Computed, 100+float64(i), 2, 24))
	}
	flat := sizes(line("flat", Computed, 7, 1, 3))
	two := sizes(crossing...)
	two.Panel = append(two.Panel, Panel{Title: "error", Y: Axis{Scale: Linear},
		Curves: []Curve{{Name: "error", Points: []XY{{1024, -3}, {4096, 17.5}}}}})
	long := sizes(crossing...)
	long.Title, long.Notes = strings.Repeat("a long title ", 20), []string{strings.Repeat("x", 300)}
	long.Panel[0].Title = strings.Repeat("y", 300)
	zeros := sizes(Curve{Name: "zero", Points: []XY{{1024, 0}, {0, 5}, {2048, math.NaN()}}})
	ranks := sizes(crossing...)
	ranks.X = Axis{Name: "ranks", Scale: Log2, Ticks: []float64{1024, 3000, 4096, 4100, 500000}}
	return map[string]*Figure{
		"crossing": sizes(crossing...), "many": sizes(many...), "flat": flat, "two panels": two, "long texts": long,
		"single":  sizes(line("one", Computed, 5, 1, 1), line("bound", Bound, 2, 1, 1)),
		"nothing": sizes(), "zeros": zeros, "wide": sizes(line("wide", Computed, 1e-3, 10, 14)), "ranks": ranks,
		"measured": sizes(line("ours", Computed, 100, 2, 5), line("measured", Reference, 110, 2, 5)),
	}
}

// TestGeometry: all that is drawn is in the picture, texts are legible and apart from each other.
func TestGeometry(t *testing.T) {
	for name, f := range figures() {
		t.Run(name, func(t *testing.T) {
			p := f.Picture()
			if p.Width != Column || p.Height < 20 || p.Height > 1000 {
				t.Errorf("the picture is %v × %v points", p.Width, p.Height)
			}
			var texts []scene.Text
			for _, item := range p.Items {
				if !item.Bounds().Within(p.View()) {
					t.Errorf("%+v is not within %v", item, p.View())
				}
				if text, ok := item.(scene.Text); ok {
					texts = append(texts, text)
				}
			}
			for i, a := range texts {
				if a.Size < 6 || a.Text == "" {
					t.Errorf("%+v cannot be read", a)
				}
				for _, b := range texts[:i] {
					if a.Bounds().Overlaps(b.Bounds()) {
						t.Errorf("%q lies over %q", a.Text, b.Text)
					}
				}
			}
		})
	}
}

func TestGolden(t *testing.T) {
	got := fontStyle.ReplaceAll(scene.SVG(figures()["crossing"].Picture()), nil)
	file := filepath.Join("testdata", "crossing.svg")
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it)\n%s", file, diff)
	}
}

// TestPointsLieWhereTheirValuesAre: on the scales that the labels of the ticks show.
func TestPointsLieWhereTheirValuesAre(t *testing.T) {
	p := figures()["crossing"].Picture()
	texts := map[string]scene.Text{}
	for _, item := range p.Items {
		if text, ok := item.(scene.Text); ok {
			texts[text.Text] = text
		}
	}
	// scale returns the value at a place, of an axis with labels at two values.
	scale := func(a, b string, va, vb float64, of func(scene.Text) float64) func(float64) float64 {
		pa, pb := of(texts[a]), of(texts[b])
		if pa == pb {
			t.Fatalf("labels %q and %q are at %v and %v", a, b, pa, pb)
		}
		return func(at float64) float64 { return va * math.Pow(vb/va, (at-pa)/(pb-pa)) }
	}
	x := scale("1 KiB", "256 KiB", 1024, 256*1024, func(t scene.Text) float64 { return t.At.X })
	y := scale("1 µs", "10 µs", 1000, 10000, func(t scene.Text) float64 { return t.At.Y - 0.35*t.Size })
	found := 0
	for _, item := range p.Items {
		c, ok := item.(scene.Circle)
		if !ok || c.Tip == "" {
			continue
		}
		vx, vy := x(c.Center.X), y(c.Center.Y)
		if want := 100 * vx / 1024; math.Abs(vy/want-1) > 1e-6 {
			t.Errorf("a point of tree at %v is at %v, want %v", vx, vy, want)
		}
		found++
	}
	if found != 10 {
		t.Errorf("%d points of tree, want 10", found)
	}
}

func TestCrossings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		better Better
		curves []Curve
		want   string
	}{
		{"one", Lower, []Curve{{Name: "a", Points: []XY{{1, 1}, {4, 16}}}, {Name: "b", Points: []XY{{1, 4}, {4, 4}}}}, "[{{2 4} a b}]"},
		{"higher is better", Higher, []Curve{{Name: "a", Points: []XY{{1, 1}, {4, 16}}},
			{Name: "b", Points: []XY{{1, 4}, {4, 4}}}}, "[{{2 4} b a}]"},
		{"no better", Neither, []Curve{{Name: "a", Points: []XY{{1, 1}, {4, 16}}}, {Name: "b", Points: []XY{{1, 4}, {4, 4}}}}, "[]"},
		{"below the best", Lower, []Curve{{Name: "a", Points: []XY{{1, 1}, {4, 1}}},
			{Name: "b", Points: []XY{{1, 2}, {4, 8}}}, {Name: "c", Points: []XY{{1, 8}, {4, 2}}}}, "[]"},
		{"a tie is no change", Lower, []Curve{{Name: "a", Points: []XY{{1, 1}, {2, 2}, {4, 1}}},
			{Name: "b", Points: []XY{{1, 2}, {2, 2}, {4, 2}}}}, "[]"},
		{"bounds do not count", Lower, []Curve{{Name: "a", Points: []XY{{1, 1}, {4, 16}}},
			{Name: "b", Role: Bound, Points: []XY{{1, 4}, {4, 4}}}}, "[]"},
		{"one ends", Lower, []Curve{{Name: "a", Points: []XY{{1, 1}}}, {Name: "b", Points: []XY{{1, 4}, {4, 4}}}}, "[]"},
		{"one in between", Lower, []Curve{{Name: "a", Points: []XY{{1, 1}, {16, 256}}},
			{Name: "b", Points: []XY{{1, 2}, {16, 32}}}, {Name: "c", Points: []XY{{1, 16}, {16, 16}}}}, "[{{2 4} a b} {{8 16} b c}]"},
		{"equal before", Lower, []Curve{{Name: "a", Points: []XY{{1, 4}, {4, 16}}},
			{Name: "b", Points: []XY{{1, 4}, {4, 4}}}}, "[{{1 4} a b}]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := Crossings(tt.curves, tt.better)
			for i := range all { // without rounding errors
				all[i].At = XY{math.Round(all[i].At.X*1e9) / 1e9, math.Round(all[i].At.Y*1e9) / 1e9}
			}
			if got := fmt.Sprint(all); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestMany: of many curves the best have colours, and the legend counts the others.
func TestMany(t *testing.T) {
	f := figures()["many"]
	styles, order := f.styles()
	if len(order) != mostColoured+1 || order[mostColoured] != "17 others" {
		t.Errorf("the legend has %q", order)
	}
	for i, c := range f.Panel[0].Curves { // the first are the best
		if styles[c.Name].faint != (i >= mostColoured) {
			t.Errorf("%s: grey is %v", c.Name, styles[c.Name].faint)
		}
	}
}

// TestLeading: curves that are the best somewhere have colours, of those that lie on each other one
// does, and crossings name the ones with colours. The bound ends the legend.
func TestLeading(t *testing.T) {
	xs := []float64{1, 2, 4, 8}
	curve := func(name string, ys ...float64) Curve {
		c := Curve{Name: name}
		for i, y := range ys {
			c.Points = append(c.Points, XY{xs[i], y})
		}
		return c
	}
	p := Panel{Better: Lower, Y: Axis{Scale: Log10}, Curves: []Curve{{Name: "bound", Role: Bound, Points: []XY{{1, 1}, {8, 1}}}}}
	for i := range 9 { // the best at three sizes of four
		p.Curves = append(p.Curves, curve(fmt.Sprintf("a with setting %d", i), 10, 10, 10, 100))
	}
	p.Curves = append(p.Curves, curve("a", 10, 10, 10, 100), curve("late", 90, 80, 70, 20), curve("near", 11, 11, 11, 101),
		curve("far", 500, 500, 500, 500))
	f := &Figure{X: Axis{Scale: Log2}, Panel: []Panel{p}}
	styles, order := f.styles()
	if want := []string{"a", "late", "near", "far", "9 others", "bound"}; !slices.Equal(order, want) {
		t.Errorf("the legend has %q, want %q", order, want)
	}
	all := Crossings(colouredFirst(p.Curves, styles), Lower)
	if len(all) != 1 || all[0].From != "a" || all[0].To != "late" {
		t.Errorf("crossings %+v", all)
	}
}

// TestStyles: no two curves that are distinguished look alike, nor do their colours to colour-blind
// readers (Machado, Oliveira and Fernandes 2009).
func TestStyles(t *testing.T) {
	seen := map[string]bool{}
	for i := range mostColoured {
		s := styleOf(Computed, i)
		key := fmt.Sprint(s.color, s.marker)
		if seen[key] {
			t.Errorf("two curves have colour and marker %s", key)
		}
		seen[key] = true
	}
	for name, m := range map[string][9]float64{
		"all cones":    {1, 0, 0, 0, 1, 0, 0, 0, 1},
		"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
		"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
		"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
	} {
		for i, a := range palette {
			for _, b := range palette[:i] {
				if d := distance(lab(a, m), lab(b, m)); d < 10 {
					t.Errorf("%s: %v and %v differ by %.1f only", name, a, b, d)
				}
			}
		}
	}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt(math.Pow(a[0]-b[0], 2) + math.Pow(a[1]-b[1], 2) + math.Pow(a[2]-b[2], 2))
}

// lab returns a colour in CIE Lab, as seen through a matrix on linear RGB.
func lab(c scene.Color, m [9]float64) [3]float64 {
	var rgb, seen [3]float64
	for i := range rgb {
		v := float64(c>>(16-8*i)&0xff) / 255
		if v <= 0.04045 {
			rgb[i] = v / 12.92
		} else {
			rgb[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		seen[i] = min(1, max(0, m[3*i]*rgb[0]+m[3*i+1]*rgb[1]+m[3*i+2]*rgb[2]))
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.9505)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestTicks: ticks lie on their axis, in order, with space for labels, and there are at least two.
func TestTicks(t *testing.T) {
	for _, scale := range []Scale{Linear, Log2, Log10} {
		for _, from := range []float64{1e-6, 0.3, 1, 7, 1000, 1 << 20} {
			for _, times := range []float64{1, 1.001, 1.9, 3, 10, 999, 1e9} {
				a := &Axis{Scale: scale}
				lo, hi := a.widen(from, from*times)
				s := &span{a, lo, hi, 0, 180}
				ticks := s.ticks(func(string) float64 { return 12 })
				if lo > from*(1+1e-9) || hi < from*times*(1-1e-9) || len(ticks) == 0 || len(ticks) < 2 && scale != Log2 {
					t.Errorf("scale %v, %v to %v: axis from %v to %v with ticks %v", scale, from, from*times, lo, hi, ticks)
				}
				for i := 1; i < len(ticks); i++ {
					if s.pos(ticks[i])-s.pos(ticks[i-1]) < 12-1e-9 {
						t.Errorf("scale %v: no space between ticks %v", scale, ticks)
					}
				}
			}
		}
	}
}

func TestLabels(t *testing.T) {
	for want, got := range map[string]string{
		"500 ns": Nanoseconds(500), "1 µs": Nanoseconds(1000), "12.3 µs": Nanoseconds(12345),
		"2 ms": Nanoseconds(2e6), "0.001 ns": Nanoseconds(0.001),
		"500 MB/s": Gigabytes(0.5), "20 GB/s": Gigabytes(20), "1.5 TB/s": Gigabytes(1500), "2 kB/s": Gigabytes(2e-6),
		"4 KiB": Bytes(4096), "0 ns": Nanoseconds(0),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestLongNames: the legend has long names in whole.
func TestLongNames(t *testing.T) {
	name := "recursive_doubling_allreduce n_slots=16 slot_size=256KiB protocol=ll128 chunk_size=auto"
	p := (&Figure{X: Axis{Scale: Log2}, Panel: []Panel{{Y: Axis{Scale: Log10}, Curves: []Curve{
		{Name: name, Points: []XY{{1, 1}, {2, 2}}}, {Name: "b", Points: []XY{{1, 1}, {2, 3}}}}}}}).Picture()
	var all []string
	for _, item := range p.Items {
		if text, ok := item.(scene.Text); ok {
			all = append(all, text.Text)
		}
		if !item.Bounds().Within(p.View()) {
			t.Errorf("%+v is not in %v", item, p.View())
		}
	}
	if words := strings.Join(all, " "); !strings.Contains(words, name) || strings.Contains(words, "…") {
		t.Errorf("the figure has the texts %q", all)
	}
}

// TestLimit: the mark of a limit stands where a bar of its length ends.
func TestLimit(t *testing.T) {
	bars := []Bar{{Name: "a", Value: 100, Limit: 400}, {Name: "b", Value: 200}}
	p := (&Bars{Group: []BarGroup{{Title: "time", Label: Nanoseconds, Bars: bars}}}).Picture()
	wide := map[string]float64{}
	for _, item := range p.Items {
		switch item := item.(type) {
		case scene.Rect:
			wide[item.Tip] = item.MaxX - edge
		case scene.Path:
			wide[item.Tip] = item.Points[0].X - edge
		}
	}
	if a, b, limit := wide["a: 100 ns"], wide["b: 200 ns"], wide["limit of a"]; math.Abs(limit-4*a) > 1e-9 || math.Abs(limit-2*b) > 1e-9 ||
		limit > p.Width-2*edge+1e-9 {
		t.Errorf("the widths are %v", wide)
	}
}
