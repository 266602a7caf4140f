package kernbench

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shownFigure   = regexp.MustCompile(`\]\((figures/[\w-]+\.svg)\)`)
	figureCommand = regexp.MustCompile(`<k:fact name="command">([^<]*)</k:fact>`)
)

// TestFigures: each figure of a page was made by a command that the page shows.
func TestFigures(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shownFigure.FindAllStringSubmatch(string(text), -1) {
			n++
			figure, err := os.ReadFile(filepath.Join("docs", m[1]))
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			command := figureCommand.FindSubmatch(figure)
			if command == nil {
				t.Errorf("%s does not say by which command it was made", m[1])
				continue
			}
			if line := html.UnescapeString(string(command[1])); !strings.Contains(string(text), line) {
				t.Errorf("%s: %s was made by %q, which the page does not show", page, m[1], line)
			}
		}
	}
	if n < 8 {
		t.Errorf("%d figures", n)
	}
}
