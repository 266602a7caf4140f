package text_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/program/text"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.txt anew")

// golden are programs whose text is kept.
var golden = []struct {
	spec    run.Spec
	classes bool
}{
	{run.Spec{Algorithm: "ring_allreduce", Ranks: 4, NElem: 8}, false},
	{run.Spec{Algorithm: "ring_allreduce_chunked", Ranks: 4, NElem: 8, DType: dtype.F32, Op: tl.Avg}, true},
	{run.Spec{Algorithm: "tree_allreduce", Ranks: 5, NElem: 6, Op: tl.Max}, false},
	{run.Spec{Algorithm: "binomial_broadcast", Ranks: 3, NElem: 7, DType: dtype.I16}, false},
	{run.Spec{Algorithm: "window_allreduce_twophase", Ranks: 3, NElem: 6}, true},
	{run.Spec{Algorithm: "window_all_to_all", Ranks: 2, NElem: 8, DType: dtype.BF16}, false},
	{run.Spec{Algorithm: "nvls_allreduce", NElem: 8, DType: dtype.F32, Op: tl.Max, Sets: switched(1, 2)}, false},
	{run.Spec{Algorithm: "nvls_allgather", NElem: 8, DType: dtype.I32, Sets: switched(1, 4)}, true},
	{run.Spec{Algorithm: "nvls_reduce_scatter", NElem: 8, DType: dtype.I64, Sets: switched(1, 2)}, true},
	{run.Spec{Algorithm: "nvls_tree_allreduce", NElem: 8, Sets: switched(2, 2)}, true},
	{run.Spec{Algorithm: "sharp_allreduce", NElem: 8, Sets: switched(2, 2)}, true},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.spec.Algorithm, func(t *testing.T) {
			f, err := run.Record(t.Context(), g.spec)
			if err != nil {
				t.Fatal(err)
			}
			if g.classes {
				f.Classes()
			}
			got, name := textOf(t, f), filepath.Join("testdata", g.spec.Algorithm+".txt")
			if *update {
				if err := os.WriteFile(name, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("run with -update if this is meant\n%s", d)
			}
		})
	}
}

// byHand are programs that no kernel records: their ranks have several blocks.
var byHand = []string{"blocks_allreduce", "blocks_handing_on"}

func TestGoldenByHand(t *testing.T) {
	for _, name := range byHand {
		want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := text.Parse(name+".txt", want)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(textOf(t, f))); d != "" {
			t.Errorf("%s reads as another program\n%s", name, d)
		}
		for _, executor := range []string{"mock", "sim"} {
			race := true
			r, err := run.OfProgram(t.Context(), run.Spec{Executor: executor, VerifyData: true, Race: &race}, f)
			if err != nil {
				t.Fatal(err)
			}
			if !r.OK() {
				t.Errorf("%s on %s: %v %v", name, executor, r.Failures, r.Hazards)
			}
		}
	}
}

// TestDocumentedExample: docs/program.md shows what comes out.
func TestDocumentedExample(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "program.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(doc), "```text\n")
	block, _, _ = strings.Cut(block, "```")
	f, err := run.Record(t.Context(), run.Spec{Algorithm: "ring_allreduce_chunked", Ranks: 4, NElem: 8})
	if err != nil {
		t.Fatal(err)
	}
	f.Classes()
	if d := cmp.Diff(block, string(textOf(t, f))); d != "" {
		t.Error(d)
	}
}

// FuzzParse: no file that is read panics when it is read or run. A file that is read prints as a
// text that is read as the same.
func FuzzParse(f *testing.F) {
	for _, g := range golden {
		data, err := os.ReadFile(filepath.Join("testdata", g.spec.Algorithm+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		p, err := text.Parse("x.txt", data)
		if err != nil {
			f.Fatal(err)
		}
		var j bytes.Buffer
		if err := p.WriteJSON(&j); err != nil {
			f.Fatal(err)
		}
		f.Add(j.Bytes())
	}
	for _, name := range byHand {
		data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(wrap("rank 0:2\n send E data[0:2]\n sync w0\nrank 0:2 block 1\n recv W data[2:4]\nrank 1 block 2\n notify w0.sig[3] set 1")))
	f.Add([]byte(wrap("rank 0:2\n column c0 0 3\n t0 = load data[c0:+2; 2 by 3] as i16[2 2]\n t1 = add t0[1:2] t0\n t2 = mul empty 0x1p-3 as f16[0]\n" +
		" t3 = reduce add t0 over 1 4 1 as i16[]\n t4 = softmax t5 over 1 2 1\nrank 0 block 1\n send E empty as f16[0 3]\n t9 = convert t1[0:1] f64 as f64[]")))
	f.Add([]byte(wrap("rank 0\n t0 = load data[0:8]\n t1 = fma t0 t0 t0\n t2 = dot t0 t0 inner 4 as f16[2 2]\n t3 = transpose t2 as f16[2 2]\n" +
		" put w0.data[0:8]@1 t0 signal w0.sig[1] add 1\n put_combine max w0.data[0:8] data[0:8]\n get data[0:2] w0.data[2:4]@1\n" +
		" wait_until w0.sig[0; 2 by 3; 2 by 1] >= 1\n sync w0\nrank 1\n recv_async W f16[8]\n t0 = wait W\n recv W data[0:8]\n quiet")))
	f.Add([]byte(wrap("rank 0:2\n column c0 1 0\n t0 = load data[0:4]\n put_ll w0.data[0:4]@c0 t0 signal w0.sig[1] set 1\n" +
		" wait_ll w0.sig[1] == 1\n put_ll128 w0.data[0:4]@c0 t0 signal w0.sig[3] set 2\n wait_lines w0.sig[3] == 2 lines 0:1\n wait_ll w0.sig[0; 2 by 3] == 9\n put_ll w0.data[4:8] t0 signal w0.sig[2] set -1")))
	f.Add([]byte(wrap("group g0 1\ngroup g1 0:2\nrank 0:2\n column c0 1 0\n t0 = load_reduce max w0.data[0:4] among c0\n" +
		" store_multicast w0.data[4:8] t0 among g1\n store_multicast w0.data[0:0] empty\n" +
		" reduce_multicast sum w0.data[0:4] w0.data[4:8] among g1 as bf16[4]\nrank 1 block 1\n t0 = load_reduce min w0.data[0:8] among g0")))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := text.Parse("x.txt", data)
		if err != nil {
			return
		}
		first := textOf(t, p)
		again, err := text.Parse("x.txt", first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := textOf(t, again); !bytes.Equal(first, second) {
			t.Fatalf("reads as another program\n%s\n%s", first, second)
		}
		var j bytes.Buffer
		if err := p.WriteJSON(&j); err != nil {
			t.Fatal(err)
		}
		if again, err = text.Parse("x.json", j.Bytes()); err != nil {
			t.Fatalf("%v\n%s", err, j.Bytes())
		}
		if second := textOf(t, again); !bytes.Equal(first, second) {
			t.Fatalf("its JSON reads as another program\n%s\n%s", first, second)
		}
		p.Classes()
		if _, err := text.Parse("x.txt", textOf(t, p)); err != nil {
			t.Fatalf("with classes: %v\n%s", err, textOf(t, p))
		}
		if p.Runnable() == nil {
			interprets(t, p)
		}
	})
}
