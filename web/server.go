package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"kernbench/lab/run"
	"kernbench/machine/draw"
	"kernbench/web/page"
)

// Options select what a server shows.
type Options struct {
	Names    []string // files and folders
	CalledAs string

	// Machine describes a machine for its drawing; nil: pages have none.
	Machine func(topology string, sets []string) (*draw.Drawing, error)
}

// Server is the viewer.
type Server struct {
	options Options
	library *library
	jobs    *jobs
	token   string
	host    string // host to listen on, or ""
}

// New makes a server. It reads no file yet, but checks that each exists.
func New(o Options) (*Server, error) {
	l, err := newLibrary(o.Names)
	if err != nil {
		return nil, err
	}
	return &Server{options: o, library: l, jobs: newJobs(o.Machine), token: rand.Text()}, nil
}

// Address returns the address of a page on a listener, with the token in its fragment. A browser
// sends the fragment to no server, and the page removes it from the address.
func (s *Server) Address(l net.Addr) string { return fmt.Sprintf("http://%s/#%s", l, s.token) }

// Serve answers requests on a listener until ctx is done. listen is the requested address.
func (s *Server) Serve(ctx context.Context, l net.Listener, listen string) error {
	if host, _, err := net.SplitHostPort(listen); err == nil {
		s.host = host
	}
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
	}
	defer s.Close()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	err := server.Close()
	<-ended
	return err
}

// Close stops the run that is in progress, and waits until it has ended.
func (s *Server) Close() { s.jobs.close() }

// policy lists what pages may load: the server's own modules.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.file(w, "viewer.html") })
	mux.HandleFunc("GET /page/{name}", func(w http.ResponseWriter, r *http.Request) { s.file(w, r.PathValue("name")) })
	mux.HandleFunc("GET /api/list", s.guarded(s.list))
	mux.HandleFunc("GET /api/document", s.guarded(s.document))
	mux.HandleFunc("GET /api/form", s.guarded(s.form))
	mux.HandleFunc("GET /api/job", s.guarded(s.job))
	mux.HandleFunc("POST /api/run", s.guarded(s.start))
	mux.HandleFunc("POST /api/cancel", s.guarded(s.cancel))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.hostAllowed(r.Host) {
			failure(w, http.StatusMisdirectedRequest, "",
				fmt.Sprintf("the host %q is not this server: use the address that kernbench view has printed", clip(r.Host)))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		mux.ServeHTTP(w, r)
	})
}

const maxBody = 64 << 10

// hostAllowed reports whether a request names this server. Another site may point a name of its own
// at this address. hostAllowed accepts a number, localhost, and the name that the user gave to
// listen on.
func (s *Server) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if name == "localhost" || s.host != "" && name == s.host {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if own, err := netip.ParseAddr(s.host); err == nil && !own.IsLoopback() { // listens beyond this computer
		return true
	}
	return ip.IsLoopback()
}

// tokenHeader has the token of a request.
const tokenHeader = "X-Kernbench-Token"

// guarded answers a request that has the token, and that a page of this server has made.
func (s *Server) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(tokenHeader)), []byte(s.token)) != 1 {
			failure(w, http.StatusForbidden, "", "the token is missing or wrong: open the address that kernbench view has printed")
			return
		}
		if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
			failure(w, http.StatusForbidden, "", fmt.Sprintf("a page of %q may not send requests to this server", clip(o)))
			return
		}
		next(w, r)
	}
}

// types are the media types of the files of pages.
var types = map[string]string{"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}

// file answers with a file of the page.
func (s *Server) file(w http.ResponseWriter, name string) {
	entries, err := fs.ReadDir(page.Files(), ".")
	if err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
		failure(w, http.StatusNotFound, "", fmt.Sprintf("there is no file %q", clip(name)))
		return
	}
	data, err := fs.ReadFile(page.Files(), name)
	if err != nil {
		failure(w, http.StatusInternalServerError, "", err.Error())
		return
	}
	w.Header().Set("Content-Type", types[name[strings.LastIndexByte(name, '.')+1:]])
	w.Write(data)
}

// problem is an error in an answer to a page.
type problem struct {
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

func failure(w http.ResponseWriter, status int, field, message string) {
	problems(w, status, []problem{{field, message}})
}

func problems(w http.ResponseWriter, status int, all []problem) {
	answer(w, status, struct {
		Errors []problem `json:"errors"`
	}{all})
}

func answer(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"errors":[{"message":"the answer cannot be written as JSON"}]}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(data)
}

// clip cuts a text of a request that an error repeats.
func clip(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + " …"
	}
	return text
}

// list returns the files that can be shown.
func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	all, err := s.library.list()
	if err != nil {
		failure(w, http.StatusInternalServerError, "", err.Error())
		return
	}
	answer(w, http.StatusOK, map[string]any{"entries": append(s.jobs.entries(), all...), "version": run.Version()})
}

// maxShown is the largest number of documents that one page compares.
const maxShown = 6

// document answers with one document, or with several put together.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	ids := r.URL.Query()["id"]
	if len(ids) == 0 || len(ids) > maxShown {
		failure(w, http.StatusBadRequest, "id", fmt.Sprintf("%d documents, want 1 to %d", len(ids), maxShown))
		return
	}
	var parts []part
	for _, id := range ids {
		d, name, err := s.jobs.document(id)
		if errors.Is(err, errUnknown) {
			d, name, err = s.library.document(id)
		}
		switch {
		case errors.Is(err, errUnknown):
			failure(w, http.StatusNotFound, "id", fmt.Sprintf("there is no document %q", clip(id)))
			return
		case err != nil:
			failure(w, http.StatusUnprocessableEntity, "id", err.Error())
			return
		}
		parts = append(parts, part{d, name})
	}
	answer(w, http.StatusOK, together(parts))
}

var errUnknown = errors.New("there is no such document")
