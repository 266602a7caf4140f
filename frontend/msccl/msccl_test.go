package msccl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// ring returns an all-reduce in place over n ranks, one block each.
func ring(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"<!-- a comment -->\n<algo name=\"ring\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"%d\" ngpus=\"%d\" coll=\"allreduce\" inplace=\"1\">\n",
		n, n)
	for r := range n {
		fmt.Fprintf(&b, "<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"0\" s_chunks=\"0\">\n<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n",
			r, n, (r+1)%n, (r+n-1)%n)
		for s := range 2*n - 1 {
			c := ((r-s)%n + 2*n) % n
			op := "rrcs"
			switch {
			case s == 0:
				op = "s"
			case s >= n && s < 2*n-2:
				op = "rcs"
			case s == 2*n-2:
				op = "r"
			}
			fmt.Fprintf(&b,
				"<step s=\"%d\" type=\"%s\" srcbuf=\"i\" srcoff=\"%d\" dstbuf=\"i\" dstoff=\"%d\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
				s, op, c, c)
		}
		b.WriteString("</tb>\n</gpu>\n")
	}
	b.WriteString("</algo>\n")
	return b.String()
}

func judged(t *testing.T, text string, call plan.Call) (*plan.Plan, *judge.Judgment) {
	t.Helper()
	p, findings := Read(plan.File{Name: "x.xml", Data: []byte(text)})
	if p == nil {
		t.Fatalf("findings %v", findings)
	}
	pl, broken := p.Plan(call)
	j := judge.Judge(pl)
	j.Findings = append(broken, j.Findings...)
	j.Verdicts = plan.Verdicts(j.Findings)
	return pl, j
}

func TestRing(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		_, j := judged(t, ring(n), plan.Call{InPlace: true})
		if !j.OK() || j.Cells != n*n {
			t.Errorf("%d ranks: %v, %d of %d; %v", n, j.Verdicts, j.Right, j.Cells, j.Findings)
		}
	}
}

// Files that the parser refuses, with line and attribute.
func TestRejects(t *testing.T) {
	good := ring(2)
	for _, c := range []struct{ name, old, new, want string }{
		{"fraction", `nchannels="1"`, `nchannels="12.75"`, `x.xml:2: attribute nchannels of algo: found "12.75", want an integer`},
		{"plus sign", `cnt="1"`, `cnt="+1"`, `x.xml:5: attribute cnt of step: found "+1"`},
		{"huge", `cnt="1"`, `cnt="99999999999999999999"`, `x.xml:5: attribute cnt of step`},
		{"cnt 72", `cnt="1"`, `cnt="72"`, `want 0 to 71`},
		{"missing", ` ngpus="2"`, ``, `x.xml:2: algo lacks attribute ngpus`},
		{"twice", `ngpus="2"`, `ngpus="2" ngpus="2"`, `attribute ngpus of algo is there twice`},
		{"protocol", `proto="Simple"`, `proto="simple"`, `attribute proto of algo: found "simple"`},
		{"no protocol", ` proto="Simple"`, ``, `x.xml:2: algo lacks attribute proto`},
		{"empty protocol", `proto="Simple"`, `proto=""`, `attribute proto of algo: found ""`},
		{"collective", `coll="allreduce"`, `coll="allreduze"`, `allreduce`},
		{"empty collective", `coll="allreduce"`, `coll=""`, `attribute coll of algo: unknown collective ""`},
		{"no collective", ` coll="allreduce"`, ``, `x.xml:2: algo lacks attribute coll`},
		{"no buffer", ` srcbuf="i"`, ``, `step lacks attribute srcbuf`},
		{"ra", `type="rrcs"`, `type="ra"`, `attribute type of step: found "ra", which no runtime performs`},
		{"step type", `type="rrcs"`, `type="x"`, `attribute type of step: found "x"`},
		{"self peer", `send="1"`, `send="0"`, `attribute send of tb: 0 is the gpu itself`},
		{"no peer", `send="1"`, `send="-1"`, `x.xml:5: attribute type of step: s sends`},
		{"offset", `srcoff="0"`, `srcoff="2"`, `attribute srcoff of step: s uses chunks 2 to 2 of buffer i, which has 2`},
		{"buffer", `srcbuf="i"`, `srcbuf="x"`, `attribute srcbuf of step: found "x", want i, o or s`},
		{"step gap", `step s="1"`, `step s="3"`, `attribute s of step: found 3, want 1`},
		{"gpu twice", "</algo>", "<gpu id=\"0\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"0\"/>\n</algo>",
			`x.xml:17: attribute id of gpu: 0 is there twice, first at line 3`},
		{"gpu missing", `ngpus="2"`, `ngpus="3"`, `gpu 2 of 3 is missing`},
		{"tb gap", `<tb id="0"`, `<tb id="1"`, `no tb 0 on this gpu`},
		{"second root", `</algo>`, `</algo><algo/>`, `found a second root element algo`},
		{"other root", "<algo ", "<algos ", `found root element algos`},
		{"not closed", "</algo>", "", `the file ends within element algo of line 2`},
		{"crossed", "</tb>", "</gpu>", `found </gpu>, want </tb> for line 4`},
		{"entity", `name="ring"`, `name="&lol;"`, `not valid XML`},
		{"text", "</tb>", "five</tb>", `found text "five"`},
		{"zero byte", "</tb>", "\x00</tb>", `zero byte`},
		{"channel", `chan="0"`, `chan="32"`, `attribute chan of tb: found 32, want 0 to 31`},
		{"name", `name="ring"`, `name="` + strings.Repeat("r", 64) + `"`, `at most 63`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatalf("the text has no %q", c.old)
			}
			p, findings := Read(plan.File{Name: "x.xml", Data: []byte(text)})
			if p != nil || len(findings) == 0 {
				t.Fatalf("the file was read")
			}
			f := findings[0]
			if got := f.String(); f.Verdict != plan.ParseReject || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want PARSE-REJECT with %q", got, c.want)
			}
		})
	}
}

// Files that can be read and break a rule.
func TestIllFormed(t *testing.T) {
	good := ring(2)
	for _, c := range []struct{ name, old, new, want string }{
		{"counts", `type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1"`,
			`type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2"`, `message 0 of connection 0->1 chan 0 has cnt 2`},
		{"balance", `type="s"`, `type="nop"`, `connection 0->1 chan 0 has 1 sends and 2 receives`},
		{"depid", `depid="-1"`, `depid="7"`, `depid 7: gpu 0 has tb 0 to 0`},
		{"own depid", `depid="-1"`, `depid="0"`, `depid 0 is the block itself`},
		{"chunks", `i_chunks="2"`, `i_chunks="3"`, `i_chunks of gpu 0 is 3`},
		{"two senders", "</tb>", "</tb>\n<tb id=\"1\" send=\"1\" recv=\"-1\" chan=\"0\"/>",
			`tb 0 and tb 1 of gpu 0 both send into connection 0->1 chan 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatalf("the text has no %q", c.old)
			}
			_, j := judged(t, text, plan.Call{InPlace: true})
			if !slices.ContainsFunc(j.Findings, func(f plan.Finding) bool {
				return f.Verdict == plan.IllFormed && strings.Contains(f.Text, c.want)
			}) {
				t.Errorf("findings %v, want ILL-FORMED with %q", j.Findings, c.want)
			}
		})
	}
}

// A dependency that passes chunks by a flag alone is reported. One that only keeps an order is not.
func TestDependenciesThatHandChunksOver(t *testing.T) {
	const text = `<algo name="x" proto="LL" nchannels="1" nchunksperloop="2" ngpus="1" coll="custom" inplace="0">
<gpu id="0" i_chunks="2" o_chunks="2" s_chunks="0">
<tb id="0" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
</tb>
<tb id="1" send="-1" recv="-1" chan="0">
<step s="0" type="nop" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="0" depid="0" deps="0" hasdep="0"/>
<step s="1" type="cpy" srcbuf="o" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="0" deps="0" hasdep="0"/>
</tb>
</gpu>
</algo>`
	for _, c := range []struct {
		name, text, want string
	}{
		{"read", text, "2 dependencies hand chunks from block to block"},
		{"another chunk", strings.Replace(text, `srcbuf="o" srcoff="0"`, `srcbuf="o" srcoff="1"`, 1), ""},
		{"in place", strings.Replace(strings.Replace(text, `srcbuf="o"`, `srcbuf="i"`, 1), `inplace="0"`,
			`inplace="1"`, 1), "2 dependencies hand"},
	} {
		p, findings := Read(plan.File{Name: "x.xml", Data: []byte(c.text)})
		if p == nil {
			t.Fatal(findings)
		}
		notes := strings.Join(p.Notes, "; ")
		if has := strings.Contains(notes, "hand chunks"); has != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%s: notes %s; want %q", c.name, notes, c.want)
		}
	}
}
