package frontend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kernbench/frontend/plan"
)

// Source is the files of one program.
type Source struct {
	Name    string // a path; of several files what they have in common
	Dialect *Dialect
	Files   []plan.File
}

// mostBytes is the greatest file that is read.
const mostBytes = 512 << 20

// Find lists the programs in files and folders. A folder gives the files of known formats in it
// and below it, and the names of the others. A file that was named must be of a known format.
func Find(paths ...string) (found []Source, others []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		names := []string{path}
		if !info.IsDir() && !info.Mode().IsRegular() { // a pipe may wait for ever
			return nil, nil, fmt.Errorf("%s is neither a regular file nor a folder, want one with programs", path)
		}
		if info.IsDir() {
			if names, err = filesOf(path); err != nil {
				return nil, nil, err
			}
		}
		for _, name := range names {
			data, err := readFile(name)
			if err != nil {
				return nil, nil, err
			}
			d := DialectOf(data)
			if d == nil && info.IsDir() {
				others = append(others, name)
				continue
			}
			found = add(found, Source{Name: name, Dialect: d, Files: []plan.File{{Name: name, Data: data}}})
		}
	}
	return found, others, nil
}

// add appends a source, or its file to the program that it is a part of.
func add(found []Source, s Source) []Source {
	if s.Dialect != nil && s.Dialect.Group != nil {
		s.Name = s.Dialect.Group(s.Name)
		for i := range found {
			if found[i].Name == s.Name && found[i].Dialect == s.Dialect {
				found[i].Files = append(found[i].Files, s.Files...)
				return found
			}
		}
	}
	return append(found, s)
}

func filesOf(folder string) (names []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, path)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = fmt.Errorf("%s: more than %d MiB", name, mostBytes>>20)
	}
	return data, err
}

// Read reads the program. If it returns none, the findings have the reason.
func (s *Source) Read() (*plan.Program, []plan.Finding) {
	if s.Dialect == nil {
		text := "found an unknown format, want one of " + known()
		if bytes.HasPrefix(s.Files[0].Data, []byte{0xff, 0xfe}) || bytes.HasPrefix(s.Files[0].Data, []byte{0xfe, 0xff}) {
			text = "found UTF-16 text, want UTF-8"
		}
		if data := s.Files[0].Data; bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
			if err := json.Unmarshal(data, new(struct{})); err != nil {
				text = fmt.Sprintf("found invalid JSON (%v); %s", err, text)
			}
		}
		return nil, []plan.Finding{{Verdict: plan.ParseReject, File: s.Name, Line: 1, Text: text}}
	}
	return s.Dialect.Read(s.Files)
}
