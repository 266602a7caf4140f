package frontend

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// exchange returns an all-to-all of two ranks in which each sends all chunks of the other in one
// step, and then receives. It works until the messages are cut into more pieces than a channel
// holds.
func exchange(chunks int, proto, attributes string) *Source {
	var b strings.Builder
	fmt.Fprintf(&b, "<algo name=\"x\" proto=\"%s\" nchannels=\"1\" nchunksperloop=\"%d\" ngpus=\"2\" coll=\"alltoall\" inplace=\"0\" %s>\n",
		proto, 2*chunks, attributes)
	for r := range 2 {
		fmt.Fprintf(&b,
			"<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"0\">\n<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n",
			r, 2*chunks, 2*chunks, 1-r, 1-r)
		step := func(s int, op string, src, dst int) {
			fmt.Fprintf(&b,
				"<step s=\"%d\" type=\"%s\" srcbuf=\"i\" srcoff=\"%d\" dstbuf=\"o\" dstoff=\"%d\" cnt=\"%d\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
				s, op, src, dst, chunks)
		}
		step(0, "cpy", r*chunks, r*chunks)
		step(1, "s", (1-r)*chunks, r*chunks)
		step(2, "r", r*chunks, (1-r)*chunks)
		b.WriteString("</tb>\n</gpu>\n")
	}
	b.WriteString("</algo>\n")
	data := []byte(b.String())
	return &Source{Name: "x.xml", Dialect: DialectOf(data), Files: []plan.File{{Name: "x.xml", Data: data}}}
}

// Above nchunksperloop * 2 MiB / (k + 1) bytes messages of Simple hold k chunks at most. With 8
// chunks a step and space for 2 messages, 3 chunks are too few.
func TestHangAboveASize(t *testing.T) {
	v := Judge(exchange(8, "Simple", ""), Options{})
	const ends = 16 * (2 << 20) / 4
	if v.Hang == nil || v.Hang.Ends != ends || v.Hang.Hangs != ends+1 || !v.Hang.InRange || !slices.Contains(v.Verdicts, plan.Deadlock) {
		t.Fatalf("hang %+v, verdicts %v; want a hang above %d bytes", v.Hang, v.Verdicts, ends)
	}
	if *v.Depths != (Depths{Whole: 1, Split: 8, Has: 2}) {
		t.Errorf("depths %+v, want 1, 8, 2", *v.Depths)
	}
	var whats []string
	for _, r := range v.Hang.Repairs {
		whats = append(whats, r.What)
	}
	// Instances: for 16 of them, 128 MiB are what 8 MiB are for one.
	if want := []string{"order", "instances", "depth", "protocol", "range"}; !slices.Equal(whats, want) {
		t.Errorf("repairs %v, want %v", v.Hang.Repairs, want)
	}
	if c := v.Hang.Stuck.Chain; len(c) != 2 || c[0].Reason != "no slot" || c[0].Step != 1 || c[0].Line != 5 {
		t.Errorf("chain %+v, want two blocks that wait for slots at step 1", c)
	}
}

// Ranks of a ring that all receive first wait forever. Another order is the only repair: no size,
// depth or protocol helps. If ranks send what they have just received, no order is right.
func TestSendsBeforeReceivesThatBlock(t *testing.T) {
	for _, c := range []struct {
		ranks int
		want  string
	}{
		{2, "rank 1 tb 0 chan 0: step 1 (s) before step 0 (r) of line 10"},
		{3, "rank 1 tb 0 chan 0: step 1 (s) before step 0 (r) of line 12, and 3 more such moves (--details lists them)"},
	} {
		v := Judge(receiveFirst(c.ranks, 0), Options{})
		if v.Verdicts[0] != plan.Deadlock || v.Hang == nil {
			t.Fatalf("%d ranks: verdicts %v, want a deadlock", c.ranks, v.Verdicts)
		}
		if r := v.Hang.Repairs; len(r) != 1 || r[0].What != "order" || r[0].Text != c.want || len(r[0].Moves) != (c.ranks-1)*(c.ranks-1) {
			t.Errorf("%d ranks: repairs %v, want %s", c.ranks, r, c.want)
		}
		if v := Judge(receiveFirst(c.ranks, 1), Options{}); v.Hang == nil || len(v.Hang.Repairs) > 0 {
			t.Errorf("%d ranks that send what they receive: %+v, want a hang without repairs", c.ranks, v.Hang)
		}
	}
}

// A step that moves also goes before the nops of the one that blocks, since these belong to it.
func TestMovesGoBeforeNops(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<algo name="x" proto="Simple" nchannels="1" nchunksperloop="16" ngpus="2" coll="alltoall" inplace="0">` + "\n")
	step := func(op string, src, dst, count, dep, publish int) string {
		return fmt.Sprintf(` type="%s" srcbuf="i" srcoff="%d" dstbuf="o" dstoff="%d" cnt="%d" depid="%d" deps="%d" hasdep="%d"/>`,
			op, src, dst, count, min(2*dep+1, 1), dep, publish)
	}
	moved := strings.Builder{}
	for r := range 2 {
		head := fmt.Sprintf(`<gpu id="%d" i_chunks="16" o_chunks="16" s_chunks="0"><tb id="0" send="%d" recv="%d" chan="0">`+"\n", r, 1-r, 1-r)
		// The other block copies in two steps, and the send waits for both.
		foot := fmt.Sprintf("</tb>\n<tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n<step s=\"0\"%s\n<step s=\"1\"%s\n</tb></gpu>\n",
			step("cpy", r*8, r*8, 4, -1, 1), step("cpy", r*8+4, r*8+4, 4, -1, 1))
		nop, send := step("nop", -1, -1, 0, 0, 0), step("s", (1-r)*8, r*8, 8, 1, 0)
		receive := step("r", -1, (1-r)*8, 8, -1, 0)
		fmt.Fprintf(&b, "%s<step s=\"0\"%s\n<step s=\"1\"%s\n<step s=\"2\"%s\n%s", head, nop, send, receive, foot)
		steps := []string{nop, send, receive}
		if r == 1 {
			steps = []string{receive, nop, send}
		}
		fmt.Fprintf(&moved, "%s<step s=\"0\"%s\n<step s=\"1\"%s\n<step s=\"2\"%s\n%s", head, steps[0], steps[1], steps[2], foot)
	}
	judge := func(text string) *Verdict {
		data := []byte(text + "</algo>\n")
		return Judge(&Source{Name: "x.xml", Dialect: DialectOf(data), Files: []plan.File{{Name: "x.xml", Data: data}}}, Options{})
	}
	v := judge(b.String())
	const want = "rank 1 tb 0 chan 0: step 2 (r) before steps 0 to 1 (s) of line 13"
	if v.Hang == nil || len(v.Hang.Repairs) == 0 || v.Hang.Repairs[0].Text != want {
		t.Fatalf("verdicts %v %v, hang %+v", v.Verdicts, v.Findings, v.Hang)
	}
	head, _, _ := strings.Cut(b.String(), "\n")
	if v := judge(head + "\n" + moved.String()); !v.OK() {
		t.Errorf("with the step moved: %v %v", v.Verdicts, v.Findings)
	}
}

// receiveFirst returns an all-gather around a ring, in which each rank receives a chunk before it
// sends one. It sends its own chunk first or, if ahead is 1, the one that it has just received.
func receiveFirst(ranks, ahead int) *Source {
	var b strings.Builder
	fmt.Fprintf(&b, "<algo name=\"x\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"%d\" ngpus=\"%d\" coll=\"allgather\" inplace=\"1\">\n",
		ranks, ranks)
	for r := range ranks {
		fmt.Fprintf(&b, "<gpu id=\"%d\" i_chunks=\"1\" o_chunks=\"%d\" s_chunks=\"0\">\n<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n",
			r, ranks, (r+1)%ranks, (r+ranks-1)%ranks)
		for s := range 2 * (ranks - 1) {
			op, chunk := "r", (r+ranks-1-s/2)%ranks
			if s%2 == 1 {
				op, chunk = "s", (r+ranks-ahead-s/2)%ranks
			}
			fmt.Fprintf(&b,
				"<step s=\"%d\" type=\"%s\" srcbuf=\"o\" srcoff=\"%d\" dstbuf=\"o\" dstoff=\"%d\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
				s, op, chunk, chunk)
		}
		b.WriteString("</tb>\n</gpu>\n")
	}
	b.WriteString("</algo>\n")
	data := []byte(b.String())
	return &Source{Name: "x.xml", Dialect: DialectOf(data), Files: []plan.File{{Name: "x.xml", Data: data}}}
}

// A range that ends below the size makes the program right; so do channels that hold more.
func TestRangeAndDepthAvoidTheHang(t *testing.T) {
	if v := Judge(exchange(8, "Simple", `maxBytes="8388608"`), Options{}); !v.OK() || v.Hang == nil || v.Hang.InRange {
		t.Errorf("maxBytes: verdicts %v, hang %+v; want OK with a hang out of range", v.Verdicts, v.Hang)
	}
	// A range that begins above the size hangs throughout, and no smaller range helps.
	v := Judge(exchange(8, "Simple", `minBytes="16777217"`), Options{})
	if v.Hang == nil || v.Hang.Ends != 8<<20 || !v.Hang.InRange || v.Verdicts[0] != plan.Deadlock {
		t.Errorf("minBytes: verdicts %v, hang %+v; want one above 8 MiB", v.Verdicts, v.Hang)
	} else if slices.ContainsFunc(v.Hang.Repairs, func(r Repair) bool { return r.What == "range" }) {
		t.Errorf("minBytes: repairs %v, want no range", v.Hang.Repairs)
	}
	if v := Judge(exchange(8, "Simple", ""), Options{Depth: 8}); !v.OK() || v.Hang != nil {
		t.Errorf("depth 8: verdicts %v, hang %+v; want OK and none", v.Verdicts, v.Hang)
	}
	if v := Judge(exchange(8, "LL", ""), Options{}); !v.OK() {
		t.Errorf("LL: verdicts %v; want OK", v.Verdicts)
	}
}

// Rank 0 sends chunks 0 and 1, and gets them back one chunk further on. Whole messages do so in
// order. Cut into one for each chunk, the first comes back into chunk 1 before it is sent.
func TestRaceOfSplitMessages(t *testing.T) {
	step := func(op string, dst int) string {
		return fmt.Sprintf("<step s=\"0\" type=\"%s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"%d\" cnt=\"2\" "+
			"depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>", op, dst)
	}
	const gpu = `" i_chunks="3" o_chunks="3" s_chunks="0">`
	text := func(attributes string) *Source {
		data := []byte(`<algo name="x" proto="Simple" nchannels="1" nchunksperloop="3" ngpus="2" coll="custom" inplace="0" ` + attributes + ">\n" +
			`<gpu id="0` + gpu + `<tb id="0" send="1" recv="-1" chan="0">` + step("s", 0) + "</tb>\n" +
			`<tb id="1" send="-1" recv="1" chan="0">` + step("r", 1) + "</tb></gpu>\n" +
			`<gpu id="1` + gpu + `<tb id="0" send="0" recv="0" chan="0">` + step("rcs", 0) + "</tb></gpu></algo>\n")
		return &Source{Name: "x.xml", Dialect: DialectOf(data), Files: []plan.File{{Name: "x.xml", Data: data}}}
	}
	v := Judge(text(""), Options{})
	if !slices.ContainsFunc(v.Findings, func(f plan.Finding) bool {
		return f.Verdict == plan.Race && strings.HasPrefix(f.Text, "a call of 3145729 bytes: rank 0 tb 0 chan 0 step 0 (s)")
	}) {
		t.Errorf("findings %v, want a race above 3 MiB", v.Findings)
	}
	if v := Judge(text(`maxBytes="3145728"`), Options{}); slices.Contains(v.Verdicts, plan.Race) {
		t.Errorf("up to 3 MiB: findings %v, want no race", v.Findings)
	}
}

// A finding of only one use names the use: a program sums in place and not out of place.
func TestFindingsSayTheUse(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<algo name="x" proto="LL" nchannels="1" nchunksperloop="1" ngpus="2" coll="allreduce" inplace="1" outofplace="1">`)
	for r := range 2 {
		fmt.Fprintf(&b, `<gpu id="%d" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="%d" recv="%d" chan="0">`, r, 1-r, 1-r)
		for s, op := range []string{"s", "rrc"} {
			fmt.Fprintf(&b, `<step s="%d" type="%s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>`, s, op)
		}
		b.WriteString("</tb></gpu>")
	}
	b.WriteString("</algo>")
	data := []byte(b.String())
	v := Judge(&Source{Name: "x.xml", Dialect: DialectOf(data), Files: []plan.File{{Name: "x.xml", Data: data}}}, Options{})
	if len(v.Findings) != 3 || v.Findings[0].Text != "out of place: 2 of 2 chunks" {
		t.Errorf("findings %v, want those of a call out of place", v.Findings)
	}
}

func TestFindTellsFormatsByContent(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "\ufeff <!-- c --> <algo/>", "b.xml": "<system/>", "sub/c": "<algo name='x'/>"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, others, err := Find(dir)
	if err != nil || len(found) != 2 || len(others) != 1 || filepath.Base(others[0]) != "b.xml" {
		t.Fatalf("found %v, others %v, %v; want a.txt and sub/c, other b.xml", found, others, err)
	}
	found, _, err = Find(filepath.Join(dir, "b.xml"))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v; want b.xml", found, err)
	}
	if p, why := found[0].Read(); p != nil || len(why) != 1 || why[0].Verdict != plan.ParseReject {
		t.Errorf("b.xml: %v, want PARSE-REJECT", why)
	}
}

// A file of no known format is rejected by name. Text in UTF-16 has its own message.
func TestNoKnownFormat(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"\xff\xfe<\x00a\x00", "found UTF-16 text, want UTF-8"},
		{"\xfe\xff\x00<\x00a", "found UTF-16 text, want UTF-8"},
		{"no program", "found an unknown format, want one of (1) MSCCL XML"},
		{"", "found an unknown format, want one of (1) MSCCL XML"},
	} {
		data := []byte(c.data)
		v := Judge(&Source{Name: "x", Dialect: DialectOf(data), Files: []plan.File{{Name: "x", Data: data}}}, Options{})
		if v.Verdicts[0] != plan.ParseReject || !strings.HasPrefix(v.Findings[0].Text, c.want) {
			t.Errorf("%q: %v, want %s", c.data, v.Findings, c.want)
		}
	}
}
