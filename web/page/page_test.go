package page

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// A file that is written can be read again, and has everything in itself.
func TestWriteRead(t *testing.T) {
	document := map[string]any{"title": "</script><b>&", "list": []any{1.5, "µ"}}
	var b bytes.Buffer
	if err := Write(&b, About{Title: "a <b> & c", Generator: `x"y`}, document); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"<title>a &lt;b&gt; &amp; c</title>", `content="x&#34;y"`, "default-src 'none'"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the file", want)
		}
	}
	if strings.Contains(text, "{{") || strings.Contains(text, "unsafe") {
		t.Error("a place of the template is empty, or the policy allows what it should not")
	}
	if m := regexp.MustCompile(`(?i)(src|href)\s*=\s*"|@import|url\(|https?://`).FindString(strings.ReplaceAll(text,
		"http-equiv", "")); m != "" {
		t.Errorf("the file refers to something outside: %q", m)
	}
	data, err := Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(document)
	if got := strings.TrimSpace(string(data)); got != string(want) {
		t.Errorf("read %s, written %s", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no report", "<html></html>", "not a report"},
		{"no gzip", `<script id="document" type="application/gzip">AAAA</script>`, "damaged"},
		{"cut base64", `<script id="document" type="application/gzip">AAA</script>`, "damaged"},
		{"empty", `<script id="document" type="application/gzip"></script>`, "damaged"},
	} {
		if _, err := Read([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, About{}, 1); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes()[bytes.Index(b.Bytes(), []byte(`<script id="document"`)):])
	f.Add([]byte(`<script id="document" type="application/gzip">H4sI</script>`))
	f.Fuzz(func(t *testing.T, file []byte) {
		data, err := Read(file)
		if err == nil && len(data) > MaxDocument {
			t.Errorf("%d bytes", len(data))
		}
	})
}

// The modules join to one: each name of the top level once, and nothing imported or exported is
// left.
func TestBundle(t *testing.T) {
	text, err := bundle(Files(), "report.js")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^(import|export)\b`).MatchString(text) {
		t.Error("an import or export is left")
	}
	for _, c := range []struct {
		name, want string
		files      fstest.MapFS
	}{
		{"two of a name", "both have x", fstest.MapFS{
			"main.js":  {Data: []byte("import { y } from './other.js';\nconst x = 1;\n")},
			"other.js": {Data: []byte("export const y = 1;\nfunction x() {}\n")}}},
		{"a circle", "imports itself", fstest.MapFS{
			"main.js":  {Data: []byte("import { y } from './other.js';\n")},
			"other.js": {Data: []byte("import { x } from './main.js';\n")}}},
		{"a missing file", "other.js", fstest.MapFS{"main.js": {Data: []byte("import { y } from './other.js';\n")}}},
		{"an end of the script", "ends a script", fstest.MapFS{"main.js": {Data: []byte("const s = '</script>';\n")}}},
	} {
		if _, err := bundle(c.files, "main.js"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.name, err, c.want)
		}
	}
}

// No module parses text as HTML or code. Only the viewer's module uses the network.
func TestModulesAreCareful(t *testing.T) {
	bad := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://`)
	asks := regexp.MustCompile(`\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon`)
	err := fs.WalkDir(Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".js") {
			return err
		}
		text, err := fs.ReadFile(Files(), name)
		if m := bad.Find(text); m != nil {
			t.Errorf("%s has %s", name, m)
		}
		if m := asks.Find(text); m != nil && name != "viewer.js" {
			t.Errorf("%s asks the network: %s", name, m)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
