package frontend_test

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"kernbench/frontend"
	"kernbench/frontend/chakra"
	"kernbench/frontend/plan"
	"kernbench/program/text"
)

// exchange is a recorded program of two ranks that add up what both have.
//
//go:embed chakra/testdata/pair.txt
var exchange string

// sourceOf returns the files of traces, one for each rank.
func sourceOf(t *testing.T, traces []*chakra.Trace) *frontend.Source {
	t.Helper()
	var s frontend.Source
	for rank, x := range traces {
		var b strings.Builder
		if err := chakra.Write(&b, x); err != nil {
			t.Fatal(err)
		}
		s.Files = append(s.Files, plan.File{Name: fmt.Sprintf("pair.%d.et", rank), Data: []byte(b.String())})
	}
	s.Dialect = frontend.DialectOf(s.Files[0].Data)
	return &s
}

// traced exports a program as traces and returns the findings when they are read again. Change
// changes a trace before it is written.
func traced(t *testing.T, source string, change func(rank int, x *chakra.Trace)) *frontend.Verdict {
	t.Helper()
	f, err := text.Read("pair.txt", strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	traces, err := chakra.Export(f)
	if err != nil {
		t.Fatal(err)
	}
	for rank, x := range traces {
		if change != nil {
			change(rank, x)
		}
	}
	return frontend.Judge(sourceOf(t, traces), frontend.Options{})
}

// Traces that were exported are judged by the recorded program in their metadata, as far as their
// nodes are those of that program.
func TestTracesAreJudgedByTheirProgram(t *testing.T) {
	for _, c := range []struct {
		name   string
		source string
		change func(rank int, x *chakra.Trace)
		want   plan.Verdict
		says   string
	}{
		{"right", exchange, nil, plan.OK, "which data nodes move is taken from the recorded program"},
		{"a program that does not add", strings.Replace(exchange, "store data[0:+8] t2", "store data[0:+8] t1", 1),
			nil, plan.Wrong, "it must hold"},
		{"another size", exchange, func(rank int, x *chakra.Trace) {
			for i := range x.Nodes[:2] {
				x.Nodes[i].Attrs[0].Value = chakra.NewInt(chakra.Int64, 8)
			}
		}, plan.NoPostcondition, `the export has another node here, COMM_SEND_NODE "send E"`},
		{"a node less", exchange, func(rank int, x *chakra.Trace) { x.Nodes = x.Nodes[:2] }, plan.NoPostcondition,
			"has 2 nodes, and the export has 3"},
		{"no dependency", exchange, func(rank int, x *chakra.Trace) { x.Nodes[2].DataDeps = nil },
			plan.NoPostcondition, "the export has another node here, COMP_NODE"},
		{"no program on rank 1", exchange, func(rank int,
			x *chakra.Trace) {
			x.Metadata.Attrs = x.Metadata.Attrs[:1-rank]
		}, plan.NoPostcondition, "pair.1.et has no kernbench_program"},
		{"no text", exchange, func(rank int, x *chakra.Trace) { x.Metadata.Attrs[0].Value = chakra.NewText("x") },
			plan.NoPostcondition, "the kernbench_program of the metadata: "},
		{"the program of the other rank", exchange, func(rank int, x *chakra.Trace) {
			v, _ := x.Metadata.Attrs[0].Value.Text()
			x.Metadata.Attrs[0].Value = chakra.NewText(strings.Replace(v, "\nrank 0", "\nrank 1", 1))
		}, plan.NoPostcondition, "found statements of ranks [1], want those of rank 0"},
		{"another operator", strings.Replace(strings.Replace(exchange, "operator sum", "operator max", 1), "add",
			"max", 1), nil, plan.OK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := traced(t, c.source, c.change)
			if v.Verdicts[0] != c.want {
				t.Fatalf("verdicts %v, findings %v, notes %v; want %v", v.Verdicts, v.Findings, v.Notes, c.want)
			}
			said := strings.Join(v.Notes, "; ")
			for _, f := range v.Findings {
				said += "; " + f.Text
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("said %s; want %q", said, c.says)
			}
			if p := v.Program; c.want == plan.OK && (p.Collective != "all_reduce" || p.MaxBytes != 16 || !p.Fixed) {
				t.Errorf("program %+v, want an all_reduce of 16 bytes", p)
			}
		})
	}
}

// FuzzTraces exports any program that can be read, and judges the traces. It must not panic or
// hang, and no node may differ from those of the export.
func FuzzTraces(f *testing.F) {
	f.Add(exchange)
	f.Add(strings.Replace(exchange, "t0 = load data[0:+8]", "t0 = load data[0:+3]", 1))
	f.Fuzz(func(t *testing.T, source string) {
		p, err := text.Read("x", strings.NewReader(source))
		if err != nil || p.World > 8 || p.Elems > 1<<12 || p.Results > 1<<12 {
			return
		}
		traces, err := chakra.Export(p)
		if err != nil {
			return
		}
		for _, n := range frontend.Judge(sourceOf(t, traces), frontend.Options{}).Notes {
			if strings.Contains(n, "the export has") {
				t.Error(n)
			}
		}
	})
}
