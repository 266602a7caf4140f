package hccl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// Each constant of type Rule has a line in the table, and each line a constant.
func TestRulesHaveMeanings(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "rule.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Rule
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Rule" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, Rule(text))
		}
		return true
	})
	if len(declared) < 30 {
		t.Fatalf("found %d rules in rule.go: this test looks in the wrong place", len(declared))
	}
	if got := Rules(); !slices.Equal(got, declared) {
		t.Errorf("the table has  %v\ndeclared are %v", got, declared)
	}
	form, seen := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`), map[Rule]bool{}
	for _, r := range declared {
		if !form.MatchString(string(r)) || seen[r] {
			t.Errorf("rule %q: a name of small letters and -, and its own", r)
		}
		seen[r] = true
		if r.Meaning() == "" {
			t.Errorf("rule %s has no meaning", r)
		}
	}
	if got := Rule("none").Meaning(); got != "" {
		t.Errorf("no rule means %q", got)
	}
}
