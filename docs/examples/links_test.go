package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noWord  = regexp.MustCompile(`[^a-z0-9 -]`)
)

// anchors lists the names under which a page's headings can be linked to.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := noWord.ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

// TestLinksLeadSomewhere: links of the pages name files and headings that are there.
func TestLinksLeadSomewhere(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../*.md", "../decisions/*.md"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	if len(files) < 4 {
		t.Fatalf("found only %d pages", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link to %s: %v", file, m[1], err)
				continue
			}
			if anchor == "" {
				continue
			}
			there, err := os.ReadFile(path)
			if err != nil {
				t.Errorf("%s: link to %s: %v", file, m[1], err)
			} else if !anchors(string(there))[anchor] {
				t.Errorf("%s: link to %s: no such heading", file, m[1])
			}
		}
	}
}
