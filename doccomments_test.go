package kernbench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Doc comments of types and functions begin with the name, and those of exported predicates say
// what they report. Examples of the guide begin with a marker, and tests with the property.
func TestDocCommentsBeginWithTheName(t *testing.T) {
	sourceFiles(t, func(f *source) {
		if f.isTest() || strings.HasPrefix(f.name, "docs/examples/") {
			return
		}
		for _, wrong := range unnamed(f.tree) {
			t.Errorf("%v: %s", fset.Position(wrong.pos), wrong.text)
		}
	})
}

func TestUnnamedDocCommentsAreFound(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         int
	}{
		{"a function", "// Makes one.\nfunc New() {}", 1},
		{"its name", "// New makes one.\nfunc New() {}", 0},
		{"a type", "// What a run needs.\ntype Setup struct{}", 1},
		{"a predicate", "// Full is true at the end.\nfunc Full() bool { return true }", 1},
		{"a predicate that reports", "// Full reports whether it is full.\nfunc Full() bool { return true }", 0},
		{"a directive", "//go:noinline\nfunc f() {}", 0},
		{"an article", "// A cut is a set.\ntype cut struct{}", 0},
		{"none", "func f() {}", 0},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\n\n"+tt.source+"\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := unnamed(f); len(got) != tt.want {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// mistake is a mistake in a doc comment.
type mistake struct {
	pos  token.Pos
	text string
}

// unnamed lists the doc comments of a file that do not begin with the name, and exported
// predicates that do not say what they report.
func unnamed(f *ast.File) []mistake {
	var out []mistake
	check := func(pos token.Pos, name string, doc *ast.CommentGroup, predicate bool) {
		text := doc.Text()
		if text == "" {
			return
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return !isNamePart(r) })
		if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
			words = words[1:]
		}
		if len(words) == 0 || words[0] != name {
			out = append(out, mistake{pos, "the comment of " + name + " does not begin with the name"})
		}
		reports := strings.Contains(text, "report") || strings.Contains(text, "returns true") || strings.Contains(text, "returns false")
		if predicate && !reports {
			out = append(out, mistake{pos, "the comment of " + name + " does not say what it reports"})
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			r := d.Type.Results
			isBool := r != nil && len(r.List) == 1 && len(r.List[0].Names) < 2
			if isBool {
				id, ok := r.List[0].Type.(*ast.Ident)
				isBool = ok && id.Name == "bool"
			}
			check(d.Pos(), d.Name.Name, d.Doc, isBool && d.Name.IsExported())
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					doc := s.Doc
					if doc == nil && d.Lparen == 0 {
						doc = d.Doc
					}
					check(s.Pos(), s.Name.Name, doc, false)
				}
			}
		}
	}
	return out
}

func isNamePart(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
