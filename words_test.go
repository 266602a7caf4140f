package kernbench

import (
	"bytes"
	"go/ast"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// bannedParts are metaphors that were names once. An identifier has none of them as a part.
var bannedParts = strings.Fields(`
	choir voice unison chord beat swift kin pane room told mingle isolate begot soon nobody everybody somebody anybody
`)

// idioms are people where a rank, an agent or a program is meant, and translated idioms.
var idioms = []string{"nobody", "everybody", "somebody", "anybody", "begot", "tell whether", "tells whether", "ask whether", "asks whether"}

var bannedWords = regexp.MustCompile(`(?i)\b(` + strings.Join(idioms, "|") + `)\b`)

// findIdioms returns where a text has idioms.
func findIdioms(text []byte) [][]int {
	lower := bytes.ToLower(text)
	if !slices.ContainsFunc(idioms, func(s string) bool { return bytes.Contains(lower, []byte(s)) }) {
		return nil // most files; the expression is slow
	}
	return bannedWords.FindAllIndex(text, -1)
}

// exempt are sentences about words.
var exempt = []string{"docs/glossary.md", "words_test.go"}

const (
	commentColumns = 100 // of a comment on lines of its own
	codeColumns    = 140
	tab            = 4
)

func columns(line string) int {
	return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", strings.Repeat(" ", tab)))
}

var capitalised = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// parts splits an identifier at its capitals, in lower case.
func parts(identifier string) []string {
	var out []string
	for _, p := range capitalised.FindAllString(identifier, -1) {
		out = append(out, strings.ToLower(p))
	}
	return out
}

func TestIdentifiersHaveNoBannedParts(t *testing.T) {
	seen := map[string]string{} // most identifiers are found many times
	banned := func(name string) string {
		if part, ok := seen[name]; ok {
			return part
		}
		parts := parts(name)
		seen[name] = ""
		if i := slices.IndexFunc(parts, func(p string) bool { return slices.Contains(bannedParts, p) }); i >= 0 {
			seen[name] = parts[i]
		}
		return seen[name]
	}
	if banned("TestNobodyLeaves") != "nobody" || banned("chordal") != "" {
		t.Fatal("parts of identifiers are not found")
	}
	sourceFiles(t, func(f *source) {
		if slices.Contains(exempt, f.name) {
			return
		}
		if p := banned(path.Base(f.name)); p != "" {
			t.Errorf("%s: the name has %q", f.name, p)
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if p := banned(id.Name); p != "" {
					t.Errorf("%v: %s has %q: docs/glossary.md has the field's terms", fset.Position(id.Pos()), id.Name, p)
				}
			}
			return true
		})
	})
}

// Comments, texts and pages name the rank or the program, not people.
func TestWords(t *testing.T) {
	for text, want := range map[string]bool{"Nobody waits": true, "it tells whether": true, "no rank waits": false,
		"a manybody problem": false} {
		if (findIdioms([]byte(text)) != nil) != want {
			t.Fatalf("%q: found %v", text, !want)
		}
	}
	check := func(name string, text []byte) {
		if slices.Contains(exempt, name) {
			return
		}
		for _, at := range findIdioms(text) {
			t.Errorf("%s:%d: %q: name the rank, the agent or the fact", name, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]])
		}
	}
	sourceFiles(t, func(f *source) { check(f.name, f.text) })
	for _, name := range pages(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		check(filepath.ToSlash(name), text)
	}
}

// A comment on lines of its own is at most 100 columns wide, any other line at most 140. Long
// strings, and the expected output of examples, may be wider.
func TestWidth(t *testing.T) {
	sourceFiles(t, func(f *source) {
		for _, w := range wide(f.name, f.text) {
			t.Error(w)
		}
	})
}

func TestWideLinesAreFound(t *testing.T) {
	long := strings.Repeat("word ", 21)
	for _, tt := range []struct {
		name, source string
		want         int
	}{
		{"a wide comment", "package p\n\n// " + long + "\nvar x int\n", 1},
		{"a narrow one", "package p\n\n// word\nvar x int\n", 0},
		{"a link", "package p\n\n// https://" + strings.Repeat("x", 100) + "\nvar x int\n", 0},
		{"expected output", "package p\n\nfunc f() {\n\t// Output:\n\t// " + long + "\n}\n", 0},
		{"wide code", "package p\n\nvar x = []int{" + strings.Repeat("1, ", 50) + "}\n", 1},
		{"a wide string", "package p\n\nvar x = `" + long + long + "`\n", 0},
	} {
		if got := wide("p.go", []byte(tt.source)); len(got) != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// wide lists the lines of a file that are too wide.
func wide(name string, data []byte) []string {
	files := token.NewFileSet()
	file := files.AddFile(name, -1, len(data))
	var s scanner.Scanner
	s.Init(file, data, nil, scanner.ScanComments)
	lines := strings.Split(string(data), "\n")
	own := make([]bool, len(lines))  // a comment and nothing else
	text := make([]bool, len(lines)) // a string literal too long to fit
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		p := files.Position(pos)
		switch {
		case tok == token.COMMENT && strings.HasPrefix(lit, "//"):
			own[p.Line-1] = strings.TrimSpace(lines[p.Line-1][:p.Column-1]) == ""
		case tok == token.STRING && (utf8.RuneCountInString(lit) > codeColumns/2 || strings.Contains(lit, "\n")):
			for n := range strings.Count(lit, "\n") + 1 {
				text[p.Line-1+n] = true
			}
		}
	}
	var out []string
	output := false
	for i, line := range lines {
		c := columns(line)
		switch {
		case own[i]:
			comment := strings.TrimSpace(line)
			output = output || strings.HasPrefix(comment, "// Output:") || strings.HasPrefix(comment, "// Unordered output:")
			word := len(strings.Fields(comment)) <= 2 // a link cannot be broken
			if c > commentColumns && !output && !word && !strings.HasPrefix(comment, "//go:") {
				out = append(out, place(name, i)+": a comment of more than 100 columns")
			}
			continue
		case c > codeColumns && !text[i]:
			out = append(out, place(name, i)+": a line of more than 140 columns")
		}
		output = false
	}
	return out
}

func place(name string, line int) string {
	return (token.Position{Filename: name, Line: line + 1}).String()
}
