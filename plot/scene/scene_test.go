package scene

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
)

// sample returns a picture with one item of each kind.
func sample() *Picture {
	p := &Picture{Width: 100, Height: 60, Title: `a < b & "c"`,
		About: []Fact{{"command", "kernbench perf --set a='<b>'"}, {"machine", "2 SIPs × 16 cubes"}}}
	line := Stroke{Color: 0x0072b2, Width: 2}
	p.Add(
		Path{Points: []Point{{10, 10}, {90, 10}}, Stroke: line, Tip: "a line"},
		Path{Points: []Point{{10, 50}, {30, 50}, {20, 40}}, Closed: true, Fill: Filled(0xd55e00)},
		Path{Points: []Point{{10, 20}, {90, 20}}, Stroke: Stroke{Color: Black, Width: 1, Dash: []float64{10, 10}}},
		Rect{Box: Box{40, 30, 60, 50}, Fill: Filled(0x009e73), Round: 3, Tip: "a box"},
		Circle{Center: Point{80, 40}, Radius: 10, Fill: Filled(0xcc79a7), Stroke: Stroke{Color: Black, Width: 0.5}},
		Text{At: Point{50, 58}, Anchor: Middle, Size: 7, Color: Ink, Text: "<text> & more"},
	)
	return p
}

// elements reads XML to its end, and returns the names of its elements and all text.
func elements(t *testing.T, data []byte) (names []string, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return names, text
		}
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		switch token := token.(type) {
		case xml.StartElement:
			names = append(names, token.Name.Local)
		case xml.CharData:
			text += string(token)
		}
	}
}

func TestSVG(t *testing.T) {
	data := SVG(sample())
	names, text := elements(t, data)
	want := "svg title desc metadata made-by fact fact rect path title path path rect title circle text"
	if fontFace(sample()) != "" {
		want = strings.Replace(want, " rect", " style rect", 1)
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, want := range []string{`a < b & "c"`, "kernbench perf --set a='<b>'", "2 SIPs × 16 cubes", "<text> & more", "a line"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q: %s", want, text)
		}
	}
}

// TestHTML: a page names its generator, and loads nothing from elsewhere.
func TestHTML(t *testing.T) {
	page := string(HTML(sample()))
	for _, want := range []string{`<meta name="kernbench:machine" content="2 SIPs × 16 cubes">`, "default-src 'none'",
		"<svg ", "<title>a &lt; b &amp; &quot;c&quot;</title>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, found := range regexp.MustCompile(`(?:src|href|url)\s*[=(]|https?:[^"]*|<script`).FindAllString(page, -1) {
		if found != "http://www.w3.org/2000/svg" && found != "url(" {
			t.Errorf("the page has %q", found)
		}
	}
	if strings.Count(page, "url(") != strings.Count(page, "url(data:font/ttf;base64,") {
		t.Error("the page has a URL other than its font")
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]string{
		"a.svg": "svg", "b/c.HTML": "html", "a.gif": "not a picture format", "svg": "ends in .svg", "a.svg.gz": "not a picture format",
	} {
		f, err := FormatOf(name)
		if got := string(f); got != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := Encode(sample(), "gif"); err == nil || !strings.Contains(err.Error(), "want svg, png or html") {
		t.Errorf("%v", err)
	}
}

func TestTexts(t *testing.T) {
	for _, text := range []string{"", "a", "two words", strings.Repeat("long", 50), strings.Repeat("many words ", 30), "µ × …"} {
		for _, width := range []float64{0, 5, 40, 100} {
			if short := Shorten(text, 7, width); TextWidth(short, 7) > width && text != "" || TextWidth(text, 7) <= width && short != text {
				t.Errorf("%q in %v is %q", text, width, short)
			}
			lines := Wrap(text, 7, width)
			for _, line := range lines {
				if TextWidth(line, 7) > width && len([]rune(line)) > 1 {
					t.Errorf("%q is wider than %v", line, width)
				}
			}
			if got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(text, " ", ""); got != want {
				t.Errorf("%q became %q", want, got)
			}
		}
	}
}

func TestMove(t *testing.T) {
	p := sample()
	before := make([]Box, len(p.Items))
	for i, item := range p.Items {
		before[i] = item.Bounds()
	}
	p.Move(1, 3, -4)
	for i, item := range p.Items {
		want := before[i]
		if i > 0 {
			want = Box{want.MinX + 3, want.MinY - 4, want.MaxX + 3, want.MaxY - 4}
		}
		if item.Bounds() != want {
			t.Errorf("item %d is at %v, want %v", i, item.Bounds(), want)
		}
	}
}

// FuzzSVG: the file is valid XML for any name.
func FuzzSVG(f *testing.F) {
	f.Add("a", "</title>")
	f.Add("\x00\xff]]>", "&amp;<!--")
	f.Fuzz(func(t *testing.T, title, value string) {
		p := sample()
		p.Title, p.About = title, []Fact{{title, value}}
		p.Add(Text{At: Point{1, 1}, Size: 6, Text: value}, Circle{Radius: 1, Tip: value})
		names, _ := elements(t, SVG(p))
		want := 18
		if fontFace(sample()) != "" {
			want++ // style
		}
		if value == "" {
			want-- // no tip
		}
		if len(names) != want {
			t.Errorf("%d elements: %v", len(names), names)
		}
	})
}
