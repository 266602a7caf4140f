package frontend_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/conf"
	"kernbench/frontend"
	"kernbench/frontend/plan"
	"kernbench/frontend/timing"
	"kernbench/internal/exhaustive"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/program/text"
	"kernbench/tl"
	"kernbench/unit"
)

// asXML exports a program as MSCCL XML.
func asXML(source string, channels int) (*frontend.Exported, error) {
	f, err := text.Parse("x.txt", []byte(source))
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, source)
	}
	for _, to := range frontend.Formats() {
		if to.Name == "msccl" {
			return to.Export(f, "x", frontend.ExportOptions{Channels: channels})
		}
	}
	panic("no format msccl")
}

// dgx returns a machine of eight GPUs.
func dgx(t *testing.T) *machine.Machine {
	t.Helper()
	data, _ := machine.PresetSource("dgx-h100")
	topo, err := conf.LoadTopology([]conf.Source{{Name: "dgx-h100", Data: data}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// timeOf returns the time of a call of a program, and its thread blocks.
func timeOf(t *testing.T, p *plan.Program, m *machine.Machine, bytes int64) (unit.Time, int) {
	t.Helper()
	proto := plan.Simple
	pl, _ := p.Plan(plan.Call{Bytes: bytes, InPlace: p.Modes[0], Protocol: &proto, Root: 1})
	r, err := timing.Run(pl, m, timing.Defaults(proto))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for i := range pl.Ranks {
		blocks += len(pl.Ranks[i].Blocks)
	}
	return r.Time, blocks
}

// read reads the program of a file.
func read(t *testing.T, name string, data []byte) *plan.Program {
	t.Helper()
	s := frontend.Source{Name: name, Dialect: frontend.DialectOf(data), Files: []plan.File{{Name: name, Data: data}}}
	p, findings := s.Read()
	if p == nil {
		t.Fatal(findings)
	}
	return p
}

// roundTrip makes a program with several blocks of a plan and exports it. It returns the program
// and the export. The program is "" if the plan does more than programs do.
func roundTrip(t *testing.T, p *plan.Program, name string, channels int) (string, *frontend.Exported, error) {
	t.Helper()
	pl, _ := p.Plan(plan.Call{Bytes: first(p.Probes), InPlace: p.Modes[0], Root: 1})
	source, ok := programOf(pl, name)
	if !ok {
		return "", nil, nil
	}
	x, err := asXML(source, channels)
	return source, x, err
}

func first(sizes []int64) int64 {
	if len(sizes) == 0 {
		return 0
	}
	return sizes[0]
}

// A file becomes a program whose ranks have several blocks, and that a file again. The second file
// is right. If it has as many thread blocks as the first, it takes as long.
func TestBlocksAreExported(t *testing.T) {
	m := dgx(t)
	same := 0
	for _, p := range rightPrograms {
		for channels := range 3 {
			name := fmt.Sprintf("%s, %d channels", p.algorithm, channels+1)
			x, err := exported(p.algorithm, p.ranks, channels+1)
			if err != nil {
				t.Fatal(err)
			}
			before := read(t, "x.xml", x.Files[0].Data)
			source, again, err := roundTrip(t, before, p.algorithm, 1)
			if err != nil || source == "" {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !again.Verdict.OK() {
				t.Errorf("%s: %v\n%s", name, again.Verdict.Findings, source)
				continue
			}
			after := read(t, "y.xml", again.Files[0].Data)
			whole, _ := before.Plan(plan.Call{InPlace: before.Modes[0], Root: 1})
			for _, each := range []int64{64, 1 << 16} { // chunks may be larger in the second file
				bytes := each * int64(whole.Larger())
				a, n := timeOf(t, before, m, bytes)
				b, k := timeOf(t, after, m, bytes)
				if n == k && a == b {
					same++
				}
				if n != k || a != b {
					t.Errorf("%s: %d thread blocks take %v for %d bytes, and exported again %d take %v", name, n, a, bytes, k, b)
				}
			}
		}
	}
	t.Logf("%d times are the same", same)
}

// The published plans become programs and files. The verdict on a file is that on its plan.
func TestPublishedPlansAreExported(t *testing.T) {
	folder := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no folder " + folder + " with published plans")
	}
	sources, _, err := frontend.Find(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		p, findings := s.Read()
		if p == nil {
			t.Logf("%s: not read: %v", s.Name, findings[0].Text)
			continue
		}
		want := frontend.Judge(&s, frontend.Options{}).Verdicts[0]
		source, x, err := roundTrip(t, p, "published", 1)
		switch {
		case source != "" && want == plan.Race: // kernbench export refuses it
			if got := run1(t, source); got != races {
				t.Errorf("%s is %v, as a program %v", s.Name, want, got)
			}
		case err != nil:
			t.Logf("%s: %v: %v", s.Name, want, err)
		case source == "":
			t.Logf("%s: %v: no program", s.Name, want)
		case x.Verdict.Verdicts[0] != want:
			t.Errorf("%s is %v, exported %v", s.Name, want, x.Verdict.Findings)
		default:
			t.Logf("%s: %v, as MSCCL XML too", s.Name, want)
		}
	}
}

// twoRings is an all_reduce of two ranks. Each of two blocks has half of the data and rings of its
// own to the same rank. A third block adds what the second received.
const twoRings = `kernbench program 1
algorithm two
collective all_reduce
operator sum
type f32
elements 4
results in place
world 2
slots 4 of 64 bytes
scratch 65536 bytes
window w0 128 bytes
part w0 staged f32[2] staging
window w1 128 bytes
part w1 done int64[3]
wire 0 E->1.W dim0->1.dim0
wire 1 E->0.W dim0->0.dim0

rank 0:2
  t0 = load data[0:2]
  send E t0
  t1 = recv W f32[2]
  t2 = add t0 t1
  store data[0:2] t2
rank 0:2 block 1
  t0 = load data[2:4]
  send dim0 t0
  recv dim0 w0.staged[0:2]
  pipe_barrier
  notify w1.done[1] set 1
rank 0:2 block 2
  wait_until w1.done[1] >= 1
  t0 = load w0.staged[0:2]
  t1 = load data[2:4]
  t2 = add t0 t1
  store data[2:4] t2
`

// Rings between the same two ranks, of different blocks, become channels. The wait of a block
// becomes the dependency of its first step.
func TestRingsOfBlocks(t *testing.T) {
	x, err := asXML(twoRings, 1)
	if err != nil || !x.Verdict.OK() || run1(t, twoRings) != right {
		t.Fatal(err, x)
	}
	for _, want := range []string{
		`<tb id="0" send="1" recv="1" chan="0">`, `<tb id="1" send="1" recv="1" chan="1">`, `<tb id="2" send="-1" recv="-1" chan="0">`,
		`type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="1" cnt="1" depid="1" deps="1"`,
	} {
		if !strings.Contains(string(x.Files[0].Data), want) {
			t.Errorf("no %s in\n%s", want, x.Files[0].Data)
		}
	}
}

// A program that cannot be exported is refused with the line.
func TestExportOfBlocksRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"t2 = add t0 t1\n  store data[2:4] t2", "t2 = max t0 t1\n  store data[2:4] t2",
			"x.txt:34: as msccl: rank 1 block 2, statement 3: it calculates max, and the collective's operation is sum"},
		{"set 1", "set 1\n  wait_until w1.done[2] >= 1", "x.txt:30: as msccl: rank 0 block 1 waits for ever at wait_until w1.done[2] >= 1"},
		{">= 1", ">= 2\n  notify w1.done[2] set 1", "x.txt:31: as msccl: rank 0 block 2 waits for ever at wait_until w1.done[1] >= 2; " +
			"rank 1 block 2 at wait_until w1.done[1] >= 2 of line 31"},
		{"recv dim0 w0.staged[0:2]", "recv dim0 w0.staged[0:1]",
			"x.txt:27: as msccl: rank 1 block 1, statement 2: it receives 1 elements, and the message has 2"},
		{"t1 = load data[2:4]\n  t2", "t1 = load data[2:3]\n  t2", "x.txt:34: as msccl: rank 1 block 2, statement 3: it adds 2 elements to 1"},
		{"load w0.staged[0:2]", "load w0.staged[0:2] as i32[2]", ""}, // add needs one type: not even read
		{"collective all_reduce", "collective gather", ""},
	} {
		_, err := asXML(strings.Replace(twoRings, c.old, c.new, 1), 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

// Programs of several blocks become traces that are right, too.
func TestBlocksAsTraces(t *testing.T) {
	for k, algorithm := range spreadable[:5] {
		f, err := run.Record(t.Context(), run.Spec{Algorithm: algorithm, Ranks: 4, NElem: 16})
		if err != nil {
			t.Fatal(err)
		}
		source := spread(f, rand.New(rand.NewPCG(31, uint64(k))))
		p, err := text.Parse("x.txt", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range frontend.Formats() {
			x, err := to.Export(p, "x", frontend.ExportOptions{})
			if err != nil || !x.Verdict.OK() {
				t.Errorf("%s as %s: %v, %+v", algorithm, to.Name, err, x)
			}
		}
	}
}

// outcome is the result of a run of a program on the mock executor.
type outcome uint8

const (
	right outcome = iota
	wrong         // it ends without a race, and its result is wrong
	races
	hangs
)

func run1(t testing.TB, source string) outcome {
	t.Helper()
	f, err := text.Parse("x.txt", []byte(source))
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	race := true
	r, err := run.OfProgram(t.Context(), run.Spec{Executor: "mock", VerifyData: true, Race: &race}, f)
	switch {
	case err != nil:
		return hangs
	case len(r.Hazards) > 0:
		return races
	case r.OK():
		return right
	}
	return wrong
}

// spread distributes the statements of a program with one block for a rank over several blocks. A
// tensor, and an end of a ring, stay in one block. If two statements of different blocks use the
// same memory, a control word keeps their order.
func spread(f *text.File, rng *rand.Rand) string {
	const most = 4
	var whole, b strings.Builder
	if err := f.Write(&whole); err != nil {
		panic(err)
	}
	head, _, _ := strings.Cut(whole.String(), "\n\nrank ")
	done := fmt.Sprintf("w%d.done", len(f.Windows))
	window := fmt.Sprintf("window w%d 128 bytes\npart %s int64[%d]\n", len(f.Windows), strings.Replace(done, ".", " ", 1), most)
	if at := strings.Index(head, "wire "); at >= 0 {
		head = head[:at] + window + head[at:]
	} else {
		head += "\n" + window
	}
	b.WriteString(head + "\n")
	for _, block := range f.Blocks {
		seat := seats(block, most, rng)
		var lines [most][]string
		for j := range block.Stmts {
			s, mine := &block.Stmts[j], &lines[seat[j]]
			last := [most]int{}
			for i := range j {
				if seat[i] != seat[j] && (conflict(&block.Stmts[i], s) || rng.IntN(200) == 0) {
					last[seat[i]] = i + 1
				}
			}
			for k, i := range last {
				if i > 0 {
					*mine = append(*mine, fmt.Sprintf("wait_until %s[%d] >= %d", done, k, i))
				}
			}
			*mine = append(*mine, f.Statement(block, j), "pipe_barrier", "quiet", fmt.Sprintf("notify %s[%d] set %d", done, seat[j], j+1))
		}
		for k := range lines {
			fmt.Fprintf(&b, "rank %d block %d\n  fence\n  %s\n", block.Ranks[0], k, strings.Join(lines[k], "\n  "))
		}
	}
	return b.String()
}

// seats returns the block of each statement.
func seats(b *text.Block, most int, rng *rand.Rand) []int {
	group := make([]int, len(b.Stmts)) // an earlier statement that shares the block, or itself
	find := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	made, ends := map[int32]int{}, map[string]int{}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		group[i] = i
		join := func(j int, is bool) {
			if is {
				group[find(i)] = find(j)
			}
		}
		for _, in := range s.In {
			if in.Tensor >= 0 {
				j, is := made[in.Tensor]
				join(j, is)
			}
		}
		end := ""
		switch s.Op {
		case text.Send, text.SendRef:
			end = "to " + s.Dir.String()
		case text.Recv, text.RecvTo, text.RecvAsync, text.Wait:
			end = "from " + s.Dir.String()
		}
		if end != "" {
			j, is := ends[end]
			join(j, is)
			ends[end] = i
		}
		if s.Dst >= 0 {
			made[s.Dst] = i
		}
	}
	chosen, out := map[int]int{}, make([]int, len(b.Stmts))
	for i := range out {
		g := find(i)
		if _, is := chosen[g]; !is {
			chosen[g] = rng.IntN(most)
		}
		out[i] = chosen[g]
	}
	return out
}

// conflict reports whether two statements use the same memory of the rank, and one writes it, or
// one reaches other ranks without a message.
func conflict(a, b *text.Stmt) bool {
	far := func(s *text.Stmt) bool { return s.Words != nil || s.Mem.Far || s.From.Far || s.Op >= text.Put }
	if far(a) || far(b) {
		return true
	}
	writes := func(s *text.Stmt) bool { return s.Op == text.Store || s.Op == text.RecvTo }
	x, y := &a.Mem, &b.Mem
	return (writes(a) || writes(b)) && x.Buffer != text.NoBuffer && x.Buffer == y.Buffer &&
		x.From.N < y.From.N+y.N && y.From.N < x.From.N+x.N
}

// spreadable are algorithms of which some have messages in several directions, and some have
// windows.
var spreadable = []string{"halving_doubling_allreduce", "binomial_broadcast", "tree_allreduce", "bidirectional_ring_allreduce",
	"chain_reduce", "direct_allreduce", "pairwise_all_to_all", "hierarchical_allreduce", "recursive_doubling_allreduce",
	"double_tree_allreduce", "direct_reduce_scatter", "bruck_allgather", "window_allreduce_onephase_push", "window_reduce_scatter_push",
	"window_all_to_all"}

// Algorithms whose statements are spread over blocks at random become files that are right. Mutants
// of them get the verdict of the program, unless it races or hangs. Then there is no file, or the
// mistake is in the program.
func TestSpreadProgramsAreExported(t *testing.T) {
	rounds := 1
	if exhaustive.On() {
		rounds = 10
	}
	var count [4]int
	blocks, channels := 0, 0
	for k, algorithm := range spreadable {
		for _, ranks := range []int{2, 3, 4, 8} {
			f, err := run.Record(t.Context(), run.Spec{Algorithm: algorithm, Ranks: ranks, NElem: 2 * ranks})
			if err != nil {
				continue // not for this number of ranks
			}
			for round := range rounds {
				rng := rand.New(rand.NewPCG(uint64(k), uint64(100*ranks+round)))
				source := spread(f, rng)
				if got := run1(t, source); got != right {
					t.Fatalf("%s, %d ranks: the program is %v\n%s", algorithm, ranks, got, source)
				}
				blocks += strings.Count(source, "block")
				x, err := asXML(source, 1+(k+round)%2)
				if err != nil || !x.Verdict.OK() {
					t.Fatalf("%s, %d ranks: %v, %v\n%s", algorithm, ranks, err, x, source)
				}
				if !strings.Contains(string(x.Files[0].Data), `nchannels="1"`) {
					channels++
				}
				mutants := 5
				if !exhaustive.On() && ranks == 8 {
					mutants = 2
				}
				for range mutants {
					m := mutantOf(source, rng)
					if p, err := text.Parse("x.txt", []byte(m)); err == nil && p.Runnable() == nil {
						count[sameVerdict(t, m)]++
					}
				}
			}
		}
	}
	t.Logf("%d blocks, %d files with several channels; mutants: %d right, %d wrong, %d race, %d hang", blocks, channels, count[right], count[wrong], count[races], count[hangs])
	if count[right] < 10 || count[wrong] < 10 || count[races] == 0 || count[hangs] < 10 {
		t.Error("too few to judge by")
	}
}

// sameVerdict exports a program and compares the verdict on the file with that on the program. A
// program that races or hangs has any file or none: the command line runs it before. An error names
// a line.
func sameVerdict(t *testing.T, source string) outcome {
	t.Helper()
	is := run1(t, source)
	x, err := asXML(source, 1)
	switch {
	case err != nil && !strings.Contains(err.Error(), "x.txt:"):
		t.Fatalf("an error without a place: %v\n%s", err, source)
	case err != nil && is == right:
		t.Fatalf("refused: %v\n%s", err, source)
	case err == nil && is <= wrong && x.Verdict.OK() != (is == right):
		t.Fatalf("the program is %v, the file has %v\n%s\n%s", is, x.Verdict.Findings, source, x.Files[0].Data)
	}
	return is
}

// mutantOf changes a line of a program, or leaves out the waits of a block.
func mutantOf(source string, rng *rand.Rand) string {
	lines := strings.Split(source, "\n")
	var moves, blocks []int // lines that move data, and lines that begin a block
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "rank "):
			blocks = append(blocks, i)
		case strings.HasPrefix(l, "  ") && strings.Contains(l, "[") && !strings.Contains(l, "notify") && !strings.Contains(l, "wait"):
			moves = append(moves, i)
		}
	}
	i := moves[rng.IntN(len(moves))]
	switch rng.IntN(4) {
	case 0:
		lines[i] = "  fence"
	case 1:
		for i = blocks[rng.IntN(len(blocks))] + 1; i < len(lines) && !strings.HasPrefix(lines[i], "rank "); i++ {
			if strings.Contains(lines[i], "wait_until") {
				lines[i] = "  fence"
			}
		}
	default:
		at := strings.IndexAny(lines[i], "[")
		lines[i] = lines[i][:at+1] + strconv.Itoa(rng.IntN(4)) + lines[i][min(at+2, len(lines[i])):]
	}
	return strings.Join(lines, "\n")
}

// FuzzExportOfBlocks exports programs of any kind. It must not panic or hang, and the verdict on
// the file is that on the program.
func FuzzExportOfBlocks(f *testing.F) {
	for k, algorithm := range []string{"halving_doubling_allreduce", "window_allreduce_onephase_push", "bidirectional_ring_allreduce"} {
		p, err := run.Record(f.Context(), run.Spec{Algorithm: algorithm, Ranks: 2, NElem: 4})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(spread(p, rand.New(rand.NewPCG(29, uint64(k)))))
	}
	f.Fuzz(func(t *testing.T, source string) {
		p, err := text.Parse("x.txt", []byte(source))
		if err != nil || p.Runnable() != nil || p.World > 4 || p.Elems > 64 || p.Results > 64 || len(source) > 1<<14 ||
			p.Slots > 16 || p.SlotBytes > 1<<13 || p.Scratch > 1<<20 || len(p.Windows) > 2 {
			return
		}
		for _, w := range p.Windows {
			if w.Bytes > 1<<12 {
				return
			}
		}
		if c, err := collective.Lookup(p.Collective); err != nil || !c.Reduces && p.Collective != "all_gather" || p.Op == tl.Avg {
			return
		}
		sameVerdict(t, source)
	})
}
