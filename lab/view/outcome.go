package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"kernbench/lab/run"
	"kernbench/machine/draw"
	"kernbench/plot/scene"
	"kernbench/unit"
)

// Outcome returns a run with its result alone: without a time line.
func Outcome(res *run.Result, o Options) *Run {
	v := &Run{Name: o.Name, Drawing: drawing(o.Machine, res.Use), Time: res.SimulatedTime, Launch: res.Launch, Failures: []string{}}
	if v.Name == "" {
		v.Name = res.Bench
		if res.Algorithm != "" {
			v.Name = fmt.Sprintf("%s, %d ranks", res.Algorithm, res.WorldSize)
		}
	}
	v.fact("collective", res.Collective)
	v.fact("algorithm", res.Algorithm)
	v.fact("bench", res.Bench)
	v.count("ranks", res.WorldSize)
	if res.ElemsPerRank > 0 {
		v.fact("per rank", fmt.Sprintf("%v (%d × %s)", res.BytesPerRank, res.ElemsPerRank, res.DType))
	}
	v.fact("reduction", res.Op)
	v.fact("machine", res.Machine)
	v.fact("preset or file", res.Spec.Topology)
	v.fact("executor", strings.TrimSpace(res.Executor+" "+res.Fidelity))
	v.fact("settings", strings.Join(res.Spec.Sets, " "))
	if res.Timed && res.Fault == "" {
		v.fact("simulated time", res.SimulatedTime.Spaced())
		if res.Launch > 0 {
			v.fact("launch", res.Launch.Spaced()+" of software, before that time")
		}
		if res.BusBW > 0 {
			v.fact("algbw", gbs(res.AlgBW))
			v.fact("busbw", gbs(res.BusBW))
		}
	}
	if res.Messages > 0 {
		v.fact("messages", fmt.Sprintf("%d, %v", res.Messages, unit.Bytes(res.MessageBytes)))
	}
	v.SetResult(res)
	return v
}

// SetResult sets the verdicts, as another run of the same spec came to them.
func (v *Run) SetResult(res *run.Result) {
	v.OK, v.Verdicts, v.Fault, v.Notes = res.OK(), res.Verdicts, short(res.Fault), nil
	v.Failures = nil
	for i := range res.Failures {
		v.Failures = append(v.Failures, short(res.Failures[i].String()))
	}
	for i := range res.Hazards[:min(len(res.Hazards), run.MaxFailures)] {
		v.Failures = append(v.Failures, short(res.Hazards[i].String()))
	}
	for _, n := range res.Notes {
		v.Notes = append(v.Notes, short(n))
	}
	for i := range v.Verdicts {
		v.Verdicts[i].Detail = short(v.Verdicts[i].Detail)
	}
}

func gbs(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) + " GB/s" }

// fact adds a line to the summary, unless it is empty.
func (v *Run) fact(name, text string) {
	if text != "" {
		v.Facts = append(v.Facts, Fact{name, short(text)})
	}
}

func (v *Run) count(name string, n int) { v.fact(name, strconv.Itoa(n)) }

// short cuts a text that is too long for a page.
func short(text string) string {
	if len(text) <= maxFact {
		return text
	}
	n := maxFact
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + " …"
}

// drawing returns the SVG of a machine, with the use of links if that is known; "" without a
// machine.
func drawing(d *draw.Drawing, use *run.Use) string {
	switch {
	case d == nil:
		return ""
	case use == nil:
		return string(scene.SVG(d.Picture(nil)))
	}
	links := make([]draw.LinkUse, len(use.Links))
	for i, l := range use.Links {
		links[i] = draw.LinkUse{Link: l.Link, Part: l.Utilisation, Bytes: unit.Bytes(l.Bytes)}
	}
	return string(scene.SVG(d.PictureOfUse(links, nil)))
}
