package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/web/page"
)

// report writes a small report to a file.
func report(t testing.TB, file, title string) {
	t.Helper()
	d := view.New(title, run.NewMadeBy("a test"))
	d.Runs = []*view.Run{{Name: title, OK: true, Time: 1000}}
	var b bytes.Buffer
	if err := page.Write(&b, page.About{Title: title}, d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// served makes a server over a folder with two reports, a secret next to it, and a link to that.
func served(t testing.TB) (*Server, string) {
	t.Helper()
	top := t.TempDir()
	folder := filepath.Join(top, "shown")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	report(t, filepath.Join(folder, "a.html"), "first")
	report(t, filepath.Join(folder, "b.html"), "second")
	report(t, filepath.Join(top, "secret.html"), "secret")
	if err := os.Symlink("../secret.html", filepath.Join(folder, "link.html")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "other.txt"), []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bad.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Names: []string{folder}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, folder
}

// ask sends a request as a page of the server does, unless change makes it another one.
func ask(s *Server, method, target, body string, change func(r *http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:4000"
	r.Header.Set(tokenHeader, s.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestRules has one row for each rule about permitted requests.
func TestRules(t *testing.T) {
	s, _ := served(t)
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	for _, c := range []struct {
		name, method, target, body string
		change                     func(*http.Request)
		status                     int
		want                       string
	}{
		{"the page", "GET", "/", "", nil, 200, "viewer.js"},
		{"the page needs no token", "GET", "/", "", func(r *http.Request) { r.Header.Del(tokenHeader) }, 200, "viewer.js"},
		{"a module", "GET", "/page/viewer.js", "", nil, 200, "import"},
		{"localhost", "GET", "/", "", host("localhost:4000"), 200, ""},
		{"IPv6", "GET", "/", "", host("[::1]:4000"), 200, ""},
		{"another name", "GET", "/", "", host("evil.example:4000"), 421, "is not this server"},
		{"a name that begins like ours", "GET", "/", "", host("127.0.0.1.evil.example"), 421, "is not this server"},
		{"another computer's number", "GET", "/", "", host("192.0.2.1:4000"), 421, "is not this server"},
		{"no host", "GET", "/", "", host(""), 421, "is not this server"},
		{"the list", "GET", "/api/list", "", nil, 200, "a.html"},
		{"the list without a token", "GET", "/api/list", "", func(r *http.Request) { r.Header.Del(tokenHeader) }, 403, "token"},
		{"the list with another token", "GET", "/api/list", "", func(r *http.Request) { r.Header.Set(tokenHeader, "x") }, 403, "token"},
		{"a token in the address", "GET", "/api/list?token=" + s.token, "",
			func(r *http.Request) { r.Header.Del(tokenHeader) }, 403, "token"},
		{"a run without a token", "POST", "/api/run", "{}", func(r *http.Request) { r.Header.Del(tokenHeader) }, 403, "token"},
		{"a run from a page elsewhere", "POST", "/api/run", "{}",
			func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403, "may not send requests"},
		{"a run by GET", "GET", "/api/run", "", nil, 405, ""},
		{"a run as a form", "POST", "/api/run", "a=b",
			func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, 415, "application/json"},
		{"a run of nothing", "POST", "/api/run", "[]", nil, 400, "cannot be read"},
		{"a run with an unknown field", "POST", "/api/run", `{"program": "/etc/passwd"}`, nil, 400, "unknown field"},
		{"a run with a large body", "POST", "/api/run", `{"algorithm": "` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "too large"},
		{"a machine of a file", "POST", "/api/run", `{"topology": "/etc/passwd"}`, nil, 422, "want a preset"},
		{"an algorithm that there is not", "POST", "/api/run", `{"algorithm": "no_such"}`, nil, 422, `"field":"algorithm"`},
		{"too many ranks", "POST", "/api/run", `{"ranks": "100000"}`, nil, 422, `"field":"ranks"`},
		{"a setting that there is not", "POST", "/api/run", `{"sets": ["defaults.n_slots=2", "no.such=1"]}`, nil, 422, `"field":"sets.1"`},
		{"a setting of a wrong value", "POST", "/api/run", `{"sets": ["defaults.n_slots=many"]}`, nil, 422, `"field":"sets.0"`},
		{"a run that there is not", "GET", "/api/job?id=new-9", "", nil, 404, "no such run"},
		{"to cancel what there is not", "POST", "/api/cancel?id=new-9", "", nil, 404, "no such run"},
		{"a document", "GET", "/api/document?id=0/a.html", "", nil, 200, "first"},
		{"two documents", "GET", "/api/document?id=0/a.html&id=0/b.html", "", nil, 200, "first against second"},
		{"no document", "GET", "/api/document", "", nil, 400, "1 to 6"},
		{"seven documents", "GET", "/api/document?" + strings.Repeat("id=0/a.html&", 7), "", nil, 400, "1 to 6"},
		{"a document above the folder", "GET", "/api/document?id=0/../secret.html", "", nil, 404, "no document"},
		{"a document by its path", "GET", "/api/document?id=/etc/passwd", "", nil, 404, "no document"},
		{"a document of an escaped path", "GET", "/api/document?id=0%2F..%2Fsecret.html", "", nil, 404, "no document"},
		{"a document by a link that leads out", "GET", "/api/document?id=0/link.html", "", nil, 404, "no document"},
		{"a file of another kind", "GET", "/api/document?id=0/other.txt", "", nil, 404, "no document"},
		{"a file that is no document", "GET", "/api/document?id=0/bad.json", "", nil, 422, "want a report"},
		{"a module above the modules", "GET", "/page/..%2Fpage.go", "", nil, 404, "no file"},
		{"a page that there is not", "GET", "/x", "", nil, 404, ""},
	} {
		w := ask(s, c.method, c.target, c.body, c.change)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: status %d, not %d, or no %q in %s", c.name, w.Code, c.status, c.want, clip(w.Body.String()))
		}
		p := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") ||
			strings.Contains(p, "http") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: policy %q, headers %v", c.name, p, w.Header())
		}
		if strings.Contains(w.Body.String(), s.token) {
			t.Errorf("%s: the answer has the token", c.name)
		}
	}
	if html := ask(s, "GET", "/", "", nil).Body.String(); strings.Contains(html, "<style") ||
		strings.Contains(html, "onclick") || strings.Count(html, "<script") != strings.Count(html, "<script type=\"module\" src=") {
		t.Errorf("the page has scripts or styles of its own: %s", html)
	}
}

// A server that was asked to listen beyond this computer answers to any number, and to its own name
// only.
func TestListensBeyond(t *testing.T) {
	for _, c := range []struct {
		listen, host string
		ok           bool
	}{
		{"0.0.0.0", "192.0.2.1:80", true}, {"0.0.0.0", "evil.example", false},
		{"lab.example", "lab.example:80", true}, {"lab.example", "other.example", false},
		{"127.0.0.1", "192.0.2.1", false}, {"", "[::1]:80", true},
	} {
		s := &Server{host: c.listen}
		if got := s.hostAllowed(c.host); got != c.ok {
			t.Errorf("listening on %q, host %q: %v", c.listen, c.host, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{text, filepath.Join(dir, "none.html")} {
		if _, err := New(Options{Names: []string{name}}); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// state waits until a run is no longer in progress.
func state(t *testing.T, s *Server, id string) map[string]any {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(5 * time.Millisecond) {
		var j map[string]any
		if err := json.Unmarshal(ask(s, "GET", "/api/job?id="+id, "", nil).Body.Bytes(), &j); err != nil {
			t.Fatal(err)
		}
		if j["state"] != "running" {
			return j
		}
	}
	t.Fatal("the run does not end")
	return nil
}

// A run is started, ends, and is shown next to a file. Another one is cancelled. There is one at a
// time.
func TestRuns(t *testing.T) {
	s, _ := served(t)
	w := ask(s, "POST", "/api/run",
		`{"topology": "ahbm-cube", "algorithm": "ring_allreduce", "ranks": "4", "n_elem": "64", "verify_data": true, "sets": ["defaults.n_slots=4"]}`,
		nil)
	if w.Code != http.StatusAccepted {
		t.Fatal(w.Code, w.Body)
	}
	if j := state(t, s, "new-1"); j["state"] != "done" || j["name"] != "ring_allreduce, 4 ranks, ahbm-cube, defaults.n_slots=4" {
		t.Errorf("%v", j)
	}
	body := ask(s, "GET", "/api/document?id=new-1&id=0/a.html", "", nil).Body.Bytes()
	var d view.Document
	if err := json.Unmarshal(body, &d); err != nil || len(d.Runs) != 2 || d.Runs[0].Timeline == nil || !d.Runs[0].OK {
		t.Errorf("%v: %s", err, clip(string(body)))
	}
	if d.Runs[0].Verdicts[0].State != run.Checked {
		t.Errorf("the data was not checked: %+v", d.Runs[0].Verdicts)
	}

	if w := ask(s, "POST", "/api/run", `{"algorithm": "ring_allreduce", "ranks": "256", "n_elem": "1000000"}`,
		nil); w.Code != http.StatusAccepted {
		t.Fatal(w.Code, w.Body)
	}
	if w := ask(s, "POST", "/api/run", `{"algorithm": "ring_allreduce", "ranks": "2"}`, nil); w.Code != http.StatusConflict {
		t.Errorf("a second run at a time: %d %s", w.Code, w.Body)
	}
	if w := ask(s, "POST", "/api/cancel?id=new-2", "", nil); w.Code != http.StatusOK {
		t.Error(w.Code, w.Body)
	}
	if j := state(t, s, "new-2"); j["state"] != "cancelled" {
		t.Errorf("%v", j)
	}
	if w := ask(s, "GET", "/api/document?id=new-2", "", nil); w.Code != http.StatusNotFound {
		t.Errorf("a cancelled run has a document: %d", w.Code)
	}

	// A deadlock is shown, not an error of the server.
	if w := ask(s, "POST", "/api/run", `{"algorithm": "ring_allreduce", "ranks": "8", "sets": ["defaults.n_slots=1"]}`,
		nil); w.Code != http.StatusAccepted {
		t.Fatal(w.Code, w.Body)
	}
	if j := state(t, s, "new-3"); j["state"] != "done" {
		t.Errorf("%v", j)
	}
	if text := ask(s, "GET", "/api/document?id=new-3", "", nil).Body.String(); !strings.Contains(text, "deadlock") {
		t.Errorf("no deadlock in %s", clip(text))
	}
}

// TestForm: the form offers what the schemas have.
func TestForm(t *testing.T) {
	s, _ := served(t)
	var f struct {
		Algorithms, Presets, Types, Ops []string
		Settings                        []setting
	}
	if err := json.Unmarshal(ask(s, "GET", "/api/form", "", nil).Body.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, k := range f.Settings {
		found = found || k.Key == "defaults.n_slots" && k.Default != "" && k.Doc != ""
	}
	if !found || len(f.Algorithms) < 20 || len(f.Presets) < 4 || len(f.Types) < 3 || len(f.Ops) < 3 {
		t.Errorf("%d algorithms, %d presets, n_slots %v", len(f.Algorithms), len(f.Presets), found)
	}
}

// The viewer reads what kernbench prints as JSON.
func TestParse(t *testing.T) {
	s := run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 4, NElem: 64}
	r, res, err := explain.Run(context.Background(), explain.Spec{Run: s})
	if err != nil {
		t.Fatal(err)
	}
	type beside struct {
		*run.Result
		Explanation *explain.Report `json:"explanation"`
	}
	for _, c := range []struct {
		name      string
		v         any
		explained bool
	}{{"explain", r, true}, {"run", res, false}, {"run --explain", beside{res, r}, true}} {
		data, err := json.Marshal(c.v)
		if err != nil {
			t.Fatal(err)
		}
		d, err := parse(data, "x.json")
		if err != nil || len(d.Runs) != 1 || d.Runs[0].Time != res.SimulatedTime || len(d.Runs[0].Reasons) > 0 != c.explained {
			t.Errorf("%s: %v, %+v", c.name, err, d)
		}
	}
	if _, err := parse([]byte(`{"format": "kernbench view", "version": 99}`), "x"); err == nil ||
		!strings.Contains(err.Error(), "version 99") {
		t.Errorf("another version: %v", err)
	}
}

// Serve ends when its context does, and answers until then.
func TestServe(t *testing.T) {
	s, _ := served(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, "127.0.0.1:0") }()
	address, fragment, _ := strings.Cut(s.Address(l.Addr()), "#")
	if fragment != s.token || len(fragment) < 20 {
		t.Errorf("the fragment is %q", fragment)
	}
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Error(r.Status)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server does not end")
	}
}

// FuzzRequests: every answer has a policy, no token, and nothing from outside of the folder. No
// request crashes the server or starts a run without the token.
func FuzzRequests(f *testing.F) {
	s, _ := served(f)
	for _, p := range []string{"/", "/page/page.css", "/api/document?id=0/a.html",
		"/api/document?id=0/../secret.html", "/api/run", "/api/job?id=new-1", "/page/%2e%2e/x", "/api/document?id=0:1"} {
		f.Add("GET", p, "127.0.0.1", "")
	}
	f.Add("POST", "/api/run", "localhost", `{"ranks": "-1", "sets": ["a=b"]}`)
	f.Fuzz(func(t *testing.T, method, target, host, body string) {
		r, err := http.NewRequest(method, "http://127.0.0.1/", strings.NewReader(body))
		if err != nil {
			return
		}
		u, err := r.URL.Parse(target)
		if err != nil {
			return
		}
		r.URL, r.Host = u, host
		r.Header.Set(tokenHeader, s.token)
		r.Header.Set("Content-Type", "application/json")
		if strings.HasSuffix(u.Path, "/run") && method == "POST" { // a run that is right would only take time
			r.Header.Del(tokenHeader)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		text := w.Body.String()
		if w.Header().Get("Content-Security-Policy") == "" || strings.Contains(text, s.token) ||
			strings.Contains(text, `"title":"secret"`) || w.Code == http.StatusAccepted {
			t.Errorf("%s %s of %s: %d %s", method, target, host, w.Code, clip(text))
		}
	})
}

// FuzzRun: every request for a run is refused at a field, or could be run.
func FuzzRun(f *testing.F) {
	f.Add(`{"algorithm": "ring_allreduce", "ranks": "4", "sets": ["defaults.n_slots=2"]}`)
	f.Add(`{"topology": "dgx-h100", "dtype": "f32", "op": "max", "n_elem": "12"}`)
	f.Fuzz(func(t *testing.T, body string) {
		var want wanted
		if json.Unmarshal([]byte(body), &want) != nil ||
			slices.ContainsFunc(want.Sets, func(s string) bool { return strings.Contains(s, "system") }) {
			return // machines of any size take time
		}
		s, bad := want.spec()
		for _, p := range bad {
			if p.Message == "" {
				t.Errorf("%s: an error without a message", body)
			}
		}
		if len(bad) == 0 && (s.Ranks > maxRanks || s.Program != "" || s.TraceFile != "" || s.Input != "") {
			t.Errorf("%s: %+v", body, s)
		}
		_ = want.command()
	})
}

// FuzzParse: a file is a document, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format": "kernbench view", "version": 1, "runs": [{"timeline": {"lanes": [null]}}]}`))
	f.Add([]byte(`{"executor": "sim", "verdicts": [{}]}`))
	f.Add([]byte(`{"explanation": {"bench": "x", "reasons": [], "blames": []}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parse(data, "x.json")
		if err == nil && d == nil {
			t.Error("no document and no error")
		}
	})
}
