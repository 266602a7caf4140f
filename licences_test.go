package kernbench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// phrases are texts that identify one of these licences.
var phrases = map[string]string{
	"MIT":          "Permission is hereby granted, free of charge",
	"Apache-2.0":   "Apache License",
	"BSD-3-Clause": "Redistribution and use in source and binary forms",
	"MPL-2.0":      "Mozilla Public License",
}

var (
	requireLine = regexp.MustCompile(`(?m)^\t(\S+\.\S+/\S+) v\S+`)
	licenceRow  = regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (\\S+) \\| (program|program, on Windows|tests) \\|$")
)

// licences reads the modules of a go.mod, and those of the page with their licences.
func licences(goMod, page string) (modules []string, listed map[string]string) {
	for _, m := range requireLine.FindAllStringSubmatch(goMod, -1) {
		modules = append(modules, m[1])
	}
	listed = map[string]string{}
	for _, m := range licenceRow.FindAllStringSubmatch(page, -1) {
		listed[m[1]] = m[2]
	}
	return modules, listed
}

// TestLicencesAreListed: docs/licences.md has every module of go.mod and no other one, with the
// licence that its text is.
func TestLicencesAreListed(t *testing.T) {
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("docs", "licences.md"))
	if err != nil {
		t.Fatal(err)
	}
	modules, listed := licences(string(goMod), string(page))
	if len(modules) < 10 {
		t.Fatalf("go.mod names %d modules only", len(modules))
	}
	for _, m := range modules {
		if listed[m] == "" {
			t.Errorf("docs/licences.md does not have %s", m)
		}
	}
	for m, licence := range listed {
		if !slices.Contains(modules, m) {
			t.Errorf("docs/licences.md has %s, and go.mod does not", m)
			continue
		}
		if text := licenceText(m); text != "" && !strings.Contains(text, phrases[licence]) {
			t.Errorf("%s is not under %s, by its own text", m, licence)
		}
	}
}

// licenceText returns the licence of a module in the module cache, or "" if it is not there.
func licenceText(module string) string {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil || len(dir) < 2 {
		return ""
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "LICEN[CS]E*"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			return strings.Join(strings.Fields(string(text)), " ")
		}
	}
	return ""
}

func TestLicencesNoticeDepartures(t *testing.T) {
	modules, listed := licences("module kernbench\n\nrequire (\n\texample.com/a/b v1.2.3\n\texample.com/c v0.1.0 // indirect\n)\n",
		"| module | licence | part of |\n|---|---|---|\n| `example.com/a/b` | MIT | tests |\n| `example.com/d` | GPL | no |\n")
	if !slices.Equal(modules, []string{"example.com/a/b", "example.com/c"}) || len(listed) != 1 || listed["example.com/a/b"] != "MIT" {
		t.Errorf("modules %v, listed %v", modules, listed)
	}
}
