package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/lab/tune"
	"kernbench/lab/view"
	"kernbench/store"
	"kernbench/web/page"
)

// Entry is something that can be shown.
type Entry struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"` // report, results, tuning, new run
	Note string `json:"note,omitempty"`
}

// library has the files and folders of the command line. Requests name documents by numbers, and by
// names in the listing of a folder. They never contain paths.
type library struct{ sources []source }

// source is a file, or a folder whose files are shown.
type source struct {
	name   string
	folder bool
}

const (
	maxFile    = 64 << 20
	maxEntries = 1000 // of a folder, and of a database
)

func newLibrary(names []string) (*library, error) {
	l := &library{}
	for _, n := range names {
		info, err := os.Stat(n)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is neither a file nor a folder", n)
		}
		if !info.IsDir() && kindOf(n) == "" {
			return nil, fmt.Errorf("%s: want a report (.html), results as JSON (.json) or a database (.db)", n)
		}
		l.sources = append(l.sources, source{n, info.IsDir()})
	}
	return l, nil
}

// kindOf returns the kind of a file by its name, or "" if it cannot be shown.
func kindOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html":
		return "report"
	case ".json":
		return "results"
	case ".db", ".sqlite":
		return "tuning"
	}
	return ""
}

// list lists all that can be shown, as it is now.
func (l *library) list() ([]Entry, error) {
	all := []Entry{}
	for i, s := range l.sources {
		if !s.folder {
			all = append(all, entriesOf(fmt.Sprint(i), s.name, s.name)...)
			continue
		}
		names, err := filesOf(s.name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			all = append(all, entriesOf(fmt.Sprintf("%d/%s", i, n), n, filepath.Join(s.name, n))...)
		}
	}
	return all[:min(len(all), maxEntries)], nil
}

// filesOf lists the files of a folder that can be shown. Links that lead out of it are left out.
func filesOf(folder string) ([]string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if kindOf(e.Name()) == "" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := root.Stat(e.Name()); err != nil || !info.Mode().IsRegular() {
			continue
		}
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names[:min(len(names), maxEntries)], nil
}

// entriesOf lists the entries of a file. A database has several runs.
func entriesOf(id, name, path string) []Entry {
	kind := kindOf(path)
	if kind != "tuning" {
		return []Entry{{ID: id, Name: name, Kind: kind}}
	}
	st, err := store.OpenToRead(path)
	if err != nil {
		return []Entry{{ID: id, Name: name, Kind: kind, Note: err.Error()}}
	}
	defer st.Close()
	runs, err := st.Runs()
	if err != nil {
		return []Entry{{ID: id, Name: name, Kind: kind, Note: err.Error()}}
	}
	var all []Entry
	for _, r := range runs[max(0, len(runs)-maxEntries):] {
		all = append(all, Entry{
			ID: fmt.Sprintf("%s:%d", id, r.ID), Name: fmt.Sprintf("%s, run %d", name, r.ID), Kind: kind,
			Note: fmt.Sprintf("%s, %d points", r.Collectives, r.Points),
		})
	}
	return all
}

// document reads the document with an ID. It accepts only names of a listing.
func (l *library) document(id string) (*view.Document, string, error) {
	all, err := l.list()
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return nil, "", errUnknown
	}
	e := all[i]
	place, number := id, ""
	if e.Kind == "tuning" {
		if at := strings.LastIndexByte(id, ':'); at >= 0 {
			place, number = id[:at], id[at+1:]
		}
	}
	first, file, inside := strings.Cut(place, "/")
	n, err := strconv.Atoi(first)
	if err != nil || n < 0 || n >= len(l.sources) {
		return nil, "", errUnknown
	}
	src := l.sources[n]
	if e.Kind == "tuning" {
		path := src.name
		if inside {
			path = filepath.Join(src.name, file)
		}
		d, err := databaseRun(path, number)
		return d, e.Name, err
	}
	data, err := src.read(file)
	if err != nil {
		return nil, "", err
	}
	d, err := parse(data, e.Name)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", e.Name, err)
	}
	return d, e.Name, nil
}

// read reads a file, of a folder without leaving it.
func (s *source) read(file string) ([]byte, error) {
	open := func() (*os.File, error) { return os.Open(s.name) }
	if s.folder {
		root, err := os.OpenRoot(s.name)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		open = func() (*os.File, error) { return root.Open(file) }
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("the file has more than %d MiB", maxFile>>20)
	}
	return data, err
}

func databaseRun(path, number string) (*view.Document, error) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return nil, errUnknown
	}
	st, err := store.OpenToRead(path)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	p, err := tune.PointsOf(st, id)
	if err != nil {
		return nil, err
	}
	return view.RunPoints(p, p.MadeBy(p.Run.Command)), nil
}

// parse reads a document: a report, a document as JSON, an explanation, or the result of a run.
func parse(data []byte, name string) (*view.Document, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		text, err := page.Read(data)
		if err != nil {
			return nil, err
		}
		data = text
	}
	var head struct {
		Format      string          `json:"format"`
		Version     int             `json:"version"`
		Explanation json.RawMessage `json:"explanation"`
		Verdicts    []run.Verdict   `json:"verdicts"`
		Executor    string          `json:"executor"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("this is no JSON of kernbench: %w", err)
	}
	if head.Format != "" {
		if head.Format != view.Format || head.Version != view.Version {
			return nil, fmt.Errorf("found a document %q of version %d, want %q of version %d: use the kernbench that wrote it",
				clip(head.Format), head.Version, view.Format, view.Version)
		}
		d := &view.Document{}
		if err := json.Unmarshal(data, d); err != nil {
			return nil, fmt.Errorf("the document is damaged: %w", err)
		}
		return d, nil
	}
	base := filepath.Base(name)
	if r, err := explain.Parse(explanationOf(head.Explanation, data)); err == nil {
		d := view.New(base, r.MadeBy)
		d.Runs = []*view.Run{view.Explanation(r, base)}
		return d, nil
	}
	if head.Executor != "" && len(head.Verdicts) > 0 {
		res := &run.Result{}
		if err := json.Unmarshal(data, res); err != nil {
			return nil, fmt.Errorf("the result is damaged: %w", err)
		}
		d := view.New(base, res.MadeBy)
		d.Runs = []*view.Run{view.Outcome(res, view.Options{Name: base})}
		return d, nil
	}
	return nil, errors.New("found another file, want a report, or the output of run or explain with --format json")
}

// part is a document of several that are shown together.
type part struct {
	*view.Document
	name string
}

// together joins documents into one that compares them.
func together(parts []part) *view.Document {
	if len(parts) == 1 {
		return parts[0].Document
	}
	d := view.New("", parts[0].MadeBy)
	var names []string
	for _, p := range parts {
		names = append(names, p.Title)
		d.Runs = append(d.Runs, p.Runs...)
		for _, c := range p.Charts {
			copied := *c
			copied.Title = p.name + ": " + c.Title
			d.Charts = append(d.Charts, &copied)
		}
		for _, t := range p.Tables {
			copied := *t
			copied.Title = p.name + ": " + t.Title
			d.Tables = append(d.Tables, &copied)
		}
		for _, f := range p.Facts {
			d.Facts = append(d.Facts, view.Fact{Name: p.name + ": " + f.Name, Text: f.Text})
		}
		d.Verdicts = append(d.Verdicts, p.Verdicts...)
		d.Notes = append(d.Notes, p.Notes...)
	}
	d.Title = strings.Join(names, " against ")
	return d
}

// explanationOf returns the explanation of a result, or the whole if it has none.
func explanationOf(attached json.RawMessage, whole []byte) []byte {
	if len(attached) > 0 {
		return attached
	}
	return whole
}
