package chakra

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/judge"
	"kernbench/frontend/msccl"
	"kernbench/frontend/plan"
)

// ringText is MSCCL XML for all_reduce around a ring, as published converters take it.
func ringText(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		`<algo name="ring" proto="Simple" nchannels="1" nchunksperloop="%d" ngpus="%d" coll="allreduce" inplace="1" outofplace="0" minBytes="0" maxBytes="0">`+"\n",
		n, n)
	for r := range n {
		fmt.Fprintf(&b, `<gpu id="%d" i_chunks="%d" o_chunks="0" s_chunks="0"><tb id="0" send="%d" recv="%d" chan="0">`+"\n",
			r, n, (r+1)%n, (r+n-1)%n)
		for i, s := range ringSteps(r, n) {
			fmt.Fprintf(&b,
				`<step s="%d" type="%s" srcbuf="i" srcoff="%d" dstbuf="i" dstoff="%d" cnt="1" depid="-1" deps="-1" hasdep="0"/>`+"\n",
				i, s.op, s.chunk, s.chunk)
		}
		b.WriteString("</tb></gpu>\n")
	}
	return b.String() + "</algo>\n"
}

type ringStep struct {
	op    string
	chunk int
}

func ringSteps(r, n int) (out []ringStep) {
	at := r
	for range n - 1 {
		before := (at + n - 1) % n
		out = append(out, ringStep{"s", at}, ringStep{"rrc", before})
		at = before
	}
	for range n - 1 {
		before := (at + n - 1) % n
		out = append(out, ringStep{"s", at}, ringStep{"r", before})
		at = before
	}
	return out
}

// ring returns the traces that the converter makes of ringText: each node depends on the one
// before.
func ring(n int, source string) []*Trace {
	var out []*Trace
	for r := range n {
		t := &Trace{Metadata: Metadata{Attrs: []Attr{{Name: "schema", Value: NewText("1.0.2-chakra.0.0.4")},
			{Name: "input_file", Value: NewText(source)}}}}
		add := func(typ NodeType, name string, step int, attrs ...Attr) {
			node := Node{ID: uint64(len(t.Nodes)), Name: fmt.Sprintf("%s_NODE_tb0_step%d", name, step), Type: typ, Attrs: attrs}
			if node.ID > 0 {
				node.DataDeps = []uint64{node.ID - 1}
			}
			t.Nodes = append(t.Nodes, node)
		}
		size := Attr{Name: "comm_size", Value: NewInt(Int64, 4096)}
		for i, s := range ringSteps(r, n) {
			if s.op == "s" {
				add(CommSendNode, "COMM_SEND", i, size, Attr{Name: "comm_dst", Value: NewInt(Int32, int64((r+1)%n))})
				continue
			}
			add(CommRecvNode, "COMM_RECV", i, size, Attr{Name: "comm_src", Value: NewInt(Uint64, int64((r+n-1)%n))})
			if s.op == "rrc" {
				add(CompNode, "COMP", i)
				t.Nodes[len(t.Nodes)-1].Duration = 7
			}
		}
		out = append(out, t)
	}
	return out
}

// files returns the files of traces.
func files(t testing.TB, traces []*Trace) []plan.File {
	t.Helper()
	var out []plan.File
	for r, trace := range traces {
		var b bytes.Buffer
		if err := Write(&b, trace); err != nil {
			t.Fatal(err)
		}
		out = append(out, plan.File{Name: fmt.Sprintf("ring.%d.et", r), Data: b.Bytes()})
	}
	return out
}

// findings judges files, and returns the findings and the notes.
func findings(t *testing.T, files []plan.File) ([]plan.Finding, []string) {
	t.Helper()
	p, found := Program(files, nil)
	if p == nil {
		return found, nil
	}
	pl, found := p.Plan(plan.Call{InPlace: p.Modes[0]})
	if pl == nil {
		return found, p.Notes
	}
	return judge.Judge(pl).Findings, p.Notes
}

// A ring is the same program from XML and from traces.
// A file of zeros is no trace, though it is a sequence of empty messages.
func TestZerosAreNoTrace(t *testing.T) {
	if Is(make([]byte, 100)) {
		t.Error("100 zeros are taken for a trace")
	}
}

func TestRingIsAsItsXML(t *testing.T) {
	source := ringText(4)
	x, found := msccl.Read(plan.File{Name: "ring.xml", Data: []byte(source)})
	if x == nil {
		t.Fatal(found)
	}
	e, found := Program(files(t, ring(4, source)), nil)
	if e == nil {
		t.Fatal(found)
	}
	if e.Collective != x.Collective || e.World != x.World || e.MinBytes != 16384 || e.MaxBytes != 16384 {
		t.Errorf("traces are %+v, XML is %+v", e, x)
	}
	var right [2]string
	for i, p := range []*plan.Program{x, e} {
		pl, found := p.Plan(plan.Call{InPlace: true})
		if pl == nil {
			t.Fatal(found)
		}
		j := judge.Judge(pl)
		right[i] = fmt.Sprint(j.Verdicts, j.Right, j.Cells, j.Messages)
	}
	if right[0] != "[OK] 16 16 24" || right[0] != right[1] {
		t.Errorf("XML gives %s, traces give %s; want [OK] 16 16 24 of both", right[0], right[1])
	}
}

func TestProgramVerdicts(t *testing.T) {
	source := ringText(4)
	drop := func(x []*Trace, rank, place int) { x[rank].Nodes = slices.Delete(x[rank].Nodes, place, place+1) }
	for _, c := range []struct {
		name   string
		change func(x []*Trace) []*Trace
		want   plan.Verdict
		text   string
	}{
		{"right", func(x []*Trace) []*Trace { return x }, plan.OK, ""},
		{"no dependency", func(x []*Trace) []*Trace { x[1].Nodes[3].DataDeps = []uint64{1}; return x }, plan.Race,
			"rank 1 node 2 (COMP_NODE_tb0_step1)"},
		{"dependency on what is not there", func(x []*Trace) []*Trace { x[1].Nodes[3].CtrlDeps = []uint64{99}; return x },
			plan.IllFormed, "node 3: it depends on node 99"},
		{"waits for itself", func(x []*Trace) []*Trace { x[1].Nodes[3].CtrlDeps = []uint64{3}; return x },
			plan.IllFormed, "node 3: it waits for node 3"},
		{"wait for each other", func(x []*Trace) []*Trace { x[1].Nodes[3].CtrlDeps = []uint64{4}; return x },
			plan.IllFormed, "it waits for node 4, which waits for node 3"},
		{"same id", func(x []*Trace) []*Trace { x[1].Nodes[3].ID = 2; return x }, plan.IllFormed,
			"node 2: the id is that of the node at byte"},
		{"no size", func(x []*Trace) []*Trace { x[2].Nodes[0].Attrs = nil; return x }, plan.IllFormed,
			"node 0: COMM_SEND_NODE without the attribute comm_dst"},
		{"no such rank", func(x []*Trace) []*Trace { x[2].Nodes[0].Attrs[1].Value = NewInt(Int32, 4); return x },
			plan.IllFormed, "comm_dst is 4, want an integer from 0 to 3"},
		{"size is text", func(x []*Trace) []*Trace { x[2].Nodes[0].Attrs[0].Value = NewText("4096"); return x },
			plan.IllFormed, `comm_size is "4096", want an integer`},
		{"sizes differ", func(x []*Trace) []*Trace { x[2].Nodes[1].Attrs[0].Value = NewInt(Int64, 8); return x },
			plan.IllFormed, "it receives 8 bytes with tag 0, and rank 1's node 0 sends 4096"},
		{"invalid node", func(x []*Trace) []*Trace { x[2].Nodes[1].Type = InvalidNode; return x }, plan.IllFormed, "INVALID_NODE"},
		{"no receive at the end", func(x []*Trace) []*Trace { drop(x, 3, len(x[3].Nodes)-1); return x },
			plan.Leftover, "channel 2->3 chan 0: 1 of 6 messages are left"},
		{"no send", func(x []*Trace) []*Trace { x[0].Nodes[1].DataDeps = nil; drop(x, 0, 0); return x },
			plan.Deadlock, "no data on channel 0->1 chan 0"},
		{"not added", func(x []*Trace) []*Trace { x[0].Nodes[3].DataDeps = []uint64{1}; drop(x, 0, 2); return x }, plan.Wrong, "chunks"},
		{"rank missing", func(x []*Trace) []*Trace { return x[:3] }, plan.IllFormed, "comm_src is 3, want an integer from 0 to 2"},
		{"no source", func(x []*Trace) []*Trace { x[0].Metadata.Attrs = nil; return x }, plan.NoPostcondition, "custom"},
		{"other source", func(x []*Trace) []*Trace {
			x[0].Nodes[0].Name = "COMM_SEND_NODE_tb0_step2"
			return ringOf(x, ringText(5))
		}, plan.NoPostcondition, "custom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, _ := findings(t, files(t, c.change(ring(4, source))))
			if c.want == plan.OK {
				if len(found) > 0 {
					t.Errorf("findings %v, want none", found)
				}
				return
			}
			if !slices.ContainsFunc(found, func(f plan.Finding) bool { return f.Verdict == c.want && strings.Contains(f.Text, c.text) }) {
				t.Errorf("findings %v, want %v with %q", found, c.want, c.text)
			}
		})
	}
}

// ringOf puts another source into the metadata of traces.
func ringOf(x []*Trace, source string) []*Trace {
	for _, t := range x {
		t.Metadata.Attrs = []Attr{{Name: "input_file", Value: NewText(source)}}
	}
	return x
}

// Nodes that differ from their source are reported.
func TestNodesThatDifferFromTheirSource(t *testing.T) {
	x := ring(4, ringText(4))
	x[1].Nodes[3].Name = "COMM_SEND_NODE_tb0_step1"
	_, notes := findings(t, files(t, x))
	want := "nodes do not do what it says: ring.1.et:byte"
	if len(notes) == 0 || !strings.Contains(notes[0], want) ||
		!strings.Contains(notes[0], "node 3: COMM_SEND_NODE does not fit step 1 (rrc)") {
		t.Errorf("notes %v, want %q", notes, want)
	}
}

// collectives is traces of n ranks that call collectives.
func collectives(n int, kinds ...CollectiveType) []*Trace {
	var out []*Trace
	for range n {
		t := &Trace{}
		for i, k := range kinds {
			node := Node{ID: uint64(i), Type: CommCollNode,
				Attrs: []Attr{{Name: "comm_type", Value: NewInt(Int64, int64(k))}, {Name: "comm_size", Value: NewInt(Int64, 64)}}}
			if i > 0 {
				node.CtrlDeps = []uint64{uint64(i - 1)}
			}
			t.Nodes = append(t.Nodes, node)
		}
		out = append(out, t)
	}
	return out
}

func TestCollectives(t *testing.T) {
	if found, _ := findings(t, files(t, collectives(3, AllReduce, AllGather))); len(found) != 1 ||
		found[0].Verdict != plan.NoPostcondition {
		t.Errorf("findings %v, want NO-POSTCONDITION only", found)
	}
	x := collectives(3, AllReduce, AllGather)
	x[2].Nodes = x[2].Nodes[:1]
	if found, _ := findings(t, files(t, x)); len(found) != 1 || found[0].Verdict != plan.Deadlock ||
		!strings.Contains(found[0].Text, "arrivals at collective 1") {
		t.Errorf("one rank has left: %v, want DEADLOCK", found)
	}
	x = collectives(3, AllReduce, AllGather)
	x[2].Nodes[1].Attrs[0].Value = NewInt(Uint32, int64(Broadcast))
	if found, _ := findings(t, files(t, x)); len(found) != 1 ||
		!strings.Contains(found[0].Text,
			`collective 1 of group "" is BROADCAST of 64 bytes, and ALL_GATHER of 64 bytes in rank 0's node 1`) {
		t.Errorf("another collective: %v, want ILL-FORMED", found)
	}
}

func TestFilesOfAProgram(t *testing.T) {
	all := files(t, ring(4, ringText(4)))
	for _, c := range []struct {
		name  string
		files []plan.File
		want  string
	}{
		{"a gap", append(slices.Clone(all[:2]), all[3]), "the trace of rank 3, and there are 3 files"},
		{"twice", append(slices.Clone(all[:3]), all[2]), "rank 2 is in ring.2.et too"},
		{"no number", append(slices.Clone(all[:3]), plan.File{Name: "ring.et", Data: all[3].Data}), "want the name NAME.RANK.et"},
		{"cut off", append(slices.Clone(all[:3]), plan.File{Name: "ring.3.et", Data: all[3].Data[:len(all[3].Data)-1]}), "byte "},
	} {
		if _, found := Program(c.files, nil); len(found) == 0 || !strings.Contains(found[0].Text, c.want) {
			t.Errorf("%s: %v, want %q", c.name, found, c.want)
		}
	}
	for name, want := range map[string]string{"a/b.12.et": "a/b.*.et", "b.et": "b.et", "b.x.et": "b.x.et"} {
		if got := Group(name); got != want {
			t.Errorf("Group(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	if !Is(files(t, ring(2, ringText(2)))[0].Data) || !Is(byHandBytes(t)) {
		t.Error("a trace is not known as one")
	}
	for _, text := range []string{"", "\x00", "<algo name=\"a\">", "{\"name\": 1}",
		"package main\n\nfunc main() {}\n", "MIT License\n\nCopyright"} {
		if Is([]byte(text)) {
			t.Errorf("%q is taken for a trace", text)
		}
	}
}

func FuzzProgram(f *testing.F) {
	for _, file := range files(f, collectives(2, AllReduce)) {
		f.Add(file.Data)
	}
	f.Add(byHandBytes(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, found := Program([]plan.File{{Name: "f.0.et", Data: data}, {Name: "f.1.et", Data: data}}, nil)
		if (p == nil) != (len(found) > 0) {
			t.Fatalf("program %v and findings %v", p, found)
		}
		if p != nil {
			pl, _ := p.Plan(plan.Call{})
			judge.Judge(pl)
		}
	})
}
