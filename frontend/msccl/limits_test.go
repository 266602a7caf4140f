package msccl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// file returns a broadcast from rank 0 to the others. Rank 0 has a block for each of them, and more
// blocks of copies without peers.
func file(ranks, blocks, copies int, attributes string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<algo name=\"x\" proto=\"LL\" nchunksperloop=\"1\" ngpus=\"%d\" coll=\"broadcast\" inplace=\"1\" %s>\n", ranks, attributes)
	step := func(s int, op string) {
		fmt.Fprintf(&b, "<step s=\"%d\" type=\"%s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" "+
			"depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n", s, op)
	}
	tb := func(id, send, recv int, steps ...string) {
		fmt.Fprintf(&b, "<tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", id, send, recv)
		for s, op := range steps {
			step(s, op)
		}
		b.WriteString("</tb>\n")
	}
	for r := range ranks {
		fmt.Fprintf(&b, "<gpu id=\"%d\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"0\">\n", r)
		if r > 0 {
			tb(0, -1, 0, "r")
		} else {
			for to := 1; to < ranks; to++ {
				tb(to-1, to, -1, "s")
			}
			for i := range blocks {
				tb(ranks-1+i, -1, -1, slices.Repeat([]string{"cpy"}, copies)...)
			}
		}
		b.WriteString("</gpu>\n")
	}
	b.WriteString("</algo>\n")
	return b.String()
}

// A file within all limits has no notes. Each limit is noted from the first value beyond it on.
func TestLimits(t *testing.T) {
	const all = `nchannels="1" outofplace="0" minBytes="0" maxBytes="100"`
	other := func(old, new string) string { return strings.Replace(all, old, new, 1) }
	const microsoft, azure, rocm = "microsoft/msccl would refuse it: ", "Azure/msccl-executor-nccl would refuse it: ",
		"ROCm/rccl would refuse it: "
	for _, c := range []struct {
		name      string
		text      string
		want      []string // the beginnings of the notes
		otherwise string   // a file without notes
	}{
		{name: "64 steps", text: file(2, 1, 65, all), otherwise: file(2, 1, 64, all),
			want: []string{azure + "a tb has 65 steps, and at most 64 fit", rocm + "a tb has 65 steps, and at most 64 fit"}},
		{name: "64 blocks", text: file(2, 64, 1, all), otherwise: file(2, 63, 1, all),
			want: []string{rocm + "a gpu has 65 blocks, and at most 64 fit"}},
		{name: "32 blocks of a channel", text: file(34, 0, 0, all), otherwise: file(33, 9, 1, all),
			want: []string{microsoft + "33 blocks of a gpu send or receive on one channel, and at most 32 may",
				azure + "33 blocks of a gpu send", rocm + "33 blocks of a gpu send"}},
		{name: "32 channels", text: file(2, 0, 0, other(`nchannels="1"`, `nchannels="33"`)), otherwise: file(2, 0, 0, all),
			want: []string{microsoft + "nchannels is 33, and there are at most 32", azure + "nchannels is 33", rocm + "nchannels is 33",
				"nchannels is 33, and the blocks use 1 channels"}},
		{name: "no channel", text: file(2, 0, 0, other(`nchannels="1"`, `nchannels="0"`)), otherwise: file(2, 0, 0, all),
			want: []string{"nchannels is 0, and blocks use channel 0: runtimes connect channels 0 to -1 only"}},
		{name: "range", text: file(2, 0, 0, other(`minBytes="0"`, `minBytes="101"`)),
			otherwise: file(2, 0, 0, other(`minBytes="0"`, `minBytes="100"`)),
			want:      []string{microsoft + "minBytes 101 is above maxBytes 100", "minBytes 101 is above maxBytes 100: no runtime"}},
		{name: "attributes", text: file(2, 0, 0, `nchannels="1"`), otherwise: file(2, 0, 0, all),
			want: []string{azure + "attribute outofplace is missing; attribute minBytes is missing; attribute maxBytes is missing",
				rocm + "attribute outofplace is missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := notesOf(t, c.otherwise); len(got) > 0 {
				t.Errorf("within the limit: %q", got)
			}
			got := notesOf(t, c.text)
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("notes %q, want %q", got, c.want)
			}
		})
	}
	// Beyond the limits of others.
	for _, c := range []struct{ text, want string }{
		{file(2, 66, 61, all), ""}, // 4 elements and 66 times 62
		{file(2, 66, 62, all), microsoft + "a gpu has 4162 XML elements, and at most 4096 are read"},
		{file(2, 1, 257, all), microsoft + "a tb has 257 steps, and at most 256 fit"},
		{file(2, 1, 256, all), ""},
		{file(2, 216, 1, all), microsoft + "a gpu has 217 blocks, and at most 216 fit"},
	} {
		got := strings.Join(notesOf(t, c.text), "\n")
		if c.want == "" && strings.Contains(got, microsoft) || !strings.Contains(got, c.want) {
			t.Errorf("notes %q, want %q", got, c.want)
		}
	}
}

func notesOf(t *testing.T, text string) []string {
	t.Helper()
	p, findings := Read(plan.File{Name: "x.xml", Data: []byte(text)})
	if p == nil {
		t.Fatalf("findings %v", findings)
	}
	return p.Notes
}
