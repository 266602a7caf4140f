package browsertest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Each kind of what no page of kernbench does is found.
func TestProblemsAreFound(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	p := open(t, "file://")
	p.Secret("hidden")
	for _, c := range []struct{ name, html, want string }{
		{"nothing", "<p>text</p>", ""},
		{"a log entry", "<script>console.log('fine')</script>", ""},
		{"an error", "<script>console.error('lost', 3)</script>", "lost"},
		{"a warning", "<script>console.warn('odd')</script>", "odd"},
		{"an exception", "<script>throw new Error('broken')</script>", "broken"},
		{"a rejected promise", "<script>Promise.reject(new Error('refused'))</script>", "refused"},
		{"an image from elsewhere", "<img src='" + elsewhere.URL + "/a.png'>", "sends a request to " + elsewhere.URL},
		{"a secret", "<p>hidden</p>", "sends a secret"},
		{"a socket", "<script>new WebSocket('" + strings.Replace(elsewhere.URL, "http", "ws", 1) + "/s')</script>", "opens a socket to"},
		{"a policy that is broken", "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\"><script>1</script>",
			"Content Security Policy"},
	} {
		p.forget()
		p.Do(chromedp.Navigate("data:text/html," + url.PathEscape("<!doctype html><link rel=icon href='data:,'>"+c.html)))
		if c.want == "" {
			if found := p.problems(); len(found) > 0 {
				t.Errorf("%s: found %q", c.name, found)
			}
			continue
		}
		found := func() bool { return strings.Contains(strings.Join(p.problems(), "\n"), c.want) }
		for begun := time.Now(); !found() && time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
			p.Text("1")
		}
		if !found() {
			t.Errorf("%s: %q is not in %q", c.name, c.want, p.problems())
		}
	}
}

// forget begins anew.
func (p *Page) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = nil
}

// An expected request is allowed, and its absence is an error.
func TestExpect(t *testing.T) {
	p := &Page{own: "http://127.0.0.1:1/"}
	p.keep("status of 422")
	p.keep("other")
	p.Expect("of 422")
	p.Expect("of 409")
	if got := strings.Join(p.problems(), "; "); got != `other; the console lacks "of 409"` {
		t.Error(got)
	}
}
