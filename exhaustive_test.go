package kernbench

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// TestGridsAreFound: the step exhaustive of .ci/run finds each test that has more cases with
// -exhaustive by the text of its body. So exhaustive.On is called in tests only. In a package that
// calls exhaustive.Properties, rapid.Check is called in tests only.
func TestGridsAreFound(t *testing.T) {
	type call struct{ name, pos string }
	outside, grids := map[string][]call{}, 0 // by folder
	more := map[string]bool{}                // folders that call exhaustive.Properties
	sourceFiles(t, func(f *source) {
		if !f.isTest() {
			return
		}
		for _, d := range f.tree.Decls {
			fn, isFunc := d.(*ast.FuncDecl)
			inTest := isFunc && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain"
			ast.Inspect(d, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := sel.X.(*ast.Ident)
				if !ok {
					return true
				}
				switch what := pkg.Name + "." + sel.Sel.Name; {
				case what == "exhaustive.Properties":
					more[path.Dir(f.name)] = true
				case what != "exhaustive.On" && what != "rapid.Check":
				case inTest:
					grids++
				default:
					outside[path.Dir(f.name)] = append(outside[path.Dir(f.name)], call{what, fset.Position(n.Pos()).String()})
				}
				return true
			})
		}
	})
	if grids == 0 || len(more) == 0 {
		t.Errorf("%d calls in tests, %d packages with exhaustive.Properties: want at least one of each", grids, len(more))
	}
	for dir, calls := range outside {
		for _, c := range calls {
			if c.name == "exhaustive.On" || more[dir] {
				t.Errorf("%s: %s is called outside of a test: .ci/run exhaustive does not find the tests that use it", c.pos, c.name)
			}
		}
	}
}
