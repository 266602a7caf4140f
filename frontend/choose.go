package frontend

import (
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// Selection is a runtime's choice for a call.
type Selection struct {
	Ranks   int         `json:"ranks"` // of the call
	Runtime string      `json:"runtime"`
	Dialect string      `json:"dialect"`
	File    string      `json:"file"`    // "": none, and its default algorithm runs
	Warning string      `json:"warning"` // why the file is wrong for this call
	Others  []Candidate `json:"others"`  // files that it does not take
}

// Candidate is a file that a runtime does not take, and why.
type Candidate struct {
	File string   `json:"file"`
	Why  []string `json:"why"`
}

// Choose returns the source that each runtime of each format takes for a call: the first that fits,
// in the order of the sources.
func Choose(sources []Source, q plan.Query) []Selection {
	type candidate struct {
		s        *Source
		p        *plan.Program
		findings []plan.Finding
	}
	var all []candidate
	for i := range sources {
		p, findings := sources[i].Read()
		all = append(all, candidate{&sources[i], p, findings})
	}
	var out []Selection
	for _, d := range dialects {
		for _, runtime := range d.Runtimes {
			c := Selection{Ranks: q.World, Runtime: runtime, Dialect: d.Name, Others: []Candidate{}}
			most, files := 0, 0
			if d.Files != nil {
				most = d.Files(runtime)
			}
			for _, x := range all {
				var why []string
				var loaded bool
				switch {
				case x.s.Dialect == nil || x.s.Dialect.Name != d.Name:
					continue
				case x.p == nil:
					why = []string{x.findings[0].String()}
				case x.p.WhyNot == nil:
					continue
				default:
					why, loaded = x.p.WhyNot(runtime, q)
				}
				if loaded {
					files++
				}
				if len(why) == 0 && most > 0 && files > most {
					why = []string{fmt.Sprintf("it fits, and %d files for %d ranks come before it: %d are loaded", files-1, q.World, most)}
				}
				if len(why) == 0 && c.File != "" {
					why = []string{"it fits, but " + c.File + " comes first"}
				}
				if len(why) > 0 {
					c.Others = append(c.Others, Candidate{x.s.Name, why})
					continue
				}
				c.File = x.s.Name
				c.Warning = warning(x.p, q)
			}
			out = append(out, c)
		}
	}
	return out
}

// Worlds returns the numbers of ranks that sources for a collective have, ascending.
func Worlds(sources []Source, coll string) []int {
	var worlds []int
	for i := range sources {
		if p, _ := sources[i].Read(); p != nil && p.WhyNot != nil && p.Collective == coll && !slices.Contains(worlds, p.World) {
			worlds = append(worlds, p.World)
		}
	}
	slices.Sort(worlds)
	return worlds
}

// warning returns what is wrong with a program for a call, or "".
func warning(p *plan.Program, q plan.Query) string {
	if co, err := collective.Lookup(p.Collective); err == nil && co.Reduces {
		switch {
		case p.SumsOnly && q.Op != "" && q.Op != "sum":
			return fmt.Sprintf("it computes a sum, and the call asks for %s: the runtime does not compare them", q.Op)
		case q.Op == "avg":
			return "the call asks for avg, which programs do not do: the runtime does not look at it"
		}
	}
	pl, broken := p.Plan(plan.Call{Bytes: q.Bytes, InPlace: q.InPlace})
	switch {
	case len(broken) > 0:
		return broken[0].String()
	case pl == nil:
		return ""
	}
	j := judge.Judge(pl)
	if j.OK() {
		return ""
	}
	return fmt.Sprintf("%v: %s", j.Verdicts[0], j.Findings[0].Text)
}
