package msccl

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// oneBlock returns a custom file of two gpus, the first of which has these steps in block 0 and
// those in block 1.
func oneBlock(first, second []string) string {
	var b strings.Builder
	b.WriteString(`<algo name="x" proto="Simple" nchannels="1" nchunksperloop="4" ngpus="2" coll="custom" inplace="0">` + "\n")
	b.WriteString(`<gpu id="0" i_chunks="4" o_chunks="4" s_chunks="4">` + "\n")
	for id, steps := range [][]string{first, second} {
		fmt.Fprintf(&b, `<tb id="%d" send="-1" recv="-1" chan="0">`+"\n", id)
		for s, text := range steps {
			fmt.Fprintf(&b, `<step s="%d" %s/>`+"\n", s, text)
		}
		b.WriteString("</tb>\n")
	}
	b.WriteString("</gpu>\n<gpu id=\"1\" i_chunks=\"4\" o_chunks=\"4\" s_chunks=\"0\"/>\n</algo>\n")
	return b.String()
}

func localStep(op string, src, dst, depBlock, dep, hasDep int) string {
	return fmt.Sprintf(`type="%s" srcbuf="i" srcoff="%d" dstbuf="o" dstoff="%d" cnt="1" depid="%d" deps="%d" hasdep="%d"`,
		op, src, dst, depBlock, dep, hasDep)
}

func blocksOf(t *testing.T, text string) []plan.Block {
	t.Helper()
	p, findings := Read(plan.File{Name: "x.xml", Data: []byte(text)})
	if p == nil {
		t.Fatal(findings)
	}
	pl, _ := p.Plan(plan.Call{})
	return pl.Ranks[0].Blocks
}

// Additions to one place are one step; one that publishes, or that waits, ends or begins another.
func TestAdditionsAreFused(t *testing.T) {
	b := blocksOf(t, oneBlock([]string{
		localStep("cpy", 0, 0, -1, -1, 0),
		localStep("re", 1, 0, -1, -1, 0), localStep("re", 2, 0, -1, -1, 0), localStep("re", 3, 0, -1, -1, 1), // one
		localStep("re", 1, 0, -1, -1, 0), localStep("re", 1, 1, -1, -1, 0), // two: places differ
	}, []string{localStep("re", 0, 2, -1, -1, 0), localStep("re", 1, 2, 0, 3, 0)}))
	if n := len(b[0].Steps); n != 4 {
		t.Fatalf("%d steps, want 4", n)
	}
	if s := b[0].Steps[1]; len(s.Src) != 4 || s.Index != 3 || !s.Publish {
		t.Errorf("fused step %+v, want 4 operands, index 3, published", s)
	}
	if n := len(b[1].Steps); n != 2 {
		t.Errorf("%d steps in block 1, want 2: a dependency begins another", n)
	}
}

// A nop hands its dependency on; nops at the end of a block wait for nothing.
func TestNopsAreFolded(t *testing.T) {
	b := blocksOf(t, oneBlock(
		[]string{localStep("cpy", 0, 0, -1, -1, 1), localStep("cpy", 1, 1, -1, -1, 1)},
		[]string{localStep("nop", -1, -1, 0, 0, 0), localStep("cpy", 2, 2, 0, 1, 0), localStep("nop", -1, -1, 0, 1, 0)}))
	if len(b[1].Steps) != 1 {
		t.Fatalf("%d steps, want 1", len(b[1].Steps))
	}
	if s := b[1].Steps[0]; s.Index != 1 || len(s.After) != 2 || s.After[0] != (plan.Dep{Block: 0, Index: 0}) ||
		s.After[1] != (plan.Dep{Block: 0, Index: 1}) {
		t.Errorf("step %+v, want index 1 and both dependencies", s)
	}
}

// Larger calls cut steps into messages of fewer chunks, and chunks into rounds.
func TestMessagesOfACall(t *testing.T) {
	p, findings := Read(plan.File{Name: "x.xml", Data: []byte(ring(2))})
	if p == nil {
		t.Fatal(findings)
	}
	for _, c := range []struct {
		bytes int64
		cells []int64
	}{{0, []int64{1}}, {100, []int64{50}}, {4 << 20, []int64{2 << 20}}, {10 << 20, []int64{2 << 20, 2 << 20, 1 << 20}}} {
		pl, _ := p.Plan(plan.Call{InPlace: true, Bytes: c.bytes})
		if fmt.Sprint(pl.Cell) != fmt.Sprint(c.cells) {
			t.Errorf("%d bytes: rounds %v, want %v", c.bytes, pl.Cell, c.cells)
		}
	}
}
