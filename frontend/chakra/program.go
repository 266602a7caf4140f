package chakra

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"kernbench/frontend/plan"
)

// Name is the name of the format.
const Name = "chakra"

// Is reports whether a file is a trace. It begins with a metadata message that has fields of the
// schema only, followed by the end of the file or a node. One of the two has a field.
func Is(data []byte) bool {
	in := newStream(bytes.NewReader(data))
	first, err := in.next()
	if err != nil || !only(*first, 2) {
		return false
	}
	if _, err := readMetadata(first); err != nil {
		return false
	}
	second, err := in.next()
	if err != nil {
		return len(first.data) > 0 && int(in.pos) == len(data)
	}
	if len(first.data)+len(second.data) == 0 { // a file of zeros
		return false
	}
	var n Node
	where := ""
	return only(*second, 10) && n.read(second, &where) == nil
}

// only reports whether a message has no field above most.
func only(m message, most int) bool {
	for m.more() {
		f, err := m.field()
		if err != nil || f.number > most {
			return false
		}
	}
	return true
}

var rankName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*)\.([0-9]{1,6})\.et$`)
})

// Group returns the name of the program that a file NAME.RANK.et is a part of.
func Group(name string) string {
	if m := rankName().FindStringSubmatch(name); m != nil {
		return m[1] + ".*.et"
	}
	return name
}

// Program reads the traces of all ranks, one file each, as a program of the common form. Data
// executes the recorded program in the metadata of exported traces.
func Program(files []plan.File, data Data) (*plan.Program, []plan.Finding) {
	traces, findings := readAll(files)
	if len(findings) > 0 {
		return nil, findings
	}
	p := &program{traces: traces}
	p.read()
	if len(p.findings) > 0 {
		return nil, p.findings
	}
	if !p.findRecorded(data) {
		p.findMeaning()
	}
	out := &plan.Program{Dialect: Name, Name: filepath.Base(Group(files[0].Name)), Collective: "custom",
		World: len(traces), Modes: []bool{false}, Fixed: true}
	if m := p.meaning; m != nil {
		out.Collective, out.Modes = m.plan.Collective, []bool{m.plan.InPlace}
		out.MinBytes, out.MaxBytes = m.bytes, m.bytes
	}
	if r := p.recorded; r != nil {
		out.Collective, out.Modes = r.plan.Collective, []bool{r.plan.InPlace}
		out.MinBytes, out.MaxBytes = r.bytes, r.bytes
	}
	out.Notes = p.notes
	out.Plan = func(call plan.Call) (*plan.Plan, []plan.Finding) {
		if call.Bytes != 0 && call.Bytes != out.MaxBytes {
			what := "messages of their own sizes"
			if out.MaxBytes > 0 {
				what += fmt.Sprintf(", which make a call of %d", out.MaxBytes)
			}
			return nil, []plan.Finding{{Verdict: plan.IllFormed, File: out.Name,
				Text: fmt.Sprintf("a call of %d bytes: the traces have %s", call.Bytes, what)}}
		}
		return p.lower(call), nil
	}
	return out, nil
}

// readAll reads the files, and puts the traces in the order of their ranks.
func readAll(files []plan.File) ([]*Trace, []plan.Finding) {
	var findings []plan.Finding
	traces := make([]*Trace, len(files))
	reject := func(file string, verdict plan.Verdict, text string) {
		findings = append(findings, plan.Finding{Verdict: verdict, File: file, Text: text})
	}
	for _, f := range files {
		rank := 0
		if m := rankName().FindStringSubmatch(f.Name); m != nil {
			rank, _ = strconv.Atoi(m[2])
		} else if len(files) > 1 {
			reject(f.Name, plan.IllFormed, "a file of several, want the name NAME.RANK.et")
			continue
		}
		t, err := Read(f.Name, bytes.NewReader(f.Data))
		switch e, is := errors.AsType[*Error](err); {
		case is:
			reject(f.Name, plan.ParseReject, strings.TrimPrefix(e.Error(), e.File+":"))
		case err != nil:
			reject(f.Name, plan.ParseReject, err.Error())
		case rank >= len(traces):
			reject(f.Name, plan.IllFormed,
				fmt.Sprintf("the trace of rank %d, and there are %d files: want those of all ranks from 0 on, or their folder",
					rank, len(files)))
		case traces[rank] != nil:
			reject(f.Name, plan.IllFormed, fmt.Sprintf("rank %d is in %s too", rank, traces[rank].File))
		default:
			traces[rank] = t
		}
	}
	return traces, findings
}

// program holds the traces of all ranks, and what they contain.
type program struct {
	traces   []*Trace
	graphs   []*graph
	works    [][]work // of each rank, as Trace.Nodes
	findings []plan.Finding
	notes    []string
	meaning  *meaning  // nil: traces without their data
	recorded *recorded // nil: not exported by kernbench
}

// work is the operation of a node, in numbers.
type work struct {
	peer, tag int   // of sends and receives
	bytes     int64 // of sends, receives and collectives
	group     string
	kind      CollectiveType
}

// read checks every node, and finds the order of each rank's nodes.
func (p *program) read() {
	for _, t := range p.traces {
		g, err := newGraph(t)
		if err != nil {
			p.ill(err)
			return
		}
		p.graphs = append(p.graphs, g)
		works := make([]work, len(t.Nodes))
		for i := range t.Nodes {
			if works[i], err = p.work(t, &t.Nodes[i]); err != nil {
				p.ill(err)
				return
			}
		}
		p.works = append(p.works, works)
	}
	p.pairs()
	p.collectives()
}

func (p *program) ill(err error) {
	f := plan.Finding{Verdict: plan.IllFormed, Text: err.Error()}
	if e, ok := errors.AsType[*Error](err); ok {
		f.File, f.Text = e.File, strings.TrimPrefix(e.Error(), e.File+":")
	}
	p.findings = append(p.findings, f)
}

// work reads the attributes that a node of its type must have.
func (p *program) work(t *Trace, n *Node) (work, error) {
	var w work
	var err error
	get := func(name string, least int64, most int64) int64 {
		v, there := Find(n.Attrs, name)
		i, ok := v.Int()
		switch {
		case err != nil:
		case !there:
			err = t.fail(n, fmt.Sprintf("%v without the attribute %s", n.Type, name))
		case !ok || i < least || i > most:
			err = t.fail(n, fmt.Sprintf("%s is %v, want an integer from %d to %d", name, v, least, most))
		}
		return i
	}
	switch n.Type {
	case InvalidNode:
		return w, t.fail(n, "a node of type INVALID_NODE")
	case CommSendNode, CommRecvNode:
		name := "comm_dst"
		if n.Type == CommRecvNode {
			name = "comm_src"
		}
		w.peer = int(get(name, 0, int64(len(p.traces))-1))
		w.bytes = get("comm_size", 0, 1<<50)
		if _, there := Find(n.Attrs, "comm_tag"); there {
			w.tag = int(get("comm_tag", -1<<31, 1<<31))
		}
	case CommCollNode:
		w.kind = CollectiveType(get("comm_type", 0, int64(len(collectiveTypes))-1))
		w.bytes = get("comm_size", 0, 1<<50)
		if v, there := Find(n.Attrs, "pg_name"); there {
			w.group, _ = v.Text()
		}
	}
	return w, err
}

// String returns the value in the form of reports.
func (v Value) String() string {
	if i, ok := v.Int(); ok {
		return strconv.FormatInt(i, 10)
	}
	if s, ok := v.Text(); ok {
		return fmt.Sprintf("%.40q", s)
	}
	return "a value of type " + v.Type.String()
}

// collectives checks that all ranks of a group call the same collectives in the same order.
func (p *program) collectives() {
	type call struct {
		group  string
		number int
	}
	first := map[call][2]int{}
	for rank, g := range p.graphs {
		numbers := map[string]int{}
		for _, i := range g.order {
			if p.traces[rank].Nodes[i].Type != CommCollNode {
				continue
			}
			w := p.works[rank][i]
			c := call{w.group, numbers[w.group]}
			numbers[w.group]++
			o, known := first[c]
			if !known {
				first[c] = [2]int{rank, i}
				continue
			}
			if v := p.works[o[0]][o[1]]; v != w {
				t := p.traces[rank]
				p.ill(t.fail(&t.Nodes[i],
					fmt.Sprintf("collective %d of group %q is %v of %d bytes, and %v of %d bytes in rank %d's node %d",
						c.number, c.group, w.kind, w.bytes, v.kind, v.bytes, o[0], p.traces[o[0]].Nodes[o[1]].ID)))
				return
			}
		}
	}
}

// link is the key that pairs sends with receives: the first send of a link is for its first
// receive.
type link struct{ from, to, tag int }

// pairs checks that the sends and receives of each link have equal sizes. The judge checks their
// numbers.
func (p *program) pairs() {
	type end struct {
		rank, node int
	}
	ends := map[link][2][]end{}
	var links []link
	for rank, g := range p.graphs {
		for _, i := range g.order {
			w := p.works[rank][i]
			side, l := 0, link{rank, w.peer, w.tag}
			switch p.traces[rank].Nodes[i].Type {
			case CommSendNode:
			case CommRecvNode:
				side, l = 1, link{w.peer, rank, w.tag}
			default:
				continue
			}
			e, known := ends[l]
			if !known {
				links = append(links, l)
			}
			e[side] = append(e[side], end{rank, i})
			ends[l] = e
		}
	}
	for _, l := range links {
		e := ends[l]
		for k := range min(len(e[0]), len(e[1])) {
			s, r := e[0][k], e[1][k]
			if a, b := p.works[s.rank][s.node].bytes, p.works[r.rank][r.node].bytes; a != b {
				t := p.traces[r.rank]
				p.ill(t.fail(&t.Nodes[r.node], fmt.Sprintf("it receives %d bytes with tag %d, and rank %d's node %d sends %d",
					b, l.tag, s.rank, p.traces[s.rank].Nodes[s.node].ID, a)))
				return
			}
		}
	}
}
