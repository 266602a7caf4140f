package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/tl"
)

// setting is a key of a configuration file, as the form offers it.
type setting struct {
	Key     string `json:"key"`
	Doc     string `json:"doc,omitempty"`
	Default string `json:"default,omitempty"`
}

// form answers with the choices for a new run: names, and the keys of the schemas of both files.
func (s *Server) form(w http.ResponseWriter, _ *http.Request) {
	var algorithms, presets, types, ops []string
	for _, a := range algorithm.All() {
		algorithms = append(algorithms, a.Name)
	}
	slices.Sort(algorithms)
	for _, p := range machine.Presets() {
		presets = append(presets, p.Name)
	}
	for _, t := range dtype.Types() {
		types = append(types, t.String())
	}
	for _, o := range tl.ReduceOps() {
		ops = append(ops, o.String())
	}
	keys := []setting{}
	for _, kind := range []string{"topology", "ccl"} {
		text, err := conf.Schema(kind)
		if err != nil {
			failure(w, http.StatusInternalServerError, "", err.Error())
			return
		}
		var root schemaNode
		if err := json.Unmarshal(text, &root); err != nil {
			failure(w, http.StatusInternalServerError, "", err.Error())
			return
		}
		keys = append(keys, root.settings("")...)
	}
	answer(w, http.StatusOK, map[string]any{
		"algorithms": algorithms, "presets": presets, "types": types, "ops": ops, "settings": keys,
		"max_ranks": maxRanks, "max_elements": maxElements,
	})
}

// schemaNode holds what the form needs of a JSON Schema.
type schemaNode struct {
	Description string                `json:"description"`
	Default     json.RawMessage       `json:"default"`
	Properties  map[string]schemaNode `json:"properties"`
}

func (n *schemaNode) settings(prefix string) []setting {
	var names []string
	for name := range n.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	var all []setting
	for _, name := range names {
		p := n.Properties[name]
		key := strings.TrimPrefix(prefix+"."+name, ".")
		if len(p.Properties) == 0 {
			all = append(all, setting{key, p.Description, strings.Trim(string(p.Default), `"`)})
			continue
		}
		all = append(all, p.settings(key)...)
	}
	return all
}

// Bounds of a run that a page starts.
const (
	maxRanks    = 1024
	maxElements = 1 << 26
	maxSets     = 50
	maxText     = 1000 // bytes of a setting
)

// wanted is the request for a run, with texts as the user has typed them.
type wanted struct {
	Topology  string   `json:"topology"`
	Algorithm string   `json:"algorithm"`
	Ranks     string   `json:"ranks"`
	Elements  string   `json:"n_elem"`
	Type      string   `json:"dtype"`
	Op        string   `json:"op"`
	Verify    bool     `json:"verify_data"`
	Sets      []string `json:"sets"`
}

// start begins a run.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	if t := r.Header.Get("Content-Type"); !strings.HasPrefix(t, "application/json") {
		failure(w, http.StatusUnsupportedMediaType, "", fmt.Sprintf("found Content-Type %q, want application/json", clip(t)))
		return
	}
	var want wanted
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&want); err != nil {
		status := http.StatusBadRequest
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			status = http.StatusRequestEntityTooLarge
		}
		failure(w, status, "", "the request cannot be read: "+clip(err.Error()))
		return
	}
	spec, bad := want.spec()
	if len(bad) > 0 {
		problems(w, http.StatusUnprocessableEntity, bad)
		return
	}
	spec.Command, spec.CalledAs = want.command(), s.options.CalledAs
	one, err := s.jobs.start(spec, want.name())
	if err != nil {
		failure(w, http.StatusConflict, "", err.Error())
		return
	}
	answer(w, http.StatusAccepted, map[string]string{"id": one.id, "name": one.name})
}

// spec checks each field, and then all of them together.
func (q *wanted) spec() (run.Spec, []problem) {
	var s run.Spec
	var bad []problem
	wrong := func(field, format string, args ...any) {
		bad = append(bad, problem{field, fmt.Sprintf(format, args...)})
	}
	if q.Topology != "" && !slices.ContainsFunc(machine.Presets(), func(p machine.Preset) bool { return p.Name == q.Topology }) {
		wrong("topology", "found %q, want a preset", clip(q.Topology))
	}
	s.Topology = q.Topology
	if _, err := algorithm.Lookup(q.Algorithm); q.Algorithm != "" && err != nil {
		wrong("algorithm", "found %q, want an algorithm of the library", clip(q.Algorithm))
	}
	s.Algorithm = q.Algorithm
	number := func(field, text string, most int) int {
		if text = strings.TrimSpace(text); text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			wrong(field, "found %q, want a number from 1 to %d", clip(text), most)
			return 0
		}
		return n
	}
	s.Ranks, s.NElem = number("ranks", q.Ranks, maxRanks), number("n_elem", q.Elements, maxElements)
	var err error
	if q.Type != "" {
		if s.DType, err = dtype.Parse(q.Type); err != nil {
			wrong("dtype", "%s", clip(err.Error()))
		}
	}
	if q.Op != "" {
		if s.Op, err = tl.ParseReduceOp(q.Op); err != nil {
			wrong("op", "%s", clip(err.Error()))
		}
	}
	if len(q.Sets) > maxSets {
		wrong("sets", "%d settings, want at most %d", len(q.Sets), maxSets)
		return s, bad
	}
	for i, set := range q.Sets {
		field := fmt.Sprintf("sets.%d", i)
		if len(set) > maxText {
			wrong(field, "a setting of more than %d bytes", maxText)
		} else if _, _, err := conf.SplitSets([]string{set}); err != nil {
			wrong(field, "%s", firstLine(err))
		}
	}
	if len(bad) > 0 {
		return s, bad
	}
	s.Sets, s.VerifyData = q.Sets, q.Verify
	if _, err := run.Load(s); err != nil {
		bad = append(bad, problem{q.field(err), firstLine(err)})
		return s, bad
	}
	return s, nil
}

// field returns the field that an error about the whole run names.
func (q *wanted) field(err error) string {
	text := err.Error()
	for i, set := range q.Sets {
		key, _, _ := strings.Cut(set, "=")
		if key = strings.TrimSpace(key); key != "" && strings.Contains(text, key) {
			return fmt.Sprintf("sets.%d", i)
		}
	}
	switch {
	case strings.Contains(text, "rank"):
		return "ranks"
	case strings.Contains(text, "element"):
		return "n_elem"
	}
	return ""
}

// firstLine returns the first line of an error, without the excerpt of a file.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// name returns the name of the run on pages.
func (q *wanted) name() string {
	words := []string{q.Algorithm}
	if q.Algorithm == "" {
		words[0] = "ccl_allreduce"
	}
	if q.Ranks != "" {
		words = append(words, q.Ranks+" ranks")
	}
	if q.Topology != "" {
		words = append(words, q.Topology)
	}
	return strings.Join(append(words, q.Sets...), ", ")
}

// command returns the command line of the same run.
func (q *wanted) command() string {
	line := "kernbench run"
	add := func(flag, value string) {
		if value != "" {
			line += " --" + flag + " '" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
	}
	add("topology", q.Topology)
	add("algorithm", q.Algorithm)
	add("ranks", q.Ranks)
	add("n-elem", q.Elements)
	add("dtype", q.Type)
	add("op", q.Op)
	for _, s := range q.Sets {
		add("set", s)
	}
	if q.Verify {
		line += " --verify-data"
	}
	return line
}
