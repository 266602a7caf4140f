package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kernbench/internal/exhaustive"
)

var remake = flag.Bool("remake", false, "write the sections and the figures of docs/fidelity.md anew")

// madeBy finds the last line of a section of the page, with the command that makes it.
var madeBy = regexp.MustCompile("(?m)^Made by kernbench .*; command: `kernbench ([^`]*)`; .*\n")

// TestFidelityPage: each section of docs/fidelity.md, and its figure, equals the output of its
// command. The published tables lie in a folder shared/data beside the repository.
func TestFidelityPage(t *testing.T) {
	if !exhaustive.On() {
		t.Skip("simulates six tables: run it with -exhaustive")
	}
	docs, err := filepath.Abs("../docs")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(docs, "fidelity.md")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	commands := madeBy.FindAllStringSubmatch(page, -1)
	if len(commands) != 5 {
		t.Fatalf("%d sections, want 5", len(commands))
	}
	for _, c := range commands {
		foot, args := c[0], strings.Fields(c[1])
		folder := t.TempDir()
		first, figure := "", ""
		for i, arg := range args {
			switch {
			case args[max(0, i-1)] == "--plot":
				figure = arg
			case strings.HasSuffix(arg, ".tsv"):
				table, err := os.ReadFile(filepath.Join(docs, "../../shared/data", arg))
				if os.IsNotExist(err) {
					t.Skip("there is no ../shared/data/" + arg)
				}
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, arg), table, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				if first == "" {
					first = arg
				}
			}
		}
		t.Chdir(folder)
		var out, diagnostics bytes.Buffer
		if status := execute(context.Background(), args, &out, &diagnostics); status != ExitOK {
			t.Fatalf("%s: status %d: %s", c[1], status, &diagnostics)
		}
		end := strings.Index(page, foot) + len(foot)
		begin := strings.LastIndex(page[:end], "### "+first)
		if begin < 0 {
			t.Fatalf("the page has no section ### %s", first)
		}
		drawn, err := os.ReadFile(figure)
		if err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(docs, "figures", figure)
		if *remake {
			page = page[:begin] + out.String() + page[end:]
			if err := os.WriteFile(kept, drawn, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, want := out.String(), page[begin:end]; got != want {
			t.Errorf("docs/fidelity.md is not what %q prints: remake it with -remake; first difference: %s", c[1], difference(got, want))
		}
		if was, err := os.ReadFile(kept); err != nil || !bytes.Equal(was, drawn) {
			t.Errorf("docs/figures/%s is not what %q draws: remake it with -remake (%v)", figure, c[1], err)
		}
	}
	if *remake {
		if err := os.WriteFile(name, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// difference returns the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + ", not " + b[i]
		}
	}
	return "their lengths"
}
