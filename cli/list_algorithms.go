package cli

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/lab/sweep"
	"kernbench/report"
)

// listedAlgorithm is a row of the library in JSON.
type listedAlgorithm struct {
	Name        string   `json:"name"`
	Collective  string   `json:"collective"`
	Topology    string   `json:"topology"`
	Summary     string   `json:"summary"`
	Steps       string   `json:"steps"`
	Cost        string   `json:"cost"`
	Constraints []string `json:"constraints"`
	Pipelined   bool     `json:"pipelined"` // takes a chunk_size
	Window      bool     `json:"window"`    // works on symmetric memory
	Source      string   `json:"source"`
}

func (a *app) listAlgorithms(o *listOptions) error {
	rows, err := o.algorithms()
	if err != nil {
		return err
	}
	all := make([]listedAlgorithm, 0, len(rows))
	for _, r := range rows {
		all = append(all, listedAlgorithm{
			r.Name, r.Collective, r.Topology, r.Summary, r.Steps, r.Cost, append([]string{}, r.Constraints()...),
			r.Pipelined, r.Window != nil, r.Source,
		})
	}
	print := algorithmsInFull
	if o.short {
		print = algorithmsInShort
	}
	if err := show(a, o.format, all, print); err != nil || o.format == "json" || len(o.names) > 0 || o.collective != "" {
		return err
	}
	fmt.Fprintln(a.out)
	return entriesOfCCL(a.out)
}

// algorithms returns the selected rows of the library.
func (o *listOptions) algorithms() ([]*algorithm.Algorithm, error) {
	rows := algorithm.All()
	if o.collective != "" {
		co, err := sweep.FindCollective(o.collective)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(r *algorithm.Algorithm) bool { return r.Collective != co.Name })
	}
	if len(o.names) == 0 {
		return rows, nil
	}
	var named []*algorithm.Algorithm
	var known []string
	for _, r := range rows {
		known = append(known, r.Name)
	}
	for _, name := range o.names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, algorithm.Unknown(name, known)
		}
		named = append(named, rows[i])
	}
	return named, nil
}

func algorithmsInShort(w io.Writer, all []listedAlgorithm) error {
	t := report.Table{Head: []string{"algorithm", "collective", "topology", "constraints", "what it does"}}
	for _, r := range all {
		t.Add(r.Name, r.Collective, r.Topology, strings.Join(r.Constraints, ", "), r.Summary)
	}
	return t.Write(w)
}

// algorithmsInFull prints a paragraph for each.
func algorithmsInFull(w io.Writer, all []listedAlgorithm) error {
	for i, r := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s on %s\n", r.Name, r.Collective, r.Topology)
		paragraph(w, "does", r.Summary)
		paragraph(w, "steps", r.Steps)
		paragraph(w, "cost", r.Cost)
		needs := strings.Join(r.Constraints, ", ")
		if needs == "" {
			needs = "any number of ranks and elements"
		}
		paragraph(w, "needs", needs)
		if r.Pipelined {
			paragraph(w, "takes", "chunk_size: auto or bytes")
		}
		paragraph(w, "source", r.Source)
	}
	_, err := fmt.Fprint(w, `
N: ranks; M: bytes per rank; L: ranks of a cube; w, h: sides of a grid; c, k: pieces
alpha: latency of a message; beta: time per byte; gamma: time per reduced byte
`)
	return err
}

// paragraph prints a heading and a text, in lines that fit a terminal.
func paragraph(w io.Writer, what, text string) {
	const most = 110
	line := fmt.Sprintf("    %-8s", what)
	blank := true // the line has no word yet
	for word := range strings.FieldsSeq(text) {
		if !blank && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			fmt.Fprintln(w, line)
			line, blank = strings.Repeat(" ", 12), true
		}
		if !blank {
			line += " "
		}
		line, blank = line+word, false
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// entriesOfCCL lists the further entries of the built-in ccl.yaml.
func entriesOfCCL(w io.Writer) error {
	t := report.Table{Head: []string{"entry of ccl.yaml", "algorithm", "with"}}
	ccl := conf.DefaultCCL()
	for _, name := range ccl.Names() {
		if r, with := ccl.Merge(name), changes(ccl.Entry(name)); name != r.Module || with != "" {
			t.Add(name, r.Module, with)
		}
	}
	return t.Write(w)
}

// changes lists the settings in which an entry differs from the defaults.
func changes(entry *conf.Algorithm) string {
	var list []string
	v := reflect.ValueOf(entry).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() {
			list = append(list, fmt.Sprintf("%s: %v", v.Type().Field(i).Tag.Get("conf"), f.Elem()))
		}
	}
	return strings.Join(list, ", ")
}
