package kernbench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages lists README.md and all pages under docs.
func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatal("docs has no pages", err)
	}
	decisions, err := filepath.Glob("docs/decisions/*.md")
	if err != nil || len(decisions) == 0 {
		t.Fatal("docs/decisions has no pages", err)
	}
	return slices.Concat([]string{"README.md"}, docs, decisions)
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	code    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inner   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)
)

// anchors returns the fragments that lead to headings of a page, as GitHub makes them.
func anchors(page string) []string {
	var all []string
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		text := inner.ReplaceAllString(h[1], "$1")
		a := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		if n := strings.Count("\n"+strings.Join(all, "\n")+"\n", "\n"+a+"\n"); n > 0 {
			a = fmt.Sprintf("%s-%d", a, n)
		}
		all = append(all, a)
	}
	return all
}

// brokenLinks lists the relative links of a page that lead to no file or to no heading.
func brokenLinks(name, page string) []string {
	var broken []string
	text := code.ReplaceAllString(fence.ReplaceAllString(page, ""), "")
	for _, l := range link.FindAllStringSubmatch(text, -1) {
		path, fragment, _ := strings.Cut(l[1], "#")
		if strings.Contains(l[1], "://") || strings.HasPrefix(l[1], "mailto:") {
			continue
		}
		to := page
		if path != "" {
			file := filepath.Join(filepath.Dir(name), path)
			info, err := os.Stat(file)
			switch {
			case err != nil:
				broken = append(broken, l[1]+": no such file")
				continue
			case info.IsDir() || !strings.HasSuffix(file, ".md"):
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				broken = append(broken, err.Error())
				continue
			}
			to = string(data)
		}
		if fragment != "" && !slices.Contains(anchors(to), fragment) {
			broken = append(broken, l[1]+": no such heading")
		}
	}
	return broken
}

func TestLinksOfPages(t *testing.T) {
	const page = "# One `two`, [three](README.md)\n\n[a](#one-two-three) [b](docs/architecture.md#words) [c](https://x.y/z#q)\n"
	if got := brokenLinks("README.md", page); got != nil {
		t.Fatalf("sound links are broken: %q", got)
	}
	if got := brokenLinks("README.md", page+"[d](#four) [e](docs/none.md) [f](docs/tune.md#none)\n"); len(got) != 3 {
		t.Fatalf("of three broken links these are found: %q", got)
	}
	for _, name := range pages(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range brokenLinks(name, string(data)) {
			t.Errorf("%s: %s", name, b)
		}
	}
}

// The list of decisions has every one, by its title.
func TestDecisionsAreListed(t *testing.T) {
	list, err := os.ReadFile("docs/decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pages(t) {
		if !strings.HasPrefix(name, "docs/decisions/0") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(data), "# "), "\n")
		if line := fmt.Sprintf("- [%s](%s)\n", title, filepath.Base(name)); !strings.Contains(string(list), line) {
			t.Errorf("docs/decisions/README.md lacks %q", line)
		}
	}
}
