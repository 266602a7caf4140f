package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/cli"
	_ "kernbench/internal/fewcollections"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// asKernbench makes the test binary be kernbench, with the algorithms of this package.
const asKernbench = "KERNBENCH_DOCS_AS_KERNBENCH"

func TestMain(m *testing.M) {
	if os.Getenv(asKernbench) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// pages are the documents whose blocks are held against what happens.
var pages = []string{"../author-guide.md", "../one-sided.md", "../hccl.md", "../perf.md", "../bound.md",
	"../calibrate.md", "../tune.md", "../numerics.md", "../machines.md", "../topology.md", "../model.md", "../explain.md", "../figures.md"}

// block is one fenced block of a page.
type block struct {
	page string
	line int
	info string // text after the fence
	text string
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// blocks lists the fenced blocks of a page.
func blocks(page, text string) []block {
	var all []block
	var open *block
	for i, line := range strings.Split(text, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{page: page, line: i + 1, info: info}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return all
}

func pageBlocks(t *testing.T) []block {
	t.Helper()
	var all []block
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, blocks(page, string(text))...)
	}
	return all
}

// regions lists the marked regions of Go source by name, with one level of indentation
// taken out that all lines share.
func regions(source string) map[string]string {
	found := map[string]string{}
	name, text, in := "", "", false
	for line := range strings.SplitSeq(source, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "// guide: "):
			name, text, in = strings.TrimPrefix(trimmed, "// guide: "), "", true
		case in && trimmed == "// end":
			found[name] = strings.Trim(unindent(text), "\n") + "\n"
			in = false
		case in:
			text += line + "\n"
		}
	}
	return found
}

func unindent(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, "\t") {
			return text
		}
	}
	return strings.ReplaceAll("\n"+text, "\n\t", "\n")[1:]
}

// unshown returns the go blocks that are not a region, and the regions that no block shows.
func unshown(bs []block, shown map[string]string) (strange, unused []string) {
	used := map[string]bool{}
	for _, b := range bs {
		if b.info != "go" {
			continue
		}
		found := false
		for name, text := range shown {
			if text == b.text {
				used[name], found = true, true
			}
		}
		if !found {
			strange = append(strange, b.String())
		}
	}
	for name := range shown {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	slices.Sort(unused)
	return strange, unused
}

func allRegions(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		if f == "guide_test.go" || f == "main.go" {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range regions(string(source)) {
			if _, twice := all[name]; twice {
				t.Errorf("two regions are called %q", name)
			}
			all[name] = text
		}
	}
	return all
}

// TestGoBlocksAreCompiled: every go block is, letter by letter, a region of a file that
// the compiler saw, and every region is shown.
func TestGoBlocksAreCompiled(t *testing.T) {
	strange, unused := unshown(pageBlocks(t), allRegions(t))
	for _, s := range strange {
		t.Errorf("%s: this Go is no region of docs/examples", s)
	}
	for _, name := range unused {
		t.Errorf("region %q stands in no page", name)
	}
}

// TestErrorBlocks: the block "error NAME" equals the error of that mistake on the mock executor.
func TestErrorBlocks(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range pageBlocks(t) {
		name, ok := strings.CutPrefix(b.info, "error ")
		if !ok {
			continue
		}
		seen[name] = true
		m, ok := mistakes[name]
		if !ok {
			t.Errorf("%v: there is no mistake %q", &b, name)
			continue
		}
		cfg := m.config
		cfg.Inputs = [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}
		_, err := kerneltest.Try(m.kernel, cfg)
		if err == nil {
			t.Errorf("%v: %s is no mistake", &b, name)
			continue
		}
		if line := missing(b.text, err.Error()); line != "" {
			t.Errorf("%v: no line is, behind those before it,\n%s\nin\n%v", &b, line, err)
		}
	}
	for name := range mistakes {
		if !seen[name] {
			t.Errorf("the pages do not show mistake %q", name)
		}
	}
}

// missing returns the first line of want that has no counterpart in got, or "". Lines of got
// may be left out, and "…" stands for anything within a line.
func missing(want, got string) string {
	lines := strings.Split(got, "\n")
	at := 0
	for w := range strings.SplitSeq(strings.TrimRight(want, "\n"), "\n") {
		if strings.TrimSpace(w) == "" || strings.TrimSpace(w) == "…" {
			continue
		}
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(w, " ")), "…", ".*") + "$"
		re := regexp.MustCompile(pattern)
		for at < len(lines) && !re.MatchString(strings.TrimRight(lines[at], " ")) {
			at++
		}
		if at == len(lines) {
			return w
		}
		at++
	}
	return ""
}

// TestConsoleBlocks runs the kernbench commands of the console blocks and holds their output
// against what the page shows. A block "console norun" is not run, and a block "yaml NAME" or "tsv
// NAME" is a file for later blocks.
func TestConsoleBlocks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	page, dir := "", ""
	for _, b := range pageBlocks(t) {
		if b.page != page { // whose commands use each other's files
			page, dir = b.page, t.TempDir()
		}
		if kind, name, ok := strings.Cut(b.info, " "); ok && (kind == "yaml" || kind == "tsv") {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if b.info != "console" {
			continue
		}
		for _, c := range commands(b.text) {
			ran++
			out, err := runCommand(t, self, dir, c.line)
			if line := missing(c.output, out); line != "" {
				t.Errorf("%v: $ %s\nno line is, behind those before it,\n%s\nin (%v)\n%s", &b, c.line, line, err, out)
			}
		}
	}
	if ran == 0 {
		t.Error("no page shows a command")
	}
}

type command struct{ line, output string }

func commands(text string) []command {
	var all []command
	for line := range strings.SplitSeq(text, "\n") {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: c})
		} else if len(all) > 0 {
			all[len(all)-1].output += line + "\n"
		}
	}
	return all
}

// words splits a command line at blanks, but not between double quotes.
func words(line string) []string {
	var all []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 0 {
			all = append(all, strings.Fields(part)...)
		} else {
			all = append(all, part)
		}
	}
	return all
}

// runCommand runs "[NAME=VALUE]... kernbench ARGUMENT..." in a folder and returns what it prints. A
// status of a fault is no failure here, since the test compares the output.
func runCommand(t *testing.T, self, dir, line string) (string, error) {
	t.Helper()
	words := words(line)
	env := append(os.Environ(), asKernbench+"=1")
	for len(words) > 0 && strings.Contains(words[0], "=") {
		env, words = append(env, words[0]), words[1:]
	}
	if len(words) == 0 || words[0] != "kernbench" {
		t.Fatalf("cannot run %q: mark its block console norun", line)
	}
	cmd := exec.Command(self, words[1:]...)
	cmd.Env, cmd.Dir = env, dir
	out, err := cmd.CombinedOutput()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return string(out), err
}

// The tests above must be able to fail.
func TestDepartureIsNoticed(t *testing.T) {
	rs := regions("// guide: a\n\tx := 1\n// end\n\n// guide: b\nfunc f() {}\n\n// end\n")
	bs := blocks("page", "text\n```go\nx := 1\n```\n```go\nx := 2\n```\n```console\n$ kernbench x\nout\n```\n")
	strange, unused := unshown(bs, rs)
	if !slices.Equal(strange, []string{"page:5"}) || !slices.Equal(unused, []string{"b"}) {
		t.Errorf("strange %v, unused %v", strange, unused)
	}
	if got := commands(bs[2].text); len(got) != 1 || got[0] != (command{"kernbench x", "out\n\n"}) {
		t.Errorf("commands: %q", got)
	}
	for _, c := range []struct{ want, got, missing string }{
		{"a\nc\n", "a\nb\nc\n", ""},
		{"time …ns\n", "time 41.5ns\n", ""},
		{"c\na\n", "a\nb\nc\n", "a"},
		{"a.c\n", "abc\n", "a.c"},
		{"a\n", "ab\n", "a"},
	} {
		if got := missing(c.want, c.got); got != c.missing {
			t.Errorf("missing(%q, %q) = %q, want %q", c.want, c.got, got, c.missing)
		}
	}
}

// TestReferenceIsComplete: the guide lists every call that a kernel can make.
func TestReferenceIsComplete(t *testing.T) {
	text, err := os.ReadFile("../author-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	ref, _, _ := strings.Cut(string(text[strings.Index(string(text), "## Reference"):]), "## Testing")
	// For executors, and for kernels that interpret a program.
	others := []string{"Abandon", "Cell", "DropAll", "Enter", "Fail", "Interpret", "Line", "Place", "Reset", "Run", "ScratchUsed"}
	c := reflect.TypeFor[*tl.Context]()
	for i := range c.NumMethod() {
		name := c.Method(i).Name
		if slices.Contains(others, name) {
			continue
		}
		if !regexp.MustCompile("`(c\\.)?" + name + "[`(]").MatchString(ref) {
			t.Errorf("the reference does not have c.%s", name)
		}
	}
}
