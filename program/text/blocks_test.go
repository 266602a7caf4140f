package text_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/lab/run"
	"kernbench/program"
	"kernbench/program/text"
	"kernbench/tl/launch"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// TestRunnable: blocks of a rank are numbered from 0 on, and each rank has one.
func TestRunnable(t *testing.T) {
	for blocks, want := range map[string]string{
		"rank 0:2\nfence":                                     "",
		"rank 0\nfence":                                       "x.txt:16: found the last section, and none for rank 1 of 2, want a line \"rank 1\" and its statements below it",
		"rank 0:2\nfence\nrank 1 block 2\nfence":              "x.txt:18: rank 1 has a block 2 and no block 1: blocks are numbered from 0 on",
		"rank 0\nfence\nrank 1 block 1\nfence":                "x.txt:18: rank 1 has a block 1 and no block 0: blocks are numbered from 0 on",
		"rank 1 block 1\nfence\nrank 1\nfence\nrank 0\nfence": "",
	} {
		f, err := text.Parse("x.txt", []byte(wrap(blocks)))
		if err != nil {
			t.Fatal(err)
		}
		switch err := f.Runnable(); {
		case want == "" && err != nil, want != "" && (err == nil || err.Error() != want):
			t.Errorf("%q: %v, want %s", blocks, err, want)
		}
	}
}

// TestSplit: each end of a ring goes to the block that uses it, and one that no block uses to block
// 0. The record of such blocks is the same file again.
func TestSplit(t *testing.T) {
	rings := strings.NewReplacer("wire 0 E->1.W", "wire 0 E->1.W W->1.E N->0.S", "wire 1 E->0.W", "wire 1 E->0.W W->0.E")
	f, err := text.Parse("x.txt", []byte(rings.Replace(wrap("rank 0:2 block 1\nt0 = recv W f16[8]\nsend W t0\nrank 0:2\nt0 = load data[0:8]\nsend E t0\nt1 = recv E f16[8]\nstore data[0:8] t1"))))
	if err != nil {
		t.Fatal(err)
	}
	blocks, wiring := f.Split()
	want := []launch.Block{{Rank: 0, Of: 2}, {Rank: 0, Number: 1, Of: 2}, {Rank: 1, Of: 2}, {Rank: 1, Number: 1, Of: 2}}
	if d := cmp.Diff(want, blocks); d != "" {
		t.Error(d)
	}
	for i, want := range []string{"E->3.W N->0.S", "W->2.E", "E->1.W", "W->0.E"} {
		var got []string
		for _, o := range wiring[i].Out {
			got = append(got, fmt.Sprintf("%v->%d.%v", o.Dir, o.Peer, wiring[o.Peer].In[o.PeerIn].Dir))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("block %d has %s, want %s", i, s, want)
		}
	}
}

// TestRecordedBlocks: a launch of several blocks of a rank is recorded as the file that it comes
// from.
func TestRecordedBlocks(t *testing.T) {
	for _, name := range byHand {
		data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := text.Parse(name+".txt", data)
		if err != nil {
			t.Fatal(err)
		}
		l := launchOf(t, f)
		l.Scratch = unit.Bytes(f.Scratch)
		r := &text.Recorded{Launch: l, In: l.Groups[0].Args.Shards, Out: l.Groups[0].Args.Outs}
		if r.Program, err = program.RecordLaunch(t.Context(), l, program.Options{Places: true}); err != nil {
			t.Fatal(err)
		}
		again := *f
		if err := again.Of(r); err != nil {
			t.Fatal(err)
		}
		want, err := text.Parse(name+".txt", data)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range f.World {
			if d := cmp.Diff(string(textOf(t, want.Only(rank))), string(textOf(t, again.Only(rank)))); d != "" {
				t.Errorf("%s, rank %d: %s", name, rank, d)
			}
		}
	}
}

// TestBlocksBeside: a block without instructions changes no time of the other block of its rank, as
// the first block or as the second.
func TestBlocksBeside(t *testing.T) {
	for _, name := range []string{"ring_allreduce_chunked", "tree_allreduce", "halving_doubling_allreduce", "window_allreduce_twophase"} {
		f, err := run.Record(t.Context(), run.Spec{Algorithm: name, Ranks: 8, NElem: 64})
		if err != nil {
			t.Fatal(err)
		}
		alone := string(textOf(t, f))
		idle := "\nrank 0:8 block 1\n  fence\n"
		var second strings.Builder // the program as block 1
		for line := range strings.Lines(alone) {
			if strings.HasPrefix(line, "rank ") {
				line = strings.TrimSuffix(line, "\n") + " block 1\n"
			}
			second.WriteString(line)
		}
		event := true
		var times []int64
		for _, s := range []string{alone, alone + idle, second.String() + strings.Replace(idle, " block 1", "", 1)} {
			p, err := text.Parse("x.txt", []byte(s))
			if err != nil {
				t.Fatal(err)
			}
			r, err := run.OfProgram(t.Context(), run.Spec{VerifyData: true, Race: &event}, p)
			if err != nil || !r.OK() {
				t.Fatalf("%s: %v\n%s", name, err, s)
			}
			times = append(times, int64(r.SimulatedTime))
		}
		if times[0] != times[1] || times[0] != times[2] {
			t.Errorf("%s: %v ps", name, times)
		}
	}
}
