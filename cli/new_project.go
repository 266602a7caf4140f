package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

func (a *app) newProjectCommand() *cobra.Command {
	var name, where string
	var window, tasks, host bool
	var performs string
	cmd := &cobra.Command{
		Use:   "project DIR",
		Short: "Create a Go module with an algorithm, its test and a main with every verb",
		Long: `Create a Go module in DIR: an algorithm, its test, and a main that registers the algorithm and has
every verb of kernbench. A replace line of its go.mod points to a checkout of kernbench.

The module also has a ccl.yaml with settings, and an example of custom neighbours. With --hccl it has
a host program and a kernel of the HCCL task API, instead of an algorithm.`,
		Example: "  kernbench new project ../mine --algorithm ring_max\n  cd ../mine && go test ./... && go run . run --algorithm ring_max --ranks 8 --verify-data",
		Args:    oneName("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := newScaffold(name)
			if err != nil {
				return err
			}
			if window && tasks {
				return errors.New("--window and --hccl: each chooses another kind of kernel; give one of them")
			}
			if host && (window || tasks) {
				return errors.New("--bench: with --window ccl_allreduce runs the algorithm, and --hccl writes a host program anyway")
			}
			s.Window, s.Hccl, s.Bench = window, tasks, host
			if err := s.performs(performs); err != nil {
				return err
			}
			return a.newProject(s, args[0], where)
		},
	}
	cmd.Flags().StringVar(&name, "algorithm", "my_allreduce", "`NAME` of the algorithm, or with --hccl of the bench")
	collectiveFlag(cmd.Flags(), &performs)
	windowFlag(cmd.Flags(), &window)
	cmd.Flags().BoolVar(&host, "bench", false, "also create a host program that runs the algorithm")
	cmd.Flags().BoolVar(&tasks, "hccl", false, "create a host program and a kernel of the HCCL task API, instead of an algorithm")
	cmd.Flags().StringVar(&where, "kernbench", "",
		"`PATH` of the checkout of kernbench (default: this folder's, else the one that built this program)")
	return cmd
}

// projectName turns DIR's last element into a part of a module path.
var projectName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
})

func (a *app) newProject(s *scaffold, dir, where string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	base := filepath.Base(abs)
	if !projectName().MatchString(base) {
		return fmt.Errorf("%q cannot be a module's name: want letters, digits, - and _ in the last part of DIR", base)
	}
	if entries, err := os.ReadDir(abs); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: nothing was written; name a new or an empty folder", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.Root, err = findCheckout(where); err != nil {
		return err
	}
	if strings.ContainsAny(s.Root, " \t\"'`\n") {
		return fmt.Errorf("the checkout's path %q has characters that a replace line cannot hold", s.Root)
	}
	s.Package, s.Project = "main", "example.com/"+base
	sums, err := s.readModule()
	if err != nil {
		return err
	}
	_, statErr := os.Stat(abs)
	if err := os.MkdirAll(abs, 0o777); err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(abs, name) }
	files := append(s.algorithmFiles(abs),
		file{at("go.mod"), "go.mod.tmpl"}, file{at("main.go"), "main.go.tmpl"}, file{at("README.md"), "README.md.tmpl"})
	if !s.Hccl {
		files = append(files, file{at("ccl.yaml"), "ccl.yaml.tmpl"})
	}
	if s.Neighbors() {
		files = append(files, file{at("neighbors.go"), "neighbors.go.tmpl"})
	}
	if s.Bench {
		files = append(files, file{at(s.Name + "_bench.go"), "bench.go.tmpl"})
	}
	err = s.write(files)
	if err == nil {
		err = createFile(at("go.sum"), sums)
	}
	if err != nil {
		if statErr != nil { // it did not exist before
			os.Remove(abs) // fails, as it should, if the folder is not empty
		}
		return err
	}
	run := "--algorithm " + s.Name + " --ranks 8"
	if s.Hccl {
		run = "--bench " + s.Name
	}
	_, err = fmt.Fprintf(a.out, "wrote %s (module %s). Now try:\n\n  cd %s\n  go test ./...\n  go run . run %s --verify-data\n",
		dir, s.Project, dir, run)
	return err
}

// findCheckout returns the given path, or the checkout that contains the working directory, or the
// one that this program was compiled from.
func findCheckout(given string) (string, error) {
	if given != "" {
		return checkout(given)
	}
	if root, err := checkout("."); err == nil {
		return root, nil
	}
	if _, source, _, ok := runtime.Caller(0); ok && filepath.IsAbs(source) {
		if root, err := checkout(filepath.Dir(source)); err == nil {
			return root, nil
		}
	}
	return "", errors.New("found no checkout of kernbench: name one with --kernbench PATH")
}

var (
	goLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^go\s+(\S+)`)
	})
	requirement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:require)?\s+([^\s()]+\.[^\s()]+/?\S*)\s+(v\S+)`)
	})
)

// readModule copies the go version and the requirements of the checkout's go.mod, and returns its
// go.sum. So the project builds offline.
func (s *scaffold) readModule() (sums string, err error) {
	text, err := os.ReadFile(filepath.Join(s.Root, "go.mod"))
	if err != nil {
		return "", err
	}
	if m := goLine().FindStringSubmatch(string(text)); m != nil {
		s.Go = m[1]
	}
	for _, m := range requirement().FindAllStringSubmatch(string(text), -1) {
		s.Require = append(s.Require, m[1]+" "+m[2])
	}
	sum, err := os.ReadFile(filepath.Join(s.Root, "go.sum"))
	return string(sum), err
}
