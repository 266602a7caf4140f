package text_test

import (
	"strings"
	"testing"

	_ "kernbench/internal/fewcollections"
	"kernbench/program/text"
)

// header is that of a small program, with windows and rings between two ranks.
const header = `kernbench program 1
algorithm small
collective all_reduce
operator sum
type f16
elements 8
results in place
world 2
slots 4 of 64 bytes
scratch 4096 bytes
window w0 80 bytes
part w0 data f16[8]
part w0 sig int32[16]
wire 0 E->1.W
wire 1 E->0.W
`

// wrap puts blocks after the header. Their first line is line 16.
func wrap(blocks string) string { return header + blocks + "\n" }

// An error that quotes a very long line is short, and has its end.
func TestErrorOfALongLine(t *testing.T) {
	_, err := text.Parse("x.txt", []byte("kernbench program 1\n"+strings.Repeat("t", 1<<20)+"\n"))
	if err == nil || len(err.Error()) > 1000 || !strings.HasPrefix(err.Error(), "x.txt:2: found") ||
		!strings.Contains(err.Error(), "want") {
		t.Errorf("%.1200v", err)
	}
}

func TestErrors(t *testing.T) {
	with := func(old, now string) string {
		if !strings.Contains(header, old) {
			t.Fatalf("the header has no %q", old)
		}
		return strings.Replace(header, old, now, 1)
	}
	rank := func(statements ...string) string { return wrap("rank 0\n" + strings.Join(statements, "\n")) }
	for _, tt := range []struct{ text, want string }{
		// The file as a whole.
		{"", `x.txt: found nothing, want "kernbench program 1" in the first line`},
		{"hello", `x.txt:1: found "hello", want "kernbench program 1"`},
		{with("program 1", "program 2"), `x.txt:1: found version "2", want 1`},
		{with("type f16\n", ""), "x.txt:14: found a header without type, want it before this line, such as \"type f16\""},
		{with("type f16\n", "") + "rank 0\nfence\nfence\n", "x.txt:15: found a header without type"},
		{with("type f16\n", "type f16\ntype f16\n"), "x.txt:6: found type again, want it once: it is in line 5"},
		{with("type f16", "typ f16"), `x.txt:5: found "typ", want a statement of the header`},
		{with("type f16", "type f17"), `x.txt:5: found type "f17", want one of`},
		{with("type f16", "type f16 f16"), `x.txt:5: found "f16", want the end of the line`},
		{with("all_reduce", "all_reduse"), "x.txt:3: unknown collective"},
		{with("operator sum", "operator plus"), `x.txt:4: unknown reduction "plus"`},
		{with("operator sum\n", ""), "x.txt:3: found no operator, want one for all_reduce"},
		{with("operator sum\n", "operator sum\nroot 0\n"), "x.txt:5: found root, but all_reduce has none"},
		{header + "# a comment\n\n", ""},
		{strings.Replace(with("all_reduce\noperator sum", "all_to_all\n"), "elements 8", "elements 7", 1),
			"x.txt:6: all_to_all of 7 elements among 2 ranks"},
		{with("results in place", "results apart 7"), "x.txt:7: found space for results of 7 elements, want 8, the result of rank 0"},
		{with("elements 8", "elements 3000000000"), `x.txt:6: found elements "3000000000", want a number from 1 to 2147483646`},
		{with("world 2", "world 1000000"), `x.txt:8: found world "1000000", want a number from 1 to 131072`},
		{with("slots 4 of", "slots 4"), `x.txt:9: found "64", want of`},
		{with("w0 80 bytes", "w0 8 bytes"), "x.txt:11: window w0: the buffers need 80 bytes, the window has 8"},
		{with("part w0 data f16[8]", "part w0 data f16[8] stagin"), `x.txt:12: found "stagin", want staging`},
		{with("part w0 data f16[8]", "part w0 data f18[8]"), `x.txt:12: found type "f18"`},
		{strings.Replace(with("sig int32[16]", "sig int32[90000000]"), "80 bytes", "400000000 bytes", 1),
			"x.txt:11: found 90000000 control words on each of 2 ranks"},
		{with("algorithm small", "algorithm ../small"), `x.txt:2: found name "../small"`},

		// Wiring.
		{with("E->1.W", "E->2.W"), "x.txt:14: ring E->2.W leads to rank 2, want a rank from 0 to 1"},
		{with("E->1.W", "E->1.W E->0.W"), "x.txt:14: rank 0 sends in direction E twice"},
		{with("E->1.W", "E->1.W N->1.W"), "x.txt:14: rank 1 receives from direction W twice, from ranks 0 and 0"},
		{with("E->1.W", "E->1"), `x.txt:14: found ring "E->1", want DIRECTION->RANK.DIRECTION`},
		{with("E->1.W", "East->1.W"), `x.txt:14: found direction "East"`},
		{with("wire 1", "wire 0"), "x.txt:15: found the rings of rank 0 again"},
		{with("wire 1", "wire 2"), "x.txt:15: found rings of rank 2, want a rank from 0 to 1"},
		{with("wire 1 E->0.W", "wire 1"), "x.txt:15: found no ring"},

		// Blocks.
		{wrap("rank 2"), `x.txt:16: found rank "2", want a number from 0 to 1`},
		{wrap("rank 1 0"), "x.txt:16: found rank 0 after rank 1, want ranks in ascending order"},
		{wrap("rank"), "x.txt:16: found no rank"},
		{wrap("rank 0:2\nsend E data[0:2]\nrank 1 block 1\nsend E data[0:2]"),
			"x.txt:19: block 1 of rank 1 sends in direction E, which is for block 0, see line 17: one block has an end of a ring"},
		{wrap("rank 0 block 2\nt0 = recv W f16[2]\nrank 0\nrecv_async W f16[2]"),
			"x.txt:19: block 0 of rank 0 receives from direction W, which is for block 2, see line 17: one block has an end of a ring"},
		{wrap("rank 0:2\nsync w0\nrank 0:2 block 1\nfence\nsync w0"),
			"x.txt:20: found sync w0 in block 1 of rank 0, want it in block 0 only, which has it in line 17"},
		{wrap("rank 0:2\nsend E data[0:2]\nrank 0:2 block 1\nt0 = recv W f16[2]"), ""},
		{wrap("rank 0\nrank 0:2"), "x.txt:17: found block 0 of rank 0 again, want it once: it is in line 16"},
		{rank("column c0 1 2"), "x.txt:17: found 2 values, want 1"},
		{rank("column c1 1"), `x.txt:17: found "c1", want c0`},
		{rank("fence", "column c0 1"), "x.txt:18: found column after an operation"},
		{rank("type f16"), `x.txt:17: found operation "type"`},

		// Operations and references.
		{rank("t0 = lod data[0:8]"), `x.txt:17: found operation "lod", want one of load`},
		{rank("t0 = fence"), "x.txt:17: found a tensor before fence, which makes none"},
		{rank("load data[0:8]"), "x.txt:17: found no tensor for the result of load"},
		{rank("x = load data[0:8]"), `x.txt:17: found "x" before =, want a tensor`},
		{rank("t0 = load data[0:8]", "t0 = load data[0:8]"), "x.txt:18: found t0 again"},
		{rank("send E t7"), "x.txt:17: found t7, want a tensor that an earlier statement defines"},
		{rank("t0 = load data[0:8]", "send E t0[4:9]"), "x.txt:18: found elements 4:9 of t0, want them within its 0:8"},
		{rank("t0 = load data[0:8]", "send N t0"), "x.txt:18: found direction N, want one that rank 0 sends to: E"},
		{rank("send E data[0:8] channels 2"), ""},
		{rank("send E data[0:8] channels 2 as f16[8]"), ""},
		{rank("send E data[0:8] channels 0"), `x.txt:17: found channels "0", want a number from 1 to 1024`},
		{rank("send E data[0:8] channels 1025"), `x.txt:17: found channels "1025", want a number from 1 to 1024`},
		{rank("t0 = load data[0:8] channels 2"), `x.txt:17: found "channels", want as`},
		{rank("put w0.data[0:8]@1 data[0:8] channels 2"), `x.txt:17: found "channels", want as`},
		{rank("put w0.data[0:8]@1 data[0:8] signal w0.sig[0] set 1 channels 2"), ""},
		{rank("t0 = recv E f16[8]"), "x.txt:17: found direction E, want one that rank 0 receives from: W"},
		{rank("t0 = recv any f16[8]"), "x.txt:17: found direction any"},
		{rank("t0 = recv W f16[2 2 2 2 2]"), "x.txt:17: found shape f16[2 2 2 2 2], want at most 4 extents"},
		{rank("t0 = recv W f16[2000000000 2]"), "x.txt:17: found shape"},
		{rank("t0 = recv W f16"), `x.txt:17: found "f16", want a type and shape`},
		{rank("t0 = wait W"), "x.txt:17: found wait W, want a recv_async W before it"},
		{rank("recv_async W f16[8]", "t0 = recv W f16[8]"), "x.txt:18: found recv W, want wait W: 1 announced"},
		{rank("recv_async W f16[8]", "t0 = wait W as f16[4]"), "x.txt:18: found wait as f16[4], want as it was announced: f16[8]"},
		{rank("t0 = load data[4:9]"), "x.txt:17: found elements 4:9 of data, want them within its 0:8"},
		{rank("t0 = load data[0:2; 3 by 4]"), "x.txt:17: found elements 0:10 of data, want them within its 0:8"},
		{rank("t0 = load data[0:2; 3 by 2]"), `x.txt:17: found step "2", want a number from 3`},
		{rank("t0 = load data[4:2]"), `x.txt:17: found end of elements "2", want a number from 4`},
		{rank("t0 = load in[0:8]"), "x.txt:17: found in, want data"},
		{with("in place", "apart 8") + "rank 0\nt0 = load data[0:8]\n", "x.txt:17: found data, want in or out"},
		{with("in place", "apart 8") + "rank 0\nt0 = load out[1:9]\n",
			"x.txt:17: found elements 1:9 of out, want them within its 0:8"},
		{rank("t0 = load w0.dat[0:8]"), `x.txt:17: found part "dat", want one that the header declares for w0`},
		{rank("t0 = load w1.data[0:8]"), `x.txt:17: found "w1", want a window of the header`},
		{rank("t0 = load w0.sig[0:8]"), "x.txt:17: found w0.sig, want data"},
		{rank("t0 = load data[0:8]@2"), "x.txt:17: found rank 2, want one from 0 to 1"},
		{rank("t0 = load data[0:8] as f32[8]"), "x.txt:17: found elements of f32 in memory of f16"},
		{rank("t0 = load data[0:8] as f16[7]"), "x.txt:17: found f16[7] for 8 elements of memory"},
		{rank("t0 = load data[c0:+8]"), `x.txt:17: found column "c0", but the block has no columns`},
		{rank("t0 = load data[0:8", ""), "x.txt:17: found [ without ]"},
		{rank("t0 = load data[0:8] [[1]]"), "x.txt:17: found [ within [ ]"},
		{wrap("rank 0:2\ncolumn c0 0 5\nt0 = load data[c0:+4]"), "x.txt:18: found elements 5:9 of data, want them within its 0:8"},
		{rank("t0 = load data[0:8]", "t1 = add t0 t0[0:3]"), "x.txt:18: found operands of 8 and 3 elements"},
		{rank("t0 = load data[0:8]", "t1 = convert t0 f32", "t2 = add t0 t1"),
			"x.txt:19: found type f32 of operand 2, want f16: convert it"},
		{rank("t0 = load data[0:8]", "t1 = add t0 x"), `x.txt:18: found number "x"`},
		{rank("t0 = load data[0:8]", "t1 = clamp t0 2 1"), "x.txt:18: found limits 2 and 1"},
		{rank("t0 = load data[0:8]", "t1 = reduce add t0 over 2 4 1 as f16[3]"), "x.txt:18: found a result of [3]"},
		{rank("t0 = load data[0:8]", "t1 = reduce add t0 over 2 4 1"), `x.txt:18: found no type and shape, want "as"`},
		{rank("t0 = load data[0:8]", "store data[0:4] t0"), "x.txt:18: found 8 elements in operand 1, want 4"},
		{rank("t0 = add empty empty"), "x.txt:17: found no type and shape"},
		{rank("put data[0:8]@1 data[0:8]"), "x.txt:17: found memory outside windows"},
		{rank("put w0.data[0:8]@1 data[0:4]"), "x.txt:17: found 8 elements of memory, want 4"},
		{rank("put_ll w0.data[0:8]@1 data[0:8] signal w0.sig[0] set 1"), "x.txt:17: found put_ll of memory, or without a flag"},
		{rank("t0 = load data[0:8]", "put_ll w0.data[0:8]@1 t0"), "x.txt:18: found put_ll of memory, or without a flag"},
		{rank("t0 = load data[0:8]", "put_ll w0.data[0:8]@1 t0 signal w0.sig[0] add 1"), "x.txt:18: found put_ll of memory"},
		{rank("t0 = load data[0:8]", "put_ll w0.data[0:8]@1 t0 signal w0.sig[0] set 0"), "x.txt:18: found flag 0, want another"},
		{rank("t0 = load data[0:8]", "put_ll128 w0.data[0:8]@1 t0 signal w0.sig[0] add 1"), "x.txt:18: found put_ll128 of memory"},
		{rank("t0 = load data[0:8]", "put_ll128 w0.data[0:8]@1 t0 signal w0.sig[0] set 0"), "x.txt:18: found flag 0, want another"},
		{rank("wait_lines w0.sig[0] == 1"), "x.txt:17: found the end of the line, want lines"},
		{rank("wait_lines w0.sig[0] == 1 lines 2"), `x.txt:17: found "2", want lines FROM:TO`},
		{rank("wait_lines w0.sig[0] == 1 lines 2:2"), `x.txt:17: found end of lines "2", want a number from 3`},
		{rank("wait_lines w0.sig[0] == 1 lines -1:2"), `x.txt:17: found first line "-1", want a number from 0`},
		{rank("wait_lines w0.sig[0] == 0 lines 0:2"), "x.txt:17: found flag 0, want another"},
		{rank("wait_lines w0.sig[0]@1 == 1 lines 0:2"), "x.txt:17: found words of another rank"},
		{rank("wait_ll w0.sig[0] == 0"), "x.txt:17: found flag 0, want another"},
		{rank("wait_ll w0.sig[0] >= 1"), "x.txt:17: found \">=\", want =="},
		// Operations of switches. The groups are lines 16 and 17.
		{wrap("group g1 0:2"), `x.txt:16: found "g1", want g0`},
		{wrap("group g0"), "x.txt:16: found no rank, want at least one"},
		{wrap("group g0 0:3"), "x.txt:16: found rank 2 in group g0, want ranks from 0 to 1"},
		{wrap("group g0 1 0"), "x.txt:16: found rank 0 after rank 1, want ranks in ascending order"},
		{wrap("group g0 x"), `x.txt:16: found rank "x"`},
		{wrap("rank 0\ngroup g0 0"), `x.txt:17: found operation "group"`},
		{rank("load_reduce sum w0.data[0:8]"), "x.txt:17: found no tensor for the result of load_reduce"},
		{rank("t0 = load_reduce w0.data[0:8]"), `x.txt:17: found "w0.data[0:8]", want sum or prod or max or min`},
		{rank("t0 = load_reduce avg w0.data[0:8]"), `x.txt:17: found "avg", want sum or prod or max or min`},
		{rank("t0 = load_reduce sum data[0:8]"), "x.txt:17: found memory outside windows"},
		{rank("t0 = load_reduce sum w0.data[0:8]@1"), "x.txt:17: found a rank after the memory, want none"},
		{rank("t0 = load_reduce sum w0.data[4:12]"), "x.txt:17: found elements 4:12 of w0.data, want them within its 0:8"},
		{rank("t0 = load_reduce sum w0.data[0:2; 2 by 4]"), "x.txt:17: found f16[2 2] for 4 elements of memory, want as many in one range"},
		{rank("t0 = load_reduce sum w0.data[0:8] as f16[2 4]"), "x.txt:17: found f16[2 4] for 8 elements of memory, want as many in one range"},
		{rank("t0 = load_reduce sum w0.data[0:8] as f32[8]"), "x.txt:17: found elements of f32 in memory of f16"},
		{rank("t0 = load_reduce sum w0.sig[0:8]"), "x.txt:17: found w0.sig, want data"},
		{rank("t0 = load_reduce sum w0.data[0:8] among g0"), `x.txt:17: found group "g0", want one of the header: there are 0`},
		{rank("t0 = load_reduce sum w0.data[0:8] among"), "x.txt:17: found the end of the line, want a group"},
		{wrap("group g0 0\ngroup g1 1\nrank 0:2\nt0 = load_reduce sum w0.data[0:8] among g0"),
			"x.txt:19: found group g0, which rank 1 is not in: it has the ranks 0"},
		{wrap("group g0 0\ngroup g1 1\nrank 0:2\ncolumn c0 0 1\nt0 = load_reduce sum w0.data[0:8] among c0"), ""},
		{wrap("group g0 0\ngroup g1 1\nrank 0:2\ncolumn c0 1 1\nt0 = load_reduce sum w0.data[0:8] among c0"),
			"x.txt:20: found group g1, which rank 0 is not in: it has the ranks 1"},
		{wrap("group g0 0\ngroup g1 1\nrank 0:2\ncolumn c0 0 2\nt0 = load_reduce sum w0.data[0:8] among c0"),
			"x.txt:20: found group 2 of rank 1, want one of the header: there are 2"},
		{rank("t0 = load data[0:8]", "t1 = store_multicast w0.data[0:8] t0"), "x.txt:18: found a tensor before store_multicast"},
		{rank("t0 = load data[0:8]", "store_multicast w0.data[0:4] t0"), "x.txt:18: found 8 elements in operand 1, want 4"},
		{rank("t0 = load data[0:8]", "store_multicast w0.data[0:8]@0 t0"), "x.txt:18: found a rank after the memory, want none"},
		{rank("t0 = load data[0:8]", "store_multicast data[0:8] t0"), "x.txt:18: found memory outside windows"},
		{rank("store_multicast w0.data[0:8] data[0:8]"), `x.txt:17: found "data[0:8]", want a tensor`},
		{rank("reduce_multicast sum w0.data[0:4] w0.data[3:7]"), "x.txt:17: found a destination that overlaps the source on rank 0"},
		{rank("reduce_multicast sum w0.data[0:4] w0.data[4:7]"), "x.txt:17: found f16[4] for 3 elements of memory"},
		{rank("reduce_multicast sum w0.data[0:4] data[4:8]"), "x.txt:17: found memory outside windows"},
		{rank("reduce_multicast sum w0.data[0:4]"), "x.txt:17: found the end of the line, want memory"},
		{rank("reduce_multicast sum w0.data[0:4] w0.data[4:8]@1"), "x.txt:17: found a rank after the memory, want none"},

		{rank("put w0.data[0:8]@1 data[0:8] signal w0.sig[0]@1 add 1"), "x.txt:17: found a rank after the word of the signal"},
		{rank("notify w0.sig[16]@1 add 1"), "x.txt:17: found words 16:17 of the part, want them within its 0:16"},
		{rank("notify w0.sig[0:2]@1 add 1"), "x.txt:17: found 2 words, want one"},
		{rank("notify w0.sig[0]@1 add 3000000000"), "x.txt:17: found value 3000000000, want one that fits in int32"},
		{rank("notify w0.sig[0]@1 mul 1"), `x.txt:17: found "mul", want set or add`},
		{rank("notify w0.data[0]@1 add 1"), "x.txt:17: found w0.data, want control words"},
		{rank("wait_until w0.sig[0] => 1"), `x.txt:17: found comparison "=>"`},
		{rank("wait_until w0.sig[0]@1 >= 1"), "x.txt:17: found words of another rank"},
		{rank("wait_until w0.sig[3; 4 by -2] >= 1"), "x.txt:17: found words -3:4 of the part"},
		{rank("wait_until w0.sig[0; 4 by 0; 5 by 0] >= 1"), "x.txt:17: found more words than the 16 of the part"},
		{rank("sync w1"), `x.txt:17: found "w1", want a window of the header`},
		{rank("fence fence"), `x.txt:17: found "fence", want as`},
		{rank("fence as f16[1]"), `x.txt:17: found "as", but fence moves no elements`},
		{rank("wait"), "x.txt:17: found the end of the line, want a direction"},
	} {
		_, err := text.Parse("x.txt", []byte(tt.text))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%v of\n%s", err, tt.text)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
			t.Errorf("got  %v\nwant %s\nof\n%s", err, tt.want, tt.text[max(0, min(len(tt.text), len(header)-1)):])
		}
	}
}

// TestErrorsOfJSON: the lines are those of the JSON.
func TestErrorsOfJSON(t *testing.T) {
	const good = `{
 "kernbench_program": 1,
 "algorithm": "small",
 "collective": "barrier",
 "type": "f16",
 "elements": 8,
 "results_apart": 0,
 "world": 1,
 "slots": 4,
 "slot_bytes": 64,
 "scratch_bytes": 4096,
 "windows": [],
 "wiring": ["0 E->0.W"],
 "blocks": [
  {"ranks": "0", "operations": [
   "t0 = load data[0:8]",
   "store data[0:8] t0"
  ]}
 ]
}`
	for _, tt := range []struct{ old, now, want string }{
		{"", "", ""},
		{"f16", "f17", `x.json:5: found type "f17"`},
		{`"type"`, `"typ"`, `x.json:5: found unknown key "typ" in a program`},
		{`"world": 1`, `"world": 1, "world": 1`, `x.json:8: found key "world" again`},
		{"1.W", "1.W", ""},
		{"E->0.W", "E->7.W", "x.json:13: ring E->7.W leads to rank 7"},
		{"store data[0:8] t0", "store data[0:8] t1", "x.json:17: found t1"},
		{"store data[0:8] t0", "rank 1", `x.json:17: found "rank 1", want an operation`},
		{"store data[0:8] t0", "fence # all", "x.json:17: found "},
		{`"slots": 4`, `"slots": null`, "x.json:9: found null, want a string or a number"},
		{`"wiring": [`, `"wiring": {`, "x.json:13: found {, want wiring, which begins with ["},
		{" ]\n}", " ]", "x.json:19: found the end of the file"},
		{"]\n}", "]\n} x", "x.json:20: found no JSON"},
		{"]\n}", "]\n} 5", "x.json:20: found 5, want the end of the file"},
		{`"kernbench_program": 1,`, "", `x.json:3: found "algorithm small", want "kernbench program 1"`},
	} {
		_, err := text.Parse("x.json", []byte(strings.Replace(good, tt.old, tt.now, 1)))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q → %q: %v", tt.old, tt.now, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
			t.Errorf("%q → %q\ngot  %v\nwant %s", tt.old, tt.now, err, tt.want)
		}
	}
}
