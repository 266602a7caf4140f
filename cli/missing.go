package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kernbench/internal/near"
)

// withMissingFiles returns the text of an error. Where a file is missing, it replaces the text of
// the operating system. The new text names the missing folder or a file of nearly the same name.
func withMissingFiles(err error) string {
	text := err.Error()
	for _, e := range pathErrors(err) {
		if errors.Is(e, fs.ErrNotExist) {
			text = strings.Replace(text, e.Error(), e.Path+": "+missing(e.Path), 1)
		}
	}
	return text
}

// pathErrors lists the errors of files that err wraps.
func pathErrors(err error) []*fs.PathError {
	switch e := err.(type) {
	case *fs.PathError:
		return []*fs.PathError{e}
	case interface{ Unwrap() error }:
		return pathErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*fs.PathError
		for _, one := range e.Unwrap() {
			all = append(all, pathErrors(one)...)
		}
		return all
	}
	return nil
}

// missing returns a text that names the part of a path that does not exist.
func missing(path string) string {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("there is no folder %s", folder)
	case err != nil:
		return "there is no such file"
	}
	var names []string // of files with the same extension, without it
	extension := filepath.Ext(path)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == extension {
			names = append(names, strings.TrimSuffix(e.Name(), extension))
		}
	}
	if guess := near.Name(strings.TrimSuffix(filepath.Base(path), extension), names); guess != "" {
		return fmt.Sprintf("there is no such file: did you mean %s?", filepath.Join(folder, guess+extension))
	}
	return "there is no such file"
}
