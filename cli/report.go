package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"kernbench/check/bound"
	"kernbench/conf"
	"kernbench/frontend"
	"kernbench/lab/explain"
	"kernbench/lab/perf"
	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/machine/draw"
	"kernbench/plot/scene"
	"kernbench/report"
	"kernbench/web/page"

	"github.com/spf13/pflag"
)

// pageFlags request a page: one HTML file with the result.
type pageFlags struct {
	file   string
	window between

	timeline, heat plotFlag
}

// pageName is the name of a page. kernbench view and browsers know pages by its ending.
type pageName string

func (n *pageName) Type() string   { return "FILE.html" }
func (n *pageName) String() string { return string(*n) }

func (n *pageName) Set(name string) error {
	if !strings.EqualFold(filepath.Ext(name), ".html") {
		return fmt.Errorf("want a name that ends in .html, such as report.html")
	}
	*n = pageName(name)
	return nil
}

func (p *pageFlags) add(f *pflag.FlagSet) {
	f.Var((*pageName)(&p.file), "report", "write the results as a self-contained page to `FILE.html` (docs/view.md)")
}

// addWindow adds the flag for the time window in which a page draws single slices.
func (p *pageFlags) addWindow(f *pflag.FlagSet) {
	f.Var(&p.window, "report-window",
		"part of the simulated time with single slices on the page: `T1,T2` such as 2us,5us (default: as much as fits, from the start)")
}

// addFigures adds the flags for figures of a run.
func (p *pageFlags) addFigures(f *pflag.FlagSet) {
	p.timeline.add(f, "timeline", "draw what each rank did over time, with the critical path,")
	p.heat.add(f, "heat-map", "draw when each link was busy, and where messages queued,")
}

// beginFigures begins their files.
func (p *pageFlags) beginFigures() error {
	return errors.Join(p.timeline.begin(), p.heat.begin())
}

// discardFigures keeps the former files, unless writeFigures has completed the new ones.
func (p *pageFlags) discardFigures() {
	p.timeline.discard()
	p.heat.discard()
}

// writeFigures completes them.
func (p *pageFlags) writeFigures(r *view.Run, by run.MadeBy, machine string) error {
	for _, f := range []struct {
		to   *plotFlag
		draw func([]scene.Fact) (*scene.Picture, error)
	}{{&p.timeline, r.TimelinePicture}, {&p.heat, r.HeatPicture}} {
		if !f.to.wanted() {
			continue
		}
		picture, err := f.draw(report.AboutFigure(by, machine))
		if err != nil {
			return err
		}
		if err := f.to.write(func() *scene.Picture { return picture }); err != nil {
			return err
		}
	}
	return nil
}

// check reports a window without a page.
func (p *pageFlags) check() error {
	if p.file == "" && p.window.until > 0 {
		return errors.New("--report-window selects what the page contains: give --report FILE.html too")
	}
	return nil
}

// observe explains a run as explain.Run does. If a page is requested, it also returns the page's
// data.
func (p *pageFlags) observe(ctx context.Context, s explain.Spec, name string) (*view.Run, *explain.Report, *run.Result, error) {
	if p == nil || p.file == "" && !p.timeline.wanted() && !p.heat.wanted() {
		r, res, err := explain.Run(ctx, s)
		return nil, r, res, err
	}
	machine, err := machineOf(s.Run.Topology, s.Run.Sets)
	if err != nil {
		return nil, nil, nil, err
	}
	return view.Observe(ctx, s, view.Options{Name: name, From: p.window.from, Until: p.window.until, Machine: machine})
}

// machineOf describes a machine for its drawing.
func machineOf(topology string, sets []string) (*draw.Drawing, error) {
	own, _, err := conf.SplitSets(sets)
	if err != nil {
		return nil, err
	}
	return drawing(topology, own)
}

// drawing describes a machine, with its bisection.
func drawing(topology string, sets []string) (*draw.Drawing, error) {
	d, err := draw.Of(topology, sets)
	if err != nil {
		return nil, err
	}
	return d, d.Bisect(bound.Bisect)
}

// begin begins the file, so that a command learns before its work whether it can be written. It
// returns nil if no page is requested.
func (p *pageFlags) begin() (*destination, error) { return output("--report", p.file) }

// writePage completes the file of a page.
func writePage(to *destination, d *view.Document) error {
	return to.write(func(w io.Writer) error {
		return page.Write(w, page.About{Title: d.Title, Generator: "kernbench " + run.Version()}, d)
	})
}

// writeRuns completes the file of a page of runs.
func (a *app) writeRuns(to *destination, by run.MadeBy, runs ...*view.Run) error {
	if to == nil || len(runs) == 0 || runs[0] == nil {
		return nil
	}
	title := runs[len(runs)-1].Name
	if len(runs) > 1 {
		title = fmt.Sprintf("%s against %s", title, runs[0].Name)
	}
	d := view.New(title, by)
	d.MadeBy.Command, d.Runs = a.commandLine(), runs
	return writePage(to, d)
}

// writeProgram completes the file of a page of calls of another tool's program, unless to is nil.
func writeProgram(to *destination, v *frontend.Verdict, calls ...*plans.Result) error {
	if to == nil {
		return nil
	}
	return writePage(to, view.Program(v, calls))
}

// pagedPerf completes the file of a page when a sweep has ended.
type pagedPerf struct{ to *destination }

func (p *pagedPerf) Begin(*perf.Sweep) error          { return nil }
func (p *pagedPerf) Row(*perf.Sweep, *perf.Row) error { return nil }
func (p *pagedPerf) End(s *perf.Sweep) error          { return writePage(p.to, view.Sweep(s)) }
