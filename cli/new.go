package cli

import (
	"embed"
	"errors"
	"fmt"
	"go/build"
	"go/format"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/conf"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templateFiles, "templates/*.tmpl"))
})

func (a *app) newCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Create an algorithm or a project of your own",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: found no argument, want one of %s", verbOf(cmd), strings.Join(verbs(cmd), ", "))
			}
			return unknownWord("argument of new", args[0], verbs(cmd))
		},
	}
	cmd.AddCommand(a.newAlgorithmCommand(), a.newProjectCommand())
	return cmd
}

// scaffold is the data of the templates.
type scaffold struct {
	Name    string // ring_max
	Func    string // ringMax
	Title   string // RingMax
	Package string
	Project string // import path of the project; "" inside the repository
	Root    string // of the checkout, for the replace line
	Go      string // the go line of go.mod
	Require []string
	Window  bool // over symmetric memory, instead of rings
	Hccl    bool // a host program and its kernel by the task API, instead of an algorithm
	Bench   bool // a host program that runs the algorithm, too

	Collective string // collective that the algorithm performs
	Summary    string // of its row
}

// summaries are the summaries of stubs, for each collective that has a stub.
var summaries = map[string]string{
	"all_reduce":     "every vector passes all ranks of the ring, and each adds it up",
	"reduce":         "every vector passes all ranks of the ring, and the root adds them up",
	"reduce_scatter": "every vector passes all ranks of the ring, and each adds up its part",
	"all_gather":     "every vector passes all ranks of the ring, and each stores it",
	"gather":         "every vector passes all ranks of the ring, and the root stores it",
	"all_to_all":     "every vector passes all ranks of the ring, and each stores its block",
	"broadcast":      "the vector goes from the root along a chain of ranks",
	"scatter":        "the vector goes from the root along a chain of ranks, and each stores its block",
	"shift":          "every vector moves one rank to the east",
	"barrier":        "messages pass all ranks of the ring",
}

// performs sets the collective of a stub.
func (s *scaffold) performs(name string) error {
	what, err := collective.Lookup(name)
	if err != nil {
		return err
	}
	s.Collective, s.Summary = name, summaries[name]
	switch {
	case s.Summary == "":
		return fmt.Errorf("there is no stub for %s: want one of %s", what.Name, strings.Join(slices.Sorted(maps.Keys(summaries)), ", "))
	case (s.Window || s.Hccl || s.Bench) && name != "all_reduce":
		return fmt.Errorf("--collective %s: with --window, --hccl and --bench the collective is all_reduce", name)
	}
	return nil
}

// what returns the collective of the stub.
func (s *scaffold) what() *collective.Collective {
	what, err := collective.Lookup(s.Collective)
	if err != nil {
		panic(err) // performs has checked the name
	}
	return what
}

// Reduces reports whether the stub combines vectors.
func (s *scaffold) Reduces() bool { return s.what().Reduces }

// Rooted reports whether one rank is the root.
func (s *scaffold) Rooted() bool { return s.what().Rooted }

// FromRoot reports whether only the root contributes.
func (s *scaffold) FromRoot() bool { return s.Collective == "broadcast" || s.Collective == "scatter" }

// OneSlot reports whether no rank forwards its data.
func (s *scaffold) OneSlot() bool { return s.Collective == "shift" || s.Collective == "barrier" }

// Neighbors reports whether the stub also works on a ring that is wired in reverse.
func (s *scaffold) Neighbors() bool {
	return s.Collective == "all_reduce" && !s.Window && !s.Hccl
}

// collectiveFlag chooses what the stub performs.
func collectiveFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "collective", "all_reduce",
		"`NAME` of the collective that the kernel performs: "+strings.Join(slices.Sorted(maps.Keys(summaries)), ", "))
}

// algorithmFiles returns the algorithm and its test.
func (s *scaffold) algorithmFiles(dir string) []file {
	kind := "algorithm"
	switch {
	case s.Window:
		kind = "window"
	case s.Hccl:
		kind = "hccl"
	}
	return []file{
		{filepath.Join(dir, s.Name+".go"), kind + ".go.tmpl"},
		{filepath.Join(dir, s.Name+"_test.go"), kind + "_test.go.tmpl"},
	}
}

// windowFlag adds the flag --window, which selects symmetric memory.
func windowFlag(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "window", false, "create a kernel that uses symmetric memory and signals, instead of messages")
}

// algorithmName matches names that can be a file, a key of ccl.yaml and, without underscores, a Go
// identifier.
var algorithmName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
})

func newScaffold(name string) (*scaffold, error) {
	if !algorithmName().MatchString(name) || len(name) > 64 {
		return nil,
			fmt.Errorf("%q cannot be an algorithm's name: it must begin with a lower-case letter and have only lower-case letters, digits and single underscores, such as ring_max",
				name)
	}
	if name == "main" || special(name) {
		return nil, fmt.Errorf("%q cannot be an algorithm's name: to Go, %s.go is a main program, a test, or a file for one system only",
			name, name)
	}
	if _, err := algorithm.Lookup(name); err == nil {
		return nil, fmt.Errorf("there is an algorithm %q already: choose another name", name)
	}
	if slices.Contains(conf.DefaultCCL().Names(), name) {
		return nil, fmt.Errorf("ccl.yaml has an entry %q already: choose another name", name)
	}
	var title strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		title.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	t := title.String()
	return &scaffold{Name: name, Title: t, Func: strings.ToLower(t[:1]) + t[1:]}, nil
}

// special reports whether the go command would leave NAME.go out of a plain build. It matches the
// name against a system that does not exist, so that no suffix matches.
func special(name string) bool {
	if strings.HasSuffix(name, "_test") {
		return true
	}
	c := build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	ok, err := c.MatchFile(".", name+".go")
	return !ok || err != nil
}

// file is one file that a scaffold writes.
type file struct{ path, template string }

// write makes all files or none. It overwrites no existing file.
func (s *scaffold) write(files []file) error {
	texts := make([]string, len(files))
	for i, f := range files {
		if _, err := os.Lstat(f.path); err == nil {
			return fmt.Errorf("%s exists already: nothing was written", f.path)
		}
		var b strings.Builder
		if err := templates().ExecuteTemplate(&b, f.template, s); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if texts[i] = b.String(); strings.HasSuffix(f.path, ".go") {
			text, err := format.Source([]byte(texts[i]))
			if err != nil {
				return fmt.Errorf("%s: %w", f.path, err)
			}
			texts[i] = string(text)
		}
	}
	for i, f := range files {
		if err := createFile(f.path, texts[i]); err != nil {
			for _, done := range files[:i] {
				err = errors.Join(err, os.Remove(done.path))
			}
			return err
		}
	}
	return nil
}

// createFile fails when the file exists.
func createFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// kernbench is the path of this module.
const kernbench = "kernbench"

// module is the module that contains a folder: kernbench itself, or one that requires it.
type module struct{ dir, path string }

// moduleAt finds the module that contains dir. It returns an error if the module does not require
// kernbench.
func moduleAt(dir string) (module, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return module{}, err
	}
	for d := dir; ; d = filepath.Dir(d) {
		text, err := os.ReadFile(filepath.Join(d, "go.mod"))
		switch {
		case err == nil:
			m := module{d, modulePath(string(text))}
			if m.path != kernbench && !requiresKernbench().MatchString(string(text)) {
				return module{}, fmt.Errorf("%s belongs to module %s, which does not require kernbench", dir, m.path)
			}
			return m, nil
		case !errors.Is(err, fs.ErrNotExist):
			return module{}, err
		case d == filepath.Dir(d):
			return module{}, fmt.Errorf("%s is not in a checkout of kernbench or a project on it", dir)
		}
	}
}

var requiresKernbench = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:require)?\s+kernbench\s+v`)
})

// checkout finds the repository that contains dir.
func checkout(dir string) (root string, err error) {
	m, err := moduleAt(dir)
	if err == nil && m.path != kernbench {
		err = fmt.Errorf("%s belongs to module %s, not to kernbench", dir, m.path)
	}
	return m.dir, err
}

var moduleLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
})

func modulePath(goMod string) string {
	if m := moduleLine().FindStringSubmatch(goMod); m != nil {
		return m[1]
	}
	return "(none)"
}
