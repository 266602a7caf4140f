package conf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// seed adds the default files and every input of the golden tests.
func seed(f *testing.F) {
	f.Helper()
	names, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		inputs, _, _ := strings.Cut(string(data), "-- want --\n")
		for _, s := range sections(inputs) {
			f.Add(s.Data)
		}
	}
	f.Add(builtin("topology.yaml").Data)
	f.Add(builtin("ccl.yaml").Data)
	f.Add([]byte("a: &a [*a, *a]\nb: {<<: *a}\n? {}\n: |\n  x\n"))
	f.Add([]byte("\xef\xbb\xbfcube: !!map {noc: !!null }\r\n...\r\n"))
}

// judge checks what must hold of every load. It returns a value within the ranges of its keys, or
// errors with places inside the source and printable text. A second load returns the same.
func judge(t *testing.T, src Source, root *field, load func() (any, error)) {
	t.Helper()
	got, err := load()
	if _, again := load(); (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
		t.Fatalf("two loads differ:\n%v\n%v", err, again)
	}
	if err == nil {
		for _, l := range leaves(root) {
			v := l.get(said(got))
			switch {
			case l.f.zero != "" && v.IsZero(), strings.HasPrefix(l.path, nodesKey+".") && v.IsZero(): // left out
			case v.CanInt() && (float64(v.Int()) < l.f.min.value || float64(v.Int()) > l.f.max.value),
				v.CanFloat() && !(v.Float() >= l.f.min.value && v.Float() <= l.f.max.value):
				t.Fatalf("%s = %v is out of range", l.path, v)
			}
		}
		return
	}
	var all Errors
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("not an Errors: %v", err)
	}
	lines := newText("", strings.TrimPrefix(string(src.Data), "\ufeff")).lines
	for _, e := range all {
		if e.File != src.Name && !strings.HasPrefix(e.File, "built-in ") || e.Msg == "" {
			t.Fatalf("no place or message: %#v", e)
		}
		if printable(strings.ReplaceAll(e.Error(), "\n", "")) != strings.ReplaceAll(e.Error(), "\n", "") {
			t.Fatalf("not printable: %q", e.Error())
		}
		if e.File != src.Name {
			continue
		}
		if e.Line < 1 || e.Line > len(lines) || e.Col < 1 || e.Col > utf8.RuneCountInString(lines[e.Line-1])+1 {
			t.Fatalf("%d:%d is not in the source: %v", e.Line, e.Col, e)
		}
		if e.Excerpt == "" {
			t.Fatalf("no excerpt: %v", e)
		}
	}
}

func FuzzTopology(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		src := Source{"fuzz.yaml", data}
		judge(t, src, topologySchema(), func() (any, error) { return LoadTopology([]Source{src}, nil) })
	})
}

func FuzzCCL(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		src := Source{"fuzz.yaml", data}
		judge(t, src, cclSchema(), func() (any, error) { return LoadCCL([]Source{src}, nil) })
	})
}

func FuzzSet(f *testing.F) {
	data, err := os.ReadFile("testdata/errors/sets.txtar")
	if err != nil {
		f.Fatal(err)
	}
	inputs, _, _ := strings.Cut(string(data), "-- want --\n")
	for line := range strings.Lines(string(sections(inputs)[0].Data)) {
		f.Add(strings.TrimSuffix(line, "\n"))
	}
	f.Add("defaults={a: &a 1,\n b: *a}")
	f.Fuzz(func(t *testing.T, arg string) {
		src := Source{setName, []byte(arg)}
		if _, _, err := SplitSets([]string{arg}); err != nil {
			judge(t, src, topologySchema(), func() (any, error) { return nil, err })
		}
		judge(t, src, topologySchema(), func() (any, error) { return LoadTopology(nil, []string{arg}) })
		judge(t, src, cclSchema(), func() (any, error) { return LoadCCL(nil, []string{arg}) })
	})
}
