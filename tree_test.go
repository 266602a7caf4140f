package kernbench

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The tests of this folder read and parse the repository once. No test changes what was read.
var (
	readSources  = sync.OnceValues(sources)
	listPackages = sync.OnceValues(listed)
)

// fset has the positions of all source files.
var fset = token.NewFileSet()

// source is a Go file of the repository.
type source struct {
	name string // with slashes, from the root
	text []byte
	tree *ast.File // with comments
}

// sourceFiles calls do for each Go file of the repository.
func sourceFiles(t *testing.T, do func(f *source)) {
	t.Helper()
	all, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		do(&all[i])
	}
}

func treesByName(t *testing.T) map[string]*ast.File {
	t.Helper()
	trees := map[string]*ast.File{}
	sourceFiles(t, func(f *source) { trees[f.name] = f.tree })
	return trees
}

func sources() (all []source, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if base := path.Base(name); d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f := source{name: name}
		if f.text, err = os.ReadFile(name); err != nil {
			return err
		}
		f.tree, err = parser.ParseFile(fset, name, f.text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, f)
		return err
	})
	return all, err
}

func (f *source) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// goPackage holds what the tests need of "go list -json".
type goPackage struct {
	ImportPath string
	Name       string
	Imports    []string
	GoFiles    []string
	Export     string // file with the types of a compiled package
}

// packages returns the packages of the repository, without tests.
func packages(t *testing.T) (ours []goPackage) {
	t.Helper()
	for _, p := range packagesAndImports(t) {
		if _, is := inHouse(p.ImportPath); is && len(p.GoFiles) > 0 {
			ours = append(ours, p)
		}
	}
	return ours
}

// packagesAndImports returns the packages of the repository and all that they import.
func packagesAndImports(t *testing.T) []goPackage {
	t.Helper()
	all, err := listPackages()
	if err != nil {
		t.Skip("the go command lists the packages and compiles them, and cannot:", err)
	}
	return all
}

func listed() (all []goPackage, err error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Imports,GoFiles,Export", "./...").Output()
	if e, ok := err.(*exec.ExitError); ok {
		return nil, fmt.Errorf("go list: %w\n%s", err, e.Stderr)
	}
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}
