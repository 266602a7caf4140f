package mscclpp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

const ll = `"protocol":"LL","use_double_scratch_buffer":true,`

// byPut reduces with copies into the peer's scratch over a channel.
func byPut(channel string, put func(src, dst string) []string) func(r int) []string {
	return func(r int) []string {
		return join(put(local("i", 1-r), remote(1, 1-r)), []string{sync("wait", channel),
			move("re", "", refs(local("i", r), local("s", r)), refs(local("i", r)))},
			put(local("i", r), remote(0, r)), []string{sync("wait", channel)})
	}
}

// right are plans in which every operation of the executor occurs. Each is right.
var right = map[string]text{
	"rres": {blocks: only(func(r int) []string {
		return join(meet("memory"), []string{move("rres", "memory", refs(local("i", r), remote(0, r)),
			refs(local("i", r), remote(0, r))), `{"name":"nop"}`}, meet("memory"))
	})},
	"rlx": {blocks: only(func(r int) []string {
		return join([]string{sync("rlxsignal", "memory"), sync("rlxwait", "memory"),
			move("rres", "memory", refs(local("i", r), remote(0, r)), refs(local("i", r), remote(0, r)))}, meet("memory"))
	})},
	"put over memory": {scratch: 2, blocks: only(byPut("memory", func(src, dst string) []string {
		return []string{move("put", "memory", refs(src), refs(dst)), sync("signal", "memory")}
	}))},
	"put, signal, flush over a port": {scratch: 2, blocks: only(byPut("port", func(src, dst string) []string {
		return []string{move("put", "port", refs(src), refs(dst)), sync("signal", "port"), sync("flush", "port")}
	}))},
	"pwsf": {scratch: 2, blocks: only(byPut("port", func(src, dst string) []string {
		return []string{move("pwsf", "port", refs(src), refs(dst))}
	}))},
	"pws, flush": {scratch: 2, blocks: only(byPut("port", func(src, dst string) []string {
		return []string{move("pws", "port", refs(src), refs(dst)), sync("flush", "port")}
	}))},
	"get, res": {scratch: 2, blocks: only(func(r int) []string {
		return join(meet("memory"), []string{move("get", "memory", refs(remote(0, r)), refs(local("s", r))),
			move("res", "memory", refs(local("i", r), local("s", r)), refs(local("i", r), remote(0, r)))}, meet("memory"))
	})},
	"rre": {blocks: only(func(r int) []string {
		return join(meet("memory"), []string{move("rre", "memory", refs(local("i", r), remote(0, r)), refs(local("i", r))),
			move("put", "memory", refs(local("i", r)), refs(remote(0, r)))}, meet("memory"))
	})},
	"ppkt, respkt, upkt": {top: ll, scratch: 4, blocks: only(func(r int) []string {
		return []string{move("ppkt", "memory", refs(local("i", 1-r)), refs(remote(1, 0))),
			move("respkt", "memory", refs(local("i", r), local("s", 0)), refs(local("i", r), remote(1, 1))),
			move("upkt", "", refs(local("s", 1)), refs(local("i", 1-r)))}
	})},
	"cpkt, rppkt, recpkt": {top: ll, scratch: 4, blocks: only(func(r int) []string {
		return []string{move("cpkt", "", refs(local("i", 1-r)), refs(local("s", 0))),
			move("rppkt", "memory", refs(local("s", 0)), refs(remote(1, 1))),
			move("recpkt", "", refs(local("i", r), local("s", 1)), refs(local("i", r), local("s", 2))),
			move("rppkt", "memory", refs(local("s", 2)), refs(remote(1, 3))),
			move("upkt", "", refs(local("s", 3)), refs(local("i", 1-r)))}
	})},
	"packets over a port": {top: ll, scratch: 4, blocks: only(func(r int) []string {
		return []string{move("cpkt", "", refs(local("i", 1-r)), refs(local("s", 0))),
			move("ppkt", "port", refs(local("s", 0)), refs(remote(1, 1))),
			move("recpkt", "", refs(local("i", r), local("s", 1)), refs(local("i", r), local("s", 2))),
			move("rppkt", "port", refs(local("s", 2)), refs(remote(1, 3))),
			move("upkt", "", refs(local("s", 3)), refs(local("i", 1-r)))}
	})},
	"recspkt, repkt": {top: ll + `"inplace":false,`, scratch: 4, blocks: only(func(r int) []string {
		return []string{move("ppkt", "memory", refs(local("i", 1-r)), refs(remote(1, 0))),
			move("recspkt", "memory", refs(local("i", r), local("s", 0)), refs(local("o", r), local("s", 2), remote(1, 1))),
			move("upkt", "", refs(local("s", 1)), refs(local("o", 1-r))),
			// The same again, by another method.
			move("ppkt", "memory", refs(local("i", r)), refs(remote(1, 3))),
			move("repkt", "", refs(local("i", 1-r), local("s", 3)), refs(local("o", 1-r)))}
	})},
	"glres": {blocks: only(func(r int) []string {
		return join(meet("memory"), []string{move("glres", "switch", refs(multicast(r)), refs(multicast(r)))}, meet("memory"))
	})},
	// The switch is over i: in place i and o are one.
	"gstore": {scratch: 4, blocks: only(func(r int) []string {
		return join(meet("memory"), []string{move("get", "memory", refs(remote(0, r)), refs(local("s", r))),
			move("re", "", refs(local("i", r), local("s", r)), refs(local("s", r)))}, meet("memory"),
			[]string{move("gstore", "switch", refs(local("s", r)), refs(multicast(r)))}, meet("memory"))
	})},
	"semaphores": {scratch: 2, semaphores: `{"init_value":0}`, blocks: func(r int) [][]string {
		return [][]string{
			join(meet("memory"), []string{release(0)}),
			join([]string{acquire(0), move("rres", "memory", refs(local("i", r), remote(0, r)),
				refs(local("i", r), remote(0, r)))}, meet("memory")),
		}
	}},
	"barrier": {scratch: 2, blocks: func(r int) [][]string {
		return [][]string{
			join(meet("memory"), []string{barrier(3, 2)}),
			join([]string{barrier(3, 2), move("rres", "memory", refs(local("i", r), remote(0, r)),
				refs(local("i", r), remote(0, r)))}, meet("memory")),
		}
	}},
	"group": {blocks: func(r int) [][]string {
		part := func(b int) []string {
			return join(meet("memory"), []string{group(move("rres", "memory", refs(local("i", r), remote(0, r)),
				refs(local("i", r), remote(0, r))), b, 2)}, meet("memory"))
		}
		return [][]string{part(0), part(1)}
	}},
	"pipeline": {blocks: only(func(r int) []string {
		return join(meet("memory"), []string{pipeline(64, 1,
			move("rres", "memory", refs(local("i", r), remote(0, r)), refs(local("i", r), remote(0, r))))}, meet("memory"))
	})},
	"gstorepkt": {top: ll, scratch: 4, multicast: "s", blocks: only(func(r int) []string {
		var ops []string
		for c := range 2 {
			ops = append(ops, move("cpkt", "", refs(local("i", c)), refs(local("s", 2*r+c))))
		}
		for c := range 2 {
			ops = append(ops, move("gstorepkt", "switch", refs(local("s", 2*r+c)), refs(multicast(2*r+c))))
		}
		for c := range 2 {
			ops = append(ops, move("repkt", "", refs(local("i", c), local("s", 2*(1-r)+c)), refs(local("i", c))))
		}
		return ops
	})},
	"reused scratch": reused(8),
}

// rewritten sends packets, and writes them once more while another block may read them: chunk 0 of
// the input, or another one.
func rewritten(chunk string) text {
	again := strings.Replace(move("cpkt", "", refs(local("i", 0)), refs(local("s", 0))), `"index":0`, `"index":`+chunk, 1)
	return text{collective: "other", top: ll, scratch: 2, blocks: func(int) [][]string {
		return [][]string{
			{move("cpkt", "", refs(local("i", 0)), refs(local("s", 0))), again},
			{move("upkt", "", refs(local("s", 0)), refs(local("o", 1)))},
		}
	}}
}

// reused copies through scratch in two thread blocks, with init free slots.
func reused(init int) text {
	return text{top: `"reuse_resources":true,`, scratch: 2,
		semaphores: fmt.Sprintf(`{"init_value":0},{"init_value":%d}`, init), blocks: func(r int) [][]string {
			unit := 4 << 20
			return [][]string{
				{pipeline(unit, 1, acquire(1), move("copy", "", refs(local("i", r)), refs(local("s", r))), release(0))},
				join(meet("memory"), []string{pipeline(unit, 1, acquire(0),
					move("rres", "memory", refs(local("s", r), remote(0, r)), refs(local("i", r), remote(0, r))),
					release(1))}, meet("memory")),
			}
		}}
}

func TestEveryOperationIsRight(t *testing.T) {
	used := map[string]bool{}
	for name, x := range right {
		t.Run(name, func(t *testing.T) {
			if v, why := x.verdicts(t); v != "[OK]" {
				t.Errorf("%s: %s", v, why)
			}
			for op := range shapes {
				used[op] = used[op] || strings.Contains(x.String(), fmt.Sprintf(`"name":%q`, op))
			}
		})
	}
	for op := range shapes {
		if !used[op] {
			t.Errorf("no plan has the operation %s", op)
		}
	}
}

// change replaces text of the first rank, or of both.
func change(x text, t *testing.T, both bool, old, new string) *plan.Program {
	t.Helper()
	n := 1
	if both {
		n = -1
	}
	changed := strings.Replace(x.String(), old, new, n)
	if changed == x.String() {
		t.Fatalf("%q is not in the plan", old)
	}
	p, findings := Program(plan.File{Name: "t.json", Data: []byte(changed)})
	if p == nil {
		t.Fatalf("%v in\n%s", findings, changed)
	}
	return p
}

// Plans that are wrong, made of right ones.
func TestVerdicts(t *testing.T) {
	nop := `{"name":"nop"}`
	for _, c := range []struct {
		name     string
		of       text
		both     bool
		old, new string
		want     plan.Verdict
		text     string
	}{
		{"signal dropped", right["rres"], false, sync("signal", "memory"), nop, plan.Deadlock,
			"memory channel 0 from rank 0 has 0 of 1 signals"},
		{"wait dropped", right["rres"], false, sync("wait", "memory"), nop, plan.Race, "(begin of launch) in launch 2"},
		{"signal too many", right["rres"], false, sync("signal", "memory"),
			sync("signal", "memory") + "," + sync("signal", "memory"), plan.Leftover, "3 signals are left"},
		{"wrong chunk", right["rres"], false, remote(0, 0), remote(0, 1), plan.Wrong, "it lacks rank 1's i[0]"},
		{"packets in one half", right["gstorepkt"], false, `"use_double_scratch_buffer":true,`, "", plan.Race, "(gstorepkt)"},
		{"packets of what is none", right["gstorepkt"], false, `"src_buff":[` + local("s", 0) + `]`,
			`"src_buff":[` + local("i", 0) + `]`, plan.Deadlock, "packet rank 0 i["},
		{"packets that change", rewritten("1"), false, "", "", plan.Race, "(cpkt)"},
		{"packet not sent", right["ppkt, respkt, upkt"], false,
			move("ppkt", "memory", refs(local("i", 1)), refs(remote(1, 0))), nop, plan.Deadlock, "packet rank 1 s[0] is not written"},
		{"too many free slots", reused(9), false, nop, nop, plan.Race, "(copy)"},
		{"no release", right["semaphores"], false, release(0), nop, plan.Deadlock, "rank 0 semaphore 0 has 0 of 1 signals"},
		{"barrier for three", right["barrier"], true, `"num_threadblocks":2`, `"num_threadblocks":3`, plan.Deadlock,
			"barrier 3 at tb 0 has 1 of 2 signals"},
		{"barrier for one", right["barrier"], true, `"num_threadblocks":2`, `"num_threadblocks":1`, plan.IllFormed,
			"barrier 3 is for 1 thread blocks, and 2 use it"},
		{"source written before a flush", overwritten("pws"), false, "", "", plan.Race, "proxy of port channel 0 step 0 (pws)"},
		{"group of other blocks", right["group"], false, `"tb_id":0,"tbg_size":2`, `"tb_id":1,"tbg_size":2`,
			plan.Wrong, "rank 0 o[0] holds rank 0's i[0]; it must"},
		{"beyond scratch", right["put over memory"], false, local("s", 0), local("s", 2), plan.IllFormed,
			"reads bytes 32 to 48 of buffer s of rank 0, which has 32"},
		{"no chunks", right["rres"], false, `"index":0,"size":1`, `"index":0,"size":0`, plan.IllFormed, "0 chunks from 0 on have no bytes"},
		{"unequal chunks", right["rres"], true, `"output_chunks":2`, `"output_chunks":4`, plan.IllFormed, "want equal ones for all_reduce"},
		{"unknown collective", right["rres"], false, `"allreduce"`, `"mycoll"`, plan.NoPostcondition, "custom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.of.program(t)
			if c.old != c.new {
				p = change(c.of, t, c.both, c.old, c.new)
			}
			var all []plan.Finding
			for _, bytes := range p.Probes {
				j, findings := judgeAt(t, p, bytes)
				if j != nil {
					findings = j.Findings
				}
				all = append(all, findings...)
			}
			if !slices.ContainsFunc(all, func(f plan.Finding) bool { return f.Verdict == c.want && strings.Contains(f.Text, c.text) }) {
				t.Errorf("findings %v, want %v with %q", all, c.want, c.text)
			}
		})
	}
}

// overwritten puts a chunk over a port, and then writes to its source.
func overwritten(put string) text {
	return text{scratch: 2, blocks: only(func(r int) []string {
		return []string{move(put, "port", refs(local("i", 1-r)), refs(remote(1, 1-r))),
			move("copy", "", refs(local("i", r)), refs(local("i", 1-r))),
			sync("wait", "port")}
	})}
}

// A flush orders the copy of a port channel before later operations.
func TestFlushOrders(t *testing.T) {
	if v, why := overwritten("pwsf").verdicts(t); strings.Contains(v, "RACE") {
		t.Errorf("%s, want no RACE", why)
	}
}

// get takes each side's offset for the other's, as the executor does: with equal ones it is
// right, else it reads and writes elsewhere.
func TestGetSwapsOffsets(t *testing.T) {
	x := right["get, res"]
	swapped := text{scratch: 2, blocks: only(func(r int) []string {
		return join(meet("memory"), []string{move("get", "memory", refs(remote(0, r)), refs(local("s", 1-r))),
			move("res", "memory", refs(local("i", r), local("s", 1-r)), refs(local("i", r), remote(0, r)))}, meet("memory"))
	})}
	if v, why := x.verdicts(t); v != "[OK]" {
		t.Errorf("equal offsets: %s", why)
	}
	if v, why := swapped.verdicts(t); !strings.Contains(v, "UNDEFINED-READ") {
		t.Errorf("other offsets: %s %s, want UNDEFINED-READ", v, why)
	}
}

// Sizes need not be a multiple of the chunks.
func TestUnequalChunks(t *testing.T) {
	for name, x := range right {
		j, findings := judgeAt(t, x.program(t), 16*7)
		if j == nil {
			t.Errorf("%s: %v", name, findings)
			continue
		}
		// These put a chunk of 4 units where the plan has one of 3: it does not fit.
		shifts := strings.Contains(x.String(), "pkt")
		if j.OK() == shifts {
			t.Errorf("%s: %v %v", name, j.Verdicts, j.Findings)
		}
	}
	p := right["rres"].program(t)
	pl, _ := p.Plan(plan.Call{Bytes: 16 * 7, InPlace: true})
	if got := fmt.Sprint(pl.Ranks[0].Sizes[0]); got != "[64 48]" {
		t.Errorf("pieces of 7 units are %s bytes, want [64 48]", got)
	}
	if _, findings := p.Plan(plan.Call{Bytes: 8}); len(findings) != 1 ||
		!strings.Contains(findings[0].Text, "at least buffer_alignment, 16") {
		t.Errorf("8 bytes: %v", findings)
	}
	if _, findings := p.Plan(plan.Call{Bytes: 40}); len(findings) != 1 ||
		!strings.Contains(findings[0].Text, "buffer_alignment 16 does not divide") {
		t.Errorf("40 bytes: %v", findings)
	}
	if _, findings := p.Plan(plan.Call{Bytes: 4 << 30}); len(findings) != 1 || !strings.Contains(findings[0].Text, "32 bits") {
		t.Errorf("4 GiB: %v", findings)
	}
}

func TestPublicPlansVerify(t *testing.T) {
	for _, path := range publicPlans(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := Program(plan.File{Name: path, Data: data})
		if p == nil {
			continue // TestPublicPlansAreRead
		}
		for _, bytes := range p.Probes {
			pl, findings := p.Plan(plan.Call{Bytes: bytes, InPlace: p.Modes[0], Launches: 3})
			if pl == nil {
				t.Errorf("%s: %v", path, findings)
				continue
			}
			want := "[OK]"
			if filepath.Base(path) == "reduce_tbg.json" {
				// A thread block reads what another one of the peer has copied, and has no signal
				// of that one.
				want = "[RACE]"
			}
			if j := judge.Judge(pl); fmt.Sprint(j.Verdicts) != want || j.Right != j.Cells {
				t.Errorf("%s: %v, %d of %d right, %v; want %s", path, j.Verdicts, j.Right, j.Cells, j.Findings, want)
			}
		}
	}
}

// A semaphore may start with more units than anything acquires.
func TestGreatSemaphore(t *testing.T) {
	x := right["semaphores"]
	x.semaphores = `{"init_value":2147483647}`
	if v, why := x.verdicts(t); !strings.Contains(v, "RACE") {
		t.Errorf("%s %s, want RACE: no step waits for the release", v, why)
	}
}

// The size of a plan is checked before it is made.
func TestLargePlansAreRefused(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"pieces", `"allreduce"`, `"other"`, "input and output fall into more than"},
		{"iterations", `"unit_size":64`, `"unit_size":1`, "the executor counts them with 16 bits"},
	} {
		x := right["pipeline"]
		source := strings.Replace(x.String(), c.old, c.new, 1)
		if c.name == "pieces" {
			source = strings.ReplaceAll(source, `"output_chunks":2`, `"output_chunks":16777216`)
		}
		p, findings := Program(plan.File{Name: "t.json", Data: []byte(source)})
		if p == nil {
			t.Fatal(findings)
		}
		_, findings = p.Plan(plan.Call{Bytes: 1 << 28, InPlace: true})
		if len(findings) == 0 || !strings.Contains(findings[0].Text, c.want) {
			t.Errorf("%s: %v, want %q", c.name, findings, c.want)
		}
	}
}

func FuzzProgram(f *testing.F) {
	f.Add([]byte(`{"name":"a","collective":"alltoall","protocol":"LL","inplace":true,"gpus":[{"id":0,"input_chunks":1,"output_chunks":1,` +
		`"scratch_chunks":2,"threadblocks":[{"id":0,"ops":[{"name":"cpkt","src_buff":[{"type":"i","index":0,"size":1}],` +
		`"dst_buff":[{"type":"s","index":0,"size":1}]},{"name":"upkt","src_buff":[{"type":"s","index":0,"size":1}],` +
		`"dst_buff":[{"type":"o","index":0,"size":1}]}],"channels":[]}],"channels":[],"remote_buffers":[]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, found := Program(plan.File{Name: "fuzz.json", Data: data})
		if (p == nil) != (len(found) > 0) {
			t.Fatalf("program %v and findings %v", p, found)
		}
		if p == nil {
			return
		}
		for _, bytes := range append(p.Probes, 1<<16) {
			if pl, _ := p.Plan(plan.Call{Bytes: bytes, InPlace: p.Modes[0], Launches: 2}); pl != nil {
				judge.Judge(pl)
			}
		}
	})
}

// Packets that are written once more as they are do no harm to a reader.
func TestPacketsWrittenTwice(t *testing.T) {
	p := rewritten("0").program(t)
	pl, findings := p.Plan(plan.Call{Bytes: p.Probes[0], InPlace: false, Launches: 3})
	if pl == nil {
		t.Fatal(findings)
	}
	for _, f := range judge.Judge(pl).Findings {
		if f.Verdict == plan.Race && strings.Contains(f.Text, "cpkt") {
			t.Error(f)
		}
	}
}

// A packet of LL16 has 8 bytes of data, so it cannot carry chunks of 4. LL8 can.
func TestPacketTypes(t *testing.T) {
	x := right["ppkt, respkt, upkt"]
	x.top += `"buffer_alignment":4,`
	p := x.program(t)
	for _, c := range []struct {
		packet int
		want   plan.Verdict
	}{{0, plan.Wrong}, {8, plan.Wrong}, {4, plan.OK}} {
		pl, findings := p.Plan(plan.Call{Bytes: p.Probes[0], InPlace: true, Launches: 3, Packet: c.packet})
		if pl == nil {
			t.Fatal(findings)
		}
		if j := judge.Judge(pl); j.Verdicts[0] != c.want {
			t.Errorf("packets of %d bytes: %v %v, want %v", c.packet, j.Verdicts, j.Findings, c.want)
		}
	}
}

// The executor supports sums only. So sums are right for every reduce_op.
func TestReduceOpIsIgnored(t *testing.T) {
	x := right["rres"].String()
	for _, op := range []string{"sum", "max", "min", "nonsense"} {
		changed := strings.ReplaceAll(x, `{"name":"rres"`, `{"reduce_op":"`+op+`","name":"rres"`)
		p, findings := Program(plan.File{Name: "t.json", Data: []byte(changed)})
		if p == nil || changed == x {
			t.Fatalf("%s: %v", op, findings)
		}
		if j, more := judgeAt(t, p, p.Probes[0]); j == nil || !j.OK() {
			t.Errorf("%s: %v %v, want OK", op, j, more)
		}
	}
}

// A program knows its thread blocks of a rank: the barrier joins two.
func TestBlocksOfARank(t *testing.T) {
	for name, want := range map[string]int{"rres": 1, "barrier": 2} {
		if got := right[name].program(t).Blocks; got != want {
			t.Errorf("%s: %d thread blocks, want %d", name, got, want)
		}
	}
}
