package kernbench

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// house is the plan of the house: which package may import which. Packages of one line
// stand side by side and do not see each other. A line may import the lines below it, and
// only those; what a line names after "<" are the only ones that it may import. Rooms that
// are planned and not yet built are in it too.
//
// DO NOT CHANGE THIS TO MAKE A BUILD PASS. The plan is a decision (docs/architecture.md): first see
// whether the code belongs in another package.
const house = `
	docs/examples;
	cmd/kernbench < cli;
	cli;
	web;
	report < lab/explain, selfbench, lab/run, lab/plans, lab/sweep, lab/limits, lab/perf, lab/tune, lab/calibrate, lab/compare, lab/probe, lab/suite, frontend, frontend/judge, frontend/plan, machine, machine/draw, plot, plot/scene, unit;
	selfbench, kerneltest/conformance, kerneltest/hosttest;
	lab/view;
	lab/perf, lab/tune, lab/calibrate, lab/explain, lab/compare;
	lab/calibrate/fit, lab/calibrate/nccl;
	lab/limits;
	lab/plans;
	lab/sweep, lab/probe, lab/suite, lab/repair;
	lab/run;
	lab/faulty;
	frontend;
	frontend/chakra, frontend/export;
	frontend/msccl, frontend/mscclpp;
	frontend/judge, frontend/timing;
	frontend/plan;
	store;
	bench;
	dialect/torch, dialect/hccl;
	device;
	algorithm < tl, collective, topology, mem, dtype, unit, internal/near;
	kerneltest;
	check/race < record/history, tl, mem, unit;
	check/verify, check/bound, check/numerics;
	exec/mock, exec/sim;
	exec/stall, exec/sim/replay, exec/sim/recorded;
	exec/sim/values;
	exec;
	hw/pe;
	hw/ipcq, hw/dma, hw/vector, hw/gemm, hw/memory, hw/noc;
	hw/noc/buffer, hw/noc/exclusive, hw/noc/routes;
	hw;
	machine/draw;
	machine;
	topology;
	conf;
	des;
	record/oplog, record/trace, record/history, record/cause;
	program/text;
	program;
	collective;
	tl/launch, tl/answers;
	tl;
	tl/watch;
	tl/frames;
	fault;
	mem;
	dtype;
	plot;
	plot/scene;
	web/page;
	unit, internal/slab, internal/outfile, internal/near, internal/prefetch, internal/largepages, internal/exhaustive, internal/fixedseed, internal/fewcollections, internal/browsertest;
`

// never are rules that hold in addition to the plan: no path of imports leads from the one to the
// other.
const never = `
	des -> hw, machine, tl;
	tl -> exec, hw, des, machine;
	algorithm -> exec, hw, des, machine, conf, device;
	exec, hw -> algorithm, bench, dialect;
	record -> exec, hw;
	check/race -> exec/sim, device;
	cmd/kernbench -> internal/exhaustive, internal/fixedseed, internal/fewcollections, internal/browsertest;
`

// outside are the packages of other modules that a package may import. Every other one
// makes do with the standard library.
const outside = `
	cli < github.com/spf13/cobra, github.com/spf13/pflag, golang.org/x/term;
	conf < go.yaml.in/yaml/v4;
	dtype < golang.org/x/sys/cpu;
	internal/browsertest < github.com/chromedp/chromedp, github.com/chromedp/cdproto/log, github.com/chromedp/cdproto/network, github.com/chromedp/cdproto/runtime;
	internal/fixedseed < pgregory.net/rapid;
	plot/scene < golang.org/x/image/font, golang.org/x/image/font/gofont/goregular, golang.org/x/image/font/opentype, golang.org/x/image/font/sfnt, golang.org/x/image/math/fixed, golang.org/x/image/vector;
	store < modernc.org/sqlite;
`

// plan is house, read.
type plan struct {
	line map[string]int      // from the top
	only map[string][]string // if the line lists them
}

func readPlan(t *testing.T, text string) plan {
	t.Helper()
	p := plan{line: map[string]int{}, only: map[string][]string{}}
	for i, line := range statements(text) {
		names, only, limited := strings.Cut(line, "<")
		for _, name := range list(names) {
			if _, twice := p.line[name]; twice {
				t.Fatalf("%s stands in the house twice", name)
			}
			p.line[name] = i
			if limited {
				p.only[name] = list(only)
			}
		}
	}
	for name, only := range p.only {
		for _, o := range only {
			if at, ok := p.line[o]; !ok || at <= p.line[name] {
				t.Fatalf("%s may import %s, says the house, but that is not below it", name, o)
			}
		}
	}
	return p
}

// allows returns why from may not import to, or "".
func (p plan) allows(from, to string) string {
	at, ok := p.line[from]
	if !ok {
		return "is not in the plan: add it to house"
	}
	below, ok := p.line[to]
	switch {
	case !ok:
		return "imports " + to + ", which is not in the plan: add it to house"
	case below <= at:
		return "imports " + to + ", which does not stand below it"
	case p.only[from] != nil && !slices.Contains(p.only[from], to):
		return "imports " + to + ", but may only import " + strings.Join(p.only[from], ", ")
	}
	return ""
}

func statements(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ";") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func list(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ",") {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}

const module = "kernbench"

// inHouse returns the name of a package in the house, and whether it is one of ours.
func inHouse(importPath string) (string, bool) { return strings.CutPrefix(importPath, module+"/") }

func TestImportsFollowTheHouse(t *testing.T) {
	p := readPlan(t, house)
	mayLeave := readOutside()
	for _, pkg := range packages(t) {
		from, _ := inHouse(pkg.ImportPath)
		if _, ok := p.line[from]; !ok {
			t.Errorf("%s is not in the plan: add it to house", from)
			continue
		}
		for _, imported := range pkg.Imports {
			to, ours := inHouse(imported)
			switch {
			case ours:
				if why := p.allows(from, to); why != "" {
					t.Errorf("%s %s", from, why)
				}
			case strings.Contains(strings.Split(imported, "/")[0], ".") && !slices.Contains(mayLeave[from], imported):
				t.Errorf("%s imports %s, which only a decision (docs/decisions) could allow", from, imported)
			case imported == "database/sql" && from != "store":
				t.Errorf("%s imports %s: only store speaks SQL", from, imported)
			}
		}
	}
}

func readOutside() map[string][]string {
	m := map[string][]string{}
	for _, line := range statements(outside) {
		from, to, _ := strings.Cut(line, "<")
		m[strings.TrimSpace(from)] = list(to)
	}
	return m
}

func TestNoPathLeadsWhereNoneMay(t *testing.T) {
	imports := map[string][]string{}
	for _, pkg := range packages(t) {
		from, _ := inHouse(pkg.ImportPath)
		for _, imported := range pkg.Imports {
			if to, ours := inHouse(imported); ours {
				imports[from] = append(imports[from], to)
			}
		}
	}
	within := func(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
	for _, line := range statements(never) {
		froms, tos, _ := strings.Cut(line, "->")
		for from := range imports {
			for _, folder := range list(froms) {
				if !within(from, folder) {
					continue
				}
				for _, to := range list(tos) {
					if path := pathTo(imports, from, func(p string) bool { return within(p, to) }); path != nil {
						t.Errorf("%s must not reach %s: %s", folder, to, strings.Join(path, " -> "))
					}
				}
			}
		}
	}
}

// wayTo is a chain of imports from a package to one that is wanted, or nil.
func pathTo(imports map[string][]string, from string, wanted func(string) bool) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range imports[queue[0]] {
			if _, seen := before[next]; seen {
				continue
			}
			before[next] = queue[0]
			if wanted(next) {
				var path []string
				for p := next; p != ""; p = before[p] {
					path = append([]string{p}, path...)
				}
				return path
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// The test must be able to fail: each kind of departure is noticed.
func TestHouseNoticesDepartures(t *testing.T) {
	p := readPlan(t, house)
	for _, c := range []struct{ from, to, want string }{
		{"cli", "lab/run", ""},
		{"algorithm", "topology", ""},
		{"des", "hw", "does not stand below"},
		{"record/oplog", "record/trace", "does not stand below"},
		{"unit", "dtype", "does not stand below"},
		{"algorithm", "machine", "may only import"},
		{"algorithm", "sundries", "not in the plan"},
		{"sundries", "unit", "not in the plan"},
	} {
		got := p.allows(c.from, c.to)
		if c.want == "" && got != "" || c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("%s importing %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	imports := map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"d"}}
	path := pathTo(imports, "a", func(s string) bool { return s == "d" })
	if got := fmt.Sprint(path); got != "[a b c d]" {
		t.Errorf("wayTo = %s, want [a b c d]", got)
	}
}

// commentLines is the longest that a package comment may be.
const commentLines = 8

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	trees := treesByName(t)
	for _, pkg := range packages(t) {
		var comments []string
		short, _ := inHouse(pkg.ImportPath)
		for _, name := range pkg.GoFiles {
			if doc := trees[path.Join(short, name)].Doc; doc != nil {
				comments = append(comments, doc.Text())
			}
		}
		if len(comments) != 1 {
			t.Errorf("%s has %d package comments, want 1", pkg.ImportPath, len(comments))
			continue
		}
		for _, wrong := range commentMistakes(pkg.Name, path.Base(pkg.ImportPath), comments[0]) {
			t.Errorf("%s: the package comment %s", pkg.ImportPath, wrong)
		}
	}
}

// commentMistakes returns what is wrong with the comment of a package in a folder.
func commentMistakes(name, folder, text string) []string {
	var wrong []string
	begin := "Package " + name + " "
	if name == "main" {
		begin = "Command " + folder + " "
	}
	if !strings.HasPrefix(text, begin) {
		wrong = append(wrong, fmt.Sprintf("does not begin with %q", begin))
	}
	if n := strings.Count(text, "\n"); n > commentLines {
		wrong = append(wrong, fmt.Sprintf("has %d lines, want at most %d", n, commentLines))
	}
	if !strings.Contains(text, "may import ") {
		wrong = append(wrong, `does not say what the package "may import"`)
	}
	return wrong
}

func TestCommentMistakesAreFound(t *testing.T) {
	for _, c := range []struct{ name, folder, text, want string }{
		{"unit", "unit", "Package unit counts. It may import nothing.\n", "[]"},
		{"main", "tool", "Command tool counts. It may import unit.\n", "[]"},
		{"unit", "unit", "Package units counts. It may import nothing.\n", `[does not begin with "Package unit "]`},
		{"main", "tool", "Package main counts. It may import unit.\n", `[does not begin with "Command tool "]`},
		{"unit", "unit", "Package unit counts.\n", `[does not say what the package "may import"]`},
		{"unit", "unit", "Package unit is\nmay import x\n" + strings.Repeat("x\n", 7), "[has 9 lines, want at most 8]"},
	} {
		if got := fmt.Sprint(commentMistakes(c.name, c.folder, c.text)); got != c.want {
			t.Errorf("%s in %s, %q: %s, want %s", c.name, c.folder, c.text, got, c.want)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	const most = 600
	sourceFiles(t, func(f *source) {
		if n := strings.Count(string(f.text), "\n"); n > most {
			t.Errorf("%s has %d lines, more than %d: one idea to a file", f.name, n, most)
		}
	})
}

func TestExportedTypesAndFunctionsAreDocumented(t *testing.T) {
	sourceFiles(t, func(f *source) {
		if f.isTest() {
			return
		}
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Recv == nil && d.Doc == nil {
					t.Errorf("%v: %s has no comment", fset.Position(d.Pos()), d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil {
						t.Errorf("%v: %s has no comment", fset.Position(ts.Pos()), ts.Name)
					}
				}
			}
		}
	})
}
