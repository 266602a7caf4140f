package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kernbench/internal/near"
)

// fileErrorText returns the text of an error. If a file is missing, it replaces the text of the
// operating system. The new text names the missing folder or a file of nearly the same name. If a
// file or a folder could not be created, the text says so.
func fileErrorText(err error) string {
	text := err.Error()
	for _, e := range pathErrors(err) {
		switch noFolder := noFolder(e.Path); {
		case e.Op == "mkdir":
			text = strings.Replace(text, e.Error(), fmt.Sprintf("cannot create folder %s: %v", e.Path, e.Err), 1)
		case e.Op == "create" && !(errors.Is(e, fs.ErrNotExist) && noFolder != ""):
			text = strings.Replace(text, e.Error(), fmt.Sprintf("cannot create file %s: %v", e.Path, e.Err), 1)
		case errors.Is(e, fs.ErrNotExist):
			text = strings.Replace(text, e.Error(), e.Path+": "+cmp.Or(noFolder, noFile(e.Path)), 1)
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

// noFolder returns a text that names the folder of a path if it does not exist, else "".
func noFolder(path string) string {
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return "there is no folder " + folder
	}
	return ""
}

// noFile returns a text about a missing file, with a file of nearly the same name if there is one.
func noFile(path string) string {
	folder, extension := filepath.Dir(path), filepath.Ext(path)
	var names []string // of files with the same extension, without it
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == extension {
			names = append(names, strings.TrimSuffix(e.Name(), extension))
		}
	}
	if guess := near.Name(strings.TrimSuffix(filepath.Base(path), extension), names); guess != "" {
		return fmt.Sprintf("there is no such file; did you mean %s?", filepath.Join(folder, guess+extension))
	}
	return "there is no such file"
}
