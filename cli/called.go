package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// calledAs returns what a person types to call this program: "go run ." in a project, or the name
// of the program.
func calledAs() string {
	main, module := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		main, module = info.Path, info.Main.Path
	}
	return callOf(os.Args[0], main, module)
}

// callOf is calledAs for a program that was started as name and has the main package main.
func callOf(name, main, module string) string {
	if !strings.Contains(filepath.ToSlash(name), "/go-build") { // the folder in which go run builds
		if strings.HasPrefix(name, ".") {
			return name
		}
		return filepath.Base(name)
	}
	if at, ok := strings.CutPrefix(main, module); ok && module != "" {
		if at == "" {
			return "go run ."
		}
		return "go run ." + at
	}
	return "go run " + main
}
