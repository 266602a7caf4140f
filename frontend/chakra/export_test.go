package chakra

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/plan"
	"kernbench/program/text"
)

// pairText is a program of two ranks that exchange their vectors and add them up.
//
//go:embed testdata/pair.txt
var pairText string

func exported(t *testing.T, source string, attrs ...Attr) []*Trace {
	t.Helper()
	f, err := text.Read("pair.txt", strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	traces, err := Export(f, attrs...)
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

func TestExport(t *testing.T) {
	traces := exported(t, pairText, Attr{Name: "collective", Value: NewText("all_reduce")})
	if len(traces) != 2 || traces[1].Metadata.Version != exportVersion {
		t.Fatalf("%d traces, metadata %+v", len(traces), traces[1].Metadata)
	}
	var got []string
	for _, n := range traces[1].Nodes {
		line := fmt.Sprint(n.ID, " ", n.Type, " ctrl ", n.CtrlDeps, " data ", n.DataDeps)
		for _, a := range n.Attrs {
			line += fmt.Sprintf(" %s=%v", a.Name, a.Value)
		}
		got = append(got, line)
	}
	want := []string{
		"0 COMM_SEND_NODE ctrl [] data [] comm_size=16 comm_dst=0 comm_tag=2",
		"1 COMM_RECV_NODE ctrl [] data [] comm_size=16 comm_src=0 comm_tag=2",
		"2 COMP_NODE ctrl [1] data [1] num_ops=8 tensor_size=16",
	}
	if !slices.Equal(got, want) {
		t.Errorf("nodes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Read back, nothing hangs and nothing is left.
	found, _ := findings(t, files(t, traces))
	if len(found) != 1 || found[0].Verdict != plan.NoPostcondition {
		t.Errorf("read back: %v, want NO-POSTCONDITION only", found)
	}
}

// Messages of one ring have their own tags, the same at both ends.
func TestExportTags(t *testing.T) {
	source := strings.Replace(pairText, "  send E t0\n  t1 = recv W f16[8]\n", `  send E t0[0:+4]
  send E t0[4:+4]
  t1 = recv W f16[8]
  t9 = recv W f16[4]
`, 1)
	source = strings.Replace(source, "t1 = recv W f16[8]", "t8 = recv W f16[4]", 1)
	source = strings.Replace(source, "t2 = add t0 t1", "t2 = add t0[0:+4] t9", 1)
	source = strings.Replace(source, "store data[0:+8] t2", "store data[0:+4] t2", 1)
	tags := map[NodeType][]int64{}
	for _, n := range exported(t, source)[0].Nodes {
		if v, ok := Find(n.Attrs, "comm_tag"); ok {
			tag, _ := v.Int()
			tags[n.Type] = append(tags[n.Type], tag)
		}
	}
	if s, r := tags[CommSendNode], tags[CommRecvNode]; len(s) != 2 || s[0] == s[1] || !slices.Equal(s, r) {
		t.Errorf("tags of sends %v, of receives %v; want two different ones, the same at both ends", s, r)
	}
}

func TestExportRefusesWindows(t *testing.T) {
	source := strings.Replace(pairText, "wire 0", "window w0 64 bytes\npart w0 ready int64[8]\nwire 0", 1)
	source = strings.Replace(source, "  store data", "  notify w0.ready[0]@0 set 1\n  store data", 1)
	f, err := text.Read("pair.txt", strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Export(f); err == nil || !strings.Contains(err.Error(), "an operation on a window") {
		t.Errorf("error %v", err)
	}
}

// The published schema decodes exported traces.
func TestExportFollowsTheSchema(t *testing.T) {
	s := published()
	var out strings.Builder
	for _, trace := range exported(t, pairText, Attr{Name: "collective", Value: NewText("all_reduce")})[:1] {
		var b bytes.Buffer
		if err := Write(&b, trace); err != nil {
			t.Fatal(err)
		}
		for i, data := 0, b.Bytes(); len(data) > 0; i++ {
			size, n := binary.Uvarint(data)
			s.decode(t, &out, []string{"GlobalMetadata", "Node"}[min(i, 1)], "", data[n:n+int(size)])
			data = data[n+int(size):]
		}
	}
	for _, want := range []string{"version: \"0.0.4\"\nattr {\n  name: \"collective\"\n  string_val: \"all_reduce\"\n}\n",
		"name: \"send E\"\ntype: 5\nattr {\n  name: \"comm_size\"\n  int64_val: 16\n}\nattr {\n  name: \"comm_dst\"\n  int32_val: 1\n}\n",
		"id: 2\nname: \"compute\"\ntype: 4\nctrl_deps: 1\ndata_deps: 1\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("decoded\n%swant in it\n%s", out.String(), want)
		}
	}
}
