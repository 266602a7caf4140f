package text_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/lab/run"
	"kernbench/program/text"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// spec is a run of an algorithm as TestProgramRoundTrip varies it; ok is false if the algorithm
// does not support it.
func programSpec(t *testing.T, a *algorithm.Algorithm, ranks, turn int) (s run.Spec, ok bool) {
	t.Helper()
	what, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	s = run.Spec{
		Algorithm: a.Name, Ranks: ranks, NElem: []int{1, 13, 32}[turn%3], DType: dtype.Types()[turn%len(dtype.Types())],
		VerifyData: true, Sets: small,
	}
	if what.Blocks {
		s.NElem *= ranks
	}
	if what.Reduces {
		s.Op = tl.ReduceOps()[turn%len(tl.ReduceOps())]
	}
	return s, a.Check == nil || a.Check(ranks, s.NElem) == nil
}

// small is a machine of 16 PEs.
var small = []string{"system.sips.count=1", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1"}

var place = regexp.MustCompile(`\S+:\d+`)

// outcomeOf returns what a run and that of its program must have in common.
func outcomeOf(t *testing.T, r *run.Result) string {
	t.Helper()
	r.Spec, r.Bench, r.Topology, r.Report, r.Events = run.Spec{}, "", "", nil, 0
	for i := range r.Simulation { // the line of an operation that needs events
		r.Simulation[i] = place.ReplaceAllString(r.Simulation[i], "LINE")
	}
	r.WallTime, r.EventsPerSecond, r.NsPerMessage = 0, 0, 0
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestProgramRoundTrip: a recorded algorithm is read back from its text and its JSON, with classes
// and without. It runs with the verdicts and times of the algorithm.
func TestProgramRoundTrip(t *testing.T) {
	turn, ran := 0, 0
	for i, a := range algorithm.All() {
		for ranks := 1; ranks <= 16; ranks++ {
			if !exhaustive.On() && (5*i+ranks)%16%6 > 0 {
				continue
			}
			turn++
			s, ok := programSpec(t, a, ranks, turn)
			if !ok {
				continue
			}
			f, err := run.Record(t.Context(), s)
			if err != nil {
				if _, rerr := run.Run(t.Context(), s); rerr != nil {
					continue // the algorithm cannot either
				}
				t.Fatalf("%s, %d ranks: %v", a.Name, ranks, err)
			}
			name := fmt.Sprintf("%s, %d ranks, %d %v %v", a.Name, ranks, s.NElem, s.DType, s.Op)
			read := readsBack(t, name, f)
			for k, x := range []string{"mock", "sim"} {
				if !exhaustive.On() && (turn+k)%2 > 0 {
					continue
				}
				race := turn%3 == 0
				s.Executor, s.Race = x, &race
				runsSame(t, name+" on "+x, s, read)
				ran++
			}
		}
	}
	if ran < 100 {
		t.Errorf("%d runs: too few to judge it by", ran)
	}
}

// TestFileSaysWhatIsRun: slots, windows, types of partial sums, the root and the operator are those
// of the file, for any settings of the run.
func TestFileSaysWhatIsRun(t *testing.T) {
	for _, tt := range []struct {
		s    run.Spec
		sets string
	}{
		{run.Spec{Algorithm: "ring_allreduce", Ranks: 4, NElem: 100}, "defaults.n_slots=2,defaults.slot_size=64"},
		{run.Spec{Algorithm: "ring_allreduce", Ranks: 5, NElem: 33, DType: dtype.BF16}, "defaults.accumulate=f32"},
		{run.Spec{Algorithm: "window_allreduce_onephase", Ranks: 3, NElem: 33, DType: dtype.BF16, Op: tl.Avg}, "defaults.accumulate=f32"},
		{run.Spec{Algorithm: "window_broadcast", Ranks: 4, NElem: 9, Options: map[string]string{"root": "2"}}, "defaults.n_slots=5"},
		{run.Spec{Algorithm: "pipelined", Ranks: 4, NElem: 999},
			"algorithms.pipelined.module=chain_broadcast,algorithms.pipelined.chunk_size=128"},
	} {
		for _, x := range []string{"mock", "sim"} {
			s := tt.s
			s.Sets, s.VerifyData, s.Executor = append(slices.Clone(small), strings.Split(tt.sets, ",")...), true, x
			f, err := run.Record(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			name := s.Algorithm + " on " + x
			read := readsBack(t, name, f)
			runsSame(t, name, s, read)
			runsSame(t, name, s, read, "defaults.n_slots=7", "defaults.accumulate=f32")
		}
	}
}

// TestChannelsAreInTheProgram: a kernel that names the channels of its messages has the time of its
// program. It is longer than at the rate of the links.
func TestChannelsAreInTheProgram(t *testing.T) {
	for _, machine := range []struct {
		topology string
		sets     []string
		ranks    int
	}{
		{"dgx-h100", nil, 8},
		{"dgx-b200", []string{"system.nodes.count=2"}, 16},
	} {
		for _, algorithm := range []string{"ring_sendrecv", "linear_gather", "linear_scatter", "pairwise_all_to_all"} {
			for _, x := range []string{"mock", "sim"} {
				s := run.Spec{
					Topology: machine.topology, Sets: machine.sets, Algorithm: algorithm, NElem: machine.ranks << 10,
					DType: dtype.F32, VerifyData: true, Executor: x,
				}
				f, err := run.Record(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s on %s and %s", algorithm, machine.topology, x)
				if !bytes.Contains(textOf(t, f), []byte(" channels ")) {
					t.Errorf("%s: no message names its channels", name)
				}
				runsSame(t, name, s, readsBack(t, name, f))
				if x == "mock" || machine.sets != nil { // cards of nodes limit some of them
					continue
				}
				with, without := timeOf(t, s), timeOf(t, s, "software.channels.p2p.count=0")
				if with <= without {
					t.Errorf("%s: %v through channels, %v at the rate of the links", name, with, without)
				}
			}
		}
	}
}

// TestNoChannelsWithoutARate: where the machine gives channels no rate, or has none, a program
// names none.
func TestNoChannelsWithoutARate(t *testing.T) {
	for _, key := range []string{"software.blocks.copy_gbs=0", "software.channels.p2p.count=0"} {
		s := run.Spec{
			Topology: "dgx-h100", Sets: []string{key}, Algorithm: "ring_sendrecv",
			NElem: 1 << 10, DType: dtype.F32, Executor: "sim",
		}
		f, err := run.Record(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if text := textOf(t, f); bytes.Contains(text, []byte(" channels ")) {
			t.Errorf("%s: channels without effect:\n%s", key, text)
		}
	}
}

// timeOf returns the simulated time of a run with further settings.
func timeOf(t *testing.T, s run.Spec, sets ...string) unit.Time {
	t.Helper()
	s.Sets = append(slices.Clone(s.Sets), sets...)
	r, err := run.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r.SimulatedTime
}

// readsBack checks the forms of a file, and returns what one of them reads as.
func readsBack(t *testing.T, name string, f *run.ProgramFile) *run.ProgramFile {
	t.Helper()
	plain := textOf(t, f)
	again, err := text.Parse("x.txt", plain)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, plain)
	}
	if d := cmp.Diff(string(plain), string(textOf(t, again))); d != "" {
		t.Fatalf("%s: the text reads as another\n%s", name, d)
	}
	var j bytes.Buffer
	if err := f.WriteJSON(&j); err != nil {
		t.Fatal(err)
	}
	fromJSON, err := text.Parse("x.json", j.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if d := cmp.Diff(string(plain), string(textOf(t, fromJSON))); d != "" {
		t.Fatalf("%s: the JSON reads as another\n%s", name, d)
	}
	f.Classes()
	classes := textOf(t, f)
	joined, err := text.Parse("x.txt", classes)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, classes)
	}
	var all bytes.Buffer
	for r := range f.World { // each rank alone has what it had
		one := joined.Only(r)
		if r == 0 {
			all.Write(textOf(t, one))
			continue
		}
		if _, block, ok := bytes.Cut(textOf(t, one), []byte("\n\n")); ok {
			all.WriteByte('\n')
			all.Write(block)
		}
	}
	if d := cmp.Diff(string(plain), all.String()); d != "" {
		t.Fatalf("%s: ranks of classes have other operations\n%s\n%s", name, d, classes)
	}
	return joined
}

// runsAlike runs a spec, and a program in its place.
func runsSame(t *testing.T, name string, s run.Spec, f *run.ProgramFile, sets ...string) {
	t.Helper()
	want, err := run.Run(t.Context(), s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !want.OK() {
		t.Fatalf("%s: %+v", name, want.Verdicts)
	}
	machine := small
	if s.Topology != "" {
		machine = s.Sets
	}
	got, err := run.OfProgram(t.Context(), run.Spec{
		Topology: s.Topology, Sets: append(slices.Clone(machine), sets...), VerifyData: s.VerifyData, Executor: s.Executor, Race: s.Race,
	}, f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if d := cmp.Diff(outcomeOf(t, want), outcomeOf(t, got)); d != "" {
		t.Fatalf("%s: the program comes to another result\n%s", name, d)
	}
}
