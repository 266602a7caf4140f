package kernbench

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const sentenceWords = 25 // the most that a sentence of a page has

var (
	codeSpan = regexp.MustCompile("`[^`]*`")
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	listItem = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
	ending   = regexp.MustCompile(`[.!?:;]["*)]*\s+[A-Z(*"]`)
)

// Sentences of pages have at most 25 words. Tables, code and generated pages are exempt.
func TestSentencesAreShort(t *testing.T) {
	for _, name := range pages(t) {
		name = filepath.ToSlash(name)
		if name == "docs/fidelity.md" { // calibrate --score makes it
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, s := range longSentences(string(data)) {
			t.Errorf("%s: a sentence of more than %d words: %s", name, sentenceWords, s)
		}
	}
}

func TestLongSentencesAreFound(t *testing.T) {
	long := strings.Repeat("word ", 26)
	for _, tt := range []struct {
		name, page string
		want       int
	}{
		{"a long sentence", long + "ends.\n", 1},
		{"over several lines", strings.Repeat("word word\n", 14), 1},
		{"two short ones", "A " + strings.Repeat("word ", 20) + "ends. Another " + strings.Repeat("word ", 20) + "ends.\n", 0},
		{"code counts as one word", "Run `" + long + "` here.\n", 0},
		{"a block of code", "```\n" + long + "\n```\n", 0},
		{"a table", "| " + long + " |\n", 0},
		{"a list", "- " + strings.Repeat("word ", 20) + "\n- " + strings.Repeat("word ", 20) + "\n", 0},
	} {
		if got := longSentences(tt.page); len(got) != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// longSentences lists the sentences of a page that are too long.
func longSentences(page string) []string {
	var out []string
	var text []string
	end := func() {
		rest := codeSpan.ReplaceAllString(strings.Join(text, " "), "X")
		rest = linkText.ReplaceAllString(rest, "$1")
		text = nil
		for rest != "" {
			s := rest
			if at := ending.FindStringIndex(rest); at != nil {
				s, rest = rest[:at[1]-1], rest[at[1]-1:]
			} else {
				rest = ""
			}
			if len(strings.Fields(s)) > sentenceWords {
				out = append(out, strings.TrimSpace(s))
			}
		}
	}
	code := false
	for _, line := range strings.Split(page, "\n") {
		switch bare := strings.TrimSpace(line); {
		case strings.HasPrefix(bare, "```"):
			end()
			code = !code
		case code:
		case bare == "", strings.HasPrefix(bare, "|"), strings.HasPrefix(bare, "#"), strings.HasPrefix(line, "    "):
			end()
		case listItem.MatchString(line):
			end()
			text = append(text, listItem.ReplaceAllString(line, ""))
		default:
			text = append(text, bare)
		}
	}
	end()
	return out
}
