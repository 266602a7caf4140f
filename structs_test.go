package kernbench

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostWriters is the most files of a package that may assign to fields of one of its structs. A
// struct that more of them change is several things: give each its own, declared in the file that
// changes it.
const mostWriters = 6

// written are the structs that more files may change, and why.
var written = map[string]string{
	"tl.Instr":            "each call of the kernel API fills one in, in the call's own file",
	"record/oplog.piece":  "values in memory: each operation leaves its provenance there",
	"record/oplog.replay": "scratch of the operations that are replayed",
	"check/race.event":    "each record of the account fills one in, in the record's own file",
}

// writers returns, for each struct that a package declares, the files of the package that assign to
// its fields. A field of an embedded struct counts for that struct.
func writers(path string, fset *token.FileSet, files []*ast.File, from types.Importer) (map[string][]string, error) {
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	c := types.Config{Importer: from}
	if _, err := c.Check(path, fset, files, info); err != nil {
		return nil, err
	}
	found := map[string]map[string]bool{}
	for _, f := range files {
		name := filepath.Base(fset.Position(f.Pos()).Filename)
		assigned := func(e ast.Expr) {
			if s := ownerOf(e, info); s != nil && s.Obj().Pkg() != nil && s.Obj().Pkg().Path() == path {
				key := s.Obj().Name()
				if found[key] == nil {
					found[key] = map[string]bool{}
				}
				found[key][name] = true
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, e := range n.Lhs {
						assigned(e)
					}
				}
			case *ast.IncDecStmt:
				assigned(n.X)
			}
			return true
		})
	}
	all := map[string][]string{}
	for s, files := range found {
		all[s] = slices.Sorted(maps.Keys(files))
	}
	return all, nil
}

// ownerOf returns the struct that declares the field that e is or is a part of, or nil.
func ownerOf(e ast.Expr, info *types.Info) *types.Named {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			s := info.Selections[x]
			if s == nil || s.Kind() != types.FieldVal {
				return nil
			}
			t := s.Recv()
			for _, i := range s.Index()[:len(s.Index())-1] {
				t = structOf(t).Field(i).Type()
			}
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			named, _ := t.(*types.Named)
			return named
		default:
			return nil
		}
	}
}

func structOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.Underlying().(*types.Struct)
}

func TestStructsAreChangedByFewFiles(t *testing.T) {
	exports, trees, seen := map[string]string{}, treesByName(t), 0
	for _, p := range packagesAndImports(t) {
		exports[p.ImportPath] = p.Export
	}
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages(t) {
		short, _ := inHouse(p.ImportPath)
		var files []*ast.File
		for _, name := range p.GoFiles {
			files = append(files, trees[path.Join(short, name)])
		}
		all, err := writers(p.ImportPath, fset, files, from)
		if err != nil {
			t.Fatal(err)
		}
		for s, by := range all {
			_, more := written[short+"."+s]
			switch {
			case more:
				seen++
			case len(by) > mostWriters:
				t.Errorf("%s.%s is changed by %d files, want at most %d: %s", short, s, len(by), mostWriters, strings.Join(by, " "))
			}
			if more && len(by) <= mostWriters {
				t.Errorf("%s.%s is changed by %d files only: take it from the list", short, s, len(by))
			}
		}
	}
	if seen != len(written) {
		t.Errorf("%d of the %d structs in the list were found", seen, len(written))
	}
}

// The test must be able to fail: each form of assignment counts, for the struct that has the field.
func TestWritersAreFound(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for i, text := range []string{
		"package p\ntype in struct{ a []int; b int }\ntype out struct{ in; c int; next *out }",
		"package p\nfunc f(x *out) { x.a[0] = 1; x.c++ }",
		"package p\nfunc g(x *out) { x.next.b += 1; y := x.c; _ = y }",
	} {
		f, err := parser.ParseFile(fset, fmt.Sprintf("%d.go", i), text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	all, err := writers("p", fset, files, nil)
	if got := fmt.Sprint(all); err != nil || got != "map[in:[1.go 2.go] out:[1.go]]" {
		t.Errorf("%s, %v", got, err)
	}
}
