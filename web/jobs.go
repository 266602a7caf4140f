package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/machine/draw"
)

// jobs are the runs that pages have started: one at a time.
type jobs struct {
	mu      sync.Mutex
	all     []*job
	next    int
	ended   sync.WaitGroup
	machine func(string, []string) (*draw.Drawing, error)
}

// keptJobs is the number of jobs that are kept.
const keptJobs = 20

// job is one run.
type job struct {
	id      string
	name    string
	cancel  context.CancelFunc
	running bool
	stopped bool // by request
	at      run.Progress
	err     string
	doc     *view.Document
}

func newJobs(machine func(string, []string) (*draw.Drawing, error)) *jobs {
	return &jobs{machine: machine}
}

var errBusy = errors.New("a run is under way: cancel it, or wait for its end")

// start starts a run.
func (j *jobs) start(s run.Spec, name string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.all {
		if one.running {
			return nil, errBusy
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	j.next++
	one := &job{id: fmt.Sprintf("new-%d", j.next), name: name, cancel: cancel, running: true}
	j.all = append(j.all, one)
	if len(j.all) > keptJobs {
		j.all = j.all[1:]
	}
	s.Progress = func(p run.Progress) {
		j.mu.Lock()
		defer j.mu.Unlock()
		one.at = p
	}
	j.ended.Go(func() {
		defer cancel()
		doc, err := j.perform(ctx, s, name)
		j.mu.Lock()
		defer j.mu.Unlock()
		one.running, one.doc = false, doc
		if err != nil {
			one.err = err.Error()
			one.stopped = ctx.Err() != nil
		}
	})
	return one, nil
}

// perform explains a run, and checks its data. A fault of the kernel is no error here: the page
// shows it.
func (j *jobs) perform(ctx context.Context, s run.Spec, name string) (doc *view.Document, err error) {
	defer func() {
		if v := recover(); v != nil {
			doc, err = nil, fmt.Errorf("internal error: %v", v)
		}
	}()
	o := view.Options{Name: name}
	if j.machine != nil {
		if o.Machine, err = j.machine(s.Topology, s.Sets); err != nil {
			return nil, err
		}
	}
	explained := s
	explained.VerifyData = false
	v, _, res, err := view.Observe(ctx, explain.Spec{Run: explained}, o)
	if v == nil {
		return nil, err
	}
	if err == nil && s.VerifyData {
		if res, err = run.Run(ctx, s); err != nil && ctx.Err() != nil {
			return nil, err
		}
		if res != nil {
			v.SetResult(res)
		}
	}
	doc = view.New(name, res.MadeBy)
	doc.Runs = []*view.Run{v}
	return doc, nil
}

// find returns a job, with the lock held.
func (j *jobs) find(id string) *job {
	for _, one := range j.all {
		if one.id == id {
			return one
		}
	}
	return nil
}

func (j *jobs) entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := []Entry{}
	for i := len(j.all) - 1; i >= 0; i-- {
		if one := j.all[i]; one.doc != nil {
			all = append(all, Entry{ID: one.id, Name: one.name, Kind: "new run"})
		}
	}
	return all
}

func (j *jobs) document(id string) (*view.Document, string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if one := j.find(id); one != nil && one.doc != nil {
		return one.doc, one.name, nil
	}
	return nil, "", errUnknown
}

// close cancels all runs, and waits until they have ended.
func (j *jobs) close() {
	j.mu.Lock()
	for _, one := range j.all {
		one.cancel()
	}
	j.mu.Unlock()
	j.ended.Wait()
}

// job answers with the state of a run.
func (s *Server) job(w http.ResponseWriter, r *http.Request) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	one := s.jobs.find(r.URL.Query().Get("id"))
	if one == nil {
		failure(w, http.StatusNotFound, "id", "there is no such run")
		return
	}
	state := "done"
	switch {
	case one.running:
		state = "running"
	case one.stopped:
		state = "cancelled"
	case one.err != "":
		state = "failed"
	}
	answer(w, http.StatusOK, map[string]any{
		"id": one.id, "name": one.name, "state": state, "error": one.err, "phase": one.at.Phase, "done": one.at.Done,
		"total": one.at.Total, "simulated_ps": int64(one.at.Simulated),
	})
}

// cancel stops a run.
func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	one := s.jobs.find(r.URL.Query().Get("id"))
	if one == nil {
		failure(w, http.StatusNotFound, "id", "there is no such run")
		return
	}
	one.cancel()
	answer(w, http.StatusOK, map[string]string{"id": one.id})
}
