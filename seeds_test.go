package kernbench

import (
	"path"
	"strconv"
	"testing"
)

// A random test has the same verdict each time: its package imports the fixed seed.
func TestRandomTestsBeginAtAFixedSeed(t *testing.T) {
	const rapid, fixed = "pgregory.net/rapid", module + "/internal/fixedseed"
	random, seeded := map[string]string{}, map[string]bool{}
	sourceFiles(t, func(f *source) {
		if !f.isTest() {
			return
		}
		for _, spec := range f.tree.Imports {
			switch imported, _ := strconv.Unquote(spec.Path.Value); imported {
			case rapid:
				random[path.Dir(f.name)] = f.name
			case fixed:
				seeded[path.Dir(f.name)] = true
			}
		}
	})
	if len(random) == 0 {
		t.Error("there are no random tests")
	}
	for dir, name := range random {
		if !seeded[dir] {
			t.Errorf("%s imports %s, and no test of %s imports %s: it would pass or fail by chance", name, rapid, dir, fixed)
		}
	}
}
