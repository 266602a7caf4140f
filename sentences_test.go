package kernbench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const sentenceWords = 25 // the most that a sentence of a page or of a comment has

var (
	codeSpan = regexp.MustCompile("`[^`]*`")
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	listItem = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
	ending   = regexp.MustCompile(`[.!?:;]["*)]*\s+[A-Z(*"]`)
	// A sentence of a comment may begin with a name in lower case.
	commentEnding = regexp.MustCompile(`[.!?]["*)]*\s+\S|[:;]["*)]*\s+[A-Z(*"]`)
	abbreviation  = regexp.MustCompile(`\b(e\.g|i\.e|eq|ed|ch|vol|no|pp|Fig)\. |\.\.\. `)
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

// Sentences of comments have at most 25 words, too.
func TestCommentSentencesAreShort(t *testing.T) {
	sourceFiles(t, func(f *source) {
		for _, s := range longCommentSentences(fset, f.tree) {
			t.Errorf("%s: a sentence of more than %d words", s, sentenceWords)
		}
	})
}

func TestLongCommentSentencesAreFound(t *testing.T) {
	long := strings.Repeat("word ", 26)
	for _, tt := range []struct {
		name, source string
		want         int
	}{
		{"a long sentence", "// " + long + "\nvar x int\n", 1},
		{"over several lines", "// " + strings.Repeat("word ", 20) + "\n// " + strings.Repeat("word ", 20) + "\nvar x int\n", 1},
		{"two short ones", "// A " + strings.Repeat("word ", 20) + "ends. x " + strings.Repeat("word ", 20) + "ends.\nvar x int\n", 0},
		{"an abbreviation ends none", "// A " + strings.Repeat("word ", 20) + "(eq. 4.2) and five words more here.\nvar x int\n", 1},
		{"two paragraphs", "// " + strings.Repeat("word ", 20) + "\n//\n// " + strings.Repeat("word ", 20) + "\nvar x int\n", 0},
		{"code", "//\t" + long + "\nvar x int\n", 0},
		{"expected output", "func f() {\n\t// Output:\n\t// " + long + "\n}\n", 0},
		{"at the end of a line", "var x int // " + long + "\n", 1},
	} {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, "p.go", "package p\n\n"+tt.source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := longCommentSentences(files, f); len(got) != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// longCommentSentences lists the sentences of a file's comments that are too long, with their
// places.
func longCommentSentences(files *token.FileSet, f *ast.File) []string {
	var out []string
	for _, group := range f.Comments {
		if len(strings.Fields(group.Text())) <= sentenceWords {
			continue
		}
		for _, s := range commentSentences(group) {
			if len(strings.Fields(s)) > sentenceWords {
				out = append(out, files.Position(group.Pos()).String()+": "+strings.TrimSpace(s))
			}
		}
	}
	return out
}

// commentSentences splits a comment into sentences, without code and expected output.
func commentSentences(group *ast.CommentGroup) []string {
	var out, text []string
	end := func() {
		rest := codeSpan.ReplaceAllString(strings.Join(text, " "), "X")
		rest = abbreviation.ReplaceAllStringFunc(rest, func(s string) string { return strings.TrimSpace(s) + "\u00a0" })
		text = nil
		for rest != "" {
			s := rest
			if at := commentEnding.FindStringIndex(rest); at != nil {
				s, rest = rest[:at[1]-1], rest[at[1]-1:]
			} else {
				rest = ""
			}
			out = append(out, s)
		}
	}
	for _, line := range strings.Split(group.Text(), "\n") {
		switch {
		case strings.HasPrefix(line, "Output:"), strings.HasPrefix(line, "Unordered output:"):
			end()
			return out
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "  "):
			end()
			continue
		case listItem.MatchString(line):
			end()
			line = listItem.ReplaceAllString(line, "")
		}
		text = append(text, strings.TrimSpace(line))
	}
	end()
	return out
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
