package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// Scenarios are small programs with the times that come out, so that a reviewer sees what a change
// of timing does. A script has one statement a line; # begins a comment.
//
//	world 4 elements=64 slots=2 slot_bytes=512 topology=ring_1d buffer=hbm sets=KEY=VALUE,...
//	rank 0: send E, recv W, add, store
//	all: ...                            the ranks without a line of their own
//
// A rank has a vector of its own from the start. "send D" sends the vector, "forward D" the last
// received one. "recv D" takes a message, "add" adds the last received one to the vector, and
// "store" writes the vector to memory. These ask, and what they answer stands below them, up to an
// empty line:
//
//	time        when the last rank ended, and when each call returned
//	pointers    of the rings, as the launch leaves them
//	messages    how many there were, and their bytes
//	deadlock    the report of one
//
// go test ./exec/sim -run Scenarios -update writes the answers anew.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := playScript(t, string(text))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("%s (-script +what comes out; -update takes it over):\n%s", file,
					cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")))
			}
		})
	}
}

// scenario is a script as far as it has been read.
type scenario struct {
	setup
	programs map[int][]string // by rank; -1: of all others
	outcome  *scenarioOutcome // nil: not run yet
}

// scenarioOutcome holds the results of a scenario.
type scenarioOutcome struct {
	result          *launch.Result
	err             error
	calls, pointers bytes.Buffer
}

// playScript runs a script, and returns it with the answers that come out.
func playScript(t *testing.T, script string) (string, error) {
	t.Helper()
	var out strings.Builder
	s := &scenario{}
	answers := false // what is read is an old answer
	for n, line := range strings.Split(strings.TrimRight(script, "\n"), "\n") {
		word := strings.TrimSpace(line)
		if answers && word != "" {
			continue
		}
		answers = false
		fmt.Fprintln(&out, line)
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		answer, asks, err := s.statement(t, word)
		if err != nil {
			return "", fmt.Errorf("line %d: %w", n+1, err)
		}
		if answers = asks; asks {
			out.WriteString(answer)
		}
	}
	return out.String(), nil
}

// statement carries out a line. It reports whether the line is a query.
func (s *scenario) statement(t *testing.T, line string) (answer string, asks bool, err error) {
	t.Helper()
	if who, program, ok := strings.Cut(line, ":"); ok {
		rank := -1
		if who != "all" {
			if rank, err = strconv.Atoi(strings.TrimPrefix(who, "rank ")); err != nil {
				return "", false, fmt.Errorf("found %q, want all or rank N before the colon", who)
			}
		}
		return "", false, s.program(rank, program)
	}
	words := strings.Fields(line)
	if words[0] == "world" {
		return "", false, s.world(words[1:])
	}
	ask, ok := map[string]func(*scenarioOutcome) (string, error){
		"time": (*scenarioOutcome).time, "pointers": (*scenarioOutcome).ringPointers,
		"messages": (*scenarioOutcome).messages, "deadlock": (*scenarioOutcome).deadlock,
	}[line]
	if !ok {
		return "", false, fmt.Errorf("found %q, want world, all:, rank N:, time, pointers, messages or deadlock", line)
	}
	if s.programs == nil {
		return "", false, fmt.Errorf("%s asks, but no rank has a program", line)
	}
	if s.outcome == nil {
		s.outcome = s.run(t)
	}
	answer, err = ask(s.outcome)
	return answer, true, err
}

// world begins a new scenario.
func (s *scenario) world(words []string) (err error) {
	*s = scenario{setup: setup{n: 8}}
	if len(words) == 0 {
		return errors.New("want world N")
	}
	if s.setup.world, err = strconv.Atoi(words[0]); err != nil || s.setup.world < 1 {
		return fmt.Errorf("found %q, want a number of ranks", words[0])
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		number, nerr := strconv.Atoi(value)
		switch key {
		case "elements":
			s.n, err = number, nerr
		case "slots":
			s.slots, err = number, nerr
		case "slot_bytes":
			s.slotBytes, err = int64(number), nerr
		case "topology":
			s.topology = value
		case "buffer":
			s.space = map[string]mem.Space{"tcm": mem.TCM, "hbm": mem.HBM, "sram": mem.SRAM}[value]
		case "sets":
			s.sets = strings.Split(value, ",")
		default:
			err = fmt.Errorf("found %q, want elements, slots, slot_bytes, topology, buffer or sets", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var operation = regexp.MustCompile(`^(send|forward|recv) (\S+)$|^(add|store)$`)

// program reads what a rank does.
func (s *scenario) program(rank int, text string) error {
	if s.programs == nil {
		s.programs = map[int][]string{}
	}
	s.programs[rank], s.outcome = []string{}, nil
	for step := range strings.SplitSeq(text, ",") {
		m := operation.FindStringSubmatch(strings.TrimSpace(step))
		if m == nil {
			return fmt.Errorf("found %q, want send D, forward D, recv D, add or store", step)
		}
		if m[2] != "" {
			if _, err := tl.ParseDir(m[2]); err != nil {
				return err
			}
		}
		s.programs[rank] = append(s.programs[rank], m[0])
	}
	return nil
}

// kernel performs the program of its rank.
func (s *scenario) kernel(c *tl.Context, a tl.Args) {
	steps, ok := s.programs[c.Rank()]
	if !ok {
		steps = s.programs[-1]
	}
	mine := a.Shard(c.Rank())
	v := c.Load(mine)
	last := v
	for _, step := range steps {
		what, name, _ := strings.Cut(step, " ")
		d := tl.AnyDir
		if name != "" {
			d, _ = tl.ParseDir(name) // which program has checked
		}
		switch what {
		case "send":
			c.Send(d, v)
		case "forward":
			c.Send(d, last)
		case "recv":
			last = c.Recv(d, v.Shape(), v.DType())
		case "add":
			v = c.Add(v, last)
		case "store":
			c.Store(mine, v)
		}
	}
}

func (s *scenario) run(t *testing.T) *scenarioOutcome {
	t.Helper()
	b, o := newBench(t, s.kernel, s.setup), &scenarioOutcome{}
	calls := trace.NewCCL(&o.calls, b.m.PEName, true)
	o.result, o.err = b.run(sim.Options{Trace: calls, Pointers: &o.pointers})
	if err := calls.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *scenarioOutcome) time() (string, error) {
	if o.err != nil {
		return "", o.err
	}
	return fmt.Sprintf("%v\n%s", o.result.Duration(), o.calls.String()), nil
}

func (o *scenarioOutcome) ringPointers() (string, error) { return o.pointers.String(), o.err }

func (o *scenarioOutcome) messages() (string, error) {
	if o.err != nil {
		return "", o.err
	}
	return fmt.Sprintf("%d, %d bytes\n", o.result.Messages, o.result.Bytes), nil
}

// kernelLine is the source line of the kernel of all scenarios.
var kernelLine = regexp.MustCompile(`sim/scenario_test\.go:\d+`)

func (o *scenarioOutcome) deadlock() (string, error) {
	if _, ok := errors.AsType[*fault.Deadlock](o.err); !ok {
		return "", fmt.Errorf("the launch ended with %v, want a deadlock", o.err)
	}
	text := kernelLine.ReplaceAllString(o.err.Error(), "the scenario")
	return strings.TrimRight(text, "\n") + "\n", nil
}

// Scripts that cannot be are refused, with their line.
func TestScenarioMistakes(t *testing.T) {
	for script, want := range map[string]string{
		"world":                              "line 1: want world N",
		"world x":                            `line 1: found "x"`,
		"world 2 slot=1":                     `line 1: found "slot"`,
		"world 2\nall: sent E":               `line 2: found " sent E"`,
		"world 2\nall: send X9":              "line 2: ",
		"world 2\nrnk 1: store":              `line 2: found "rnk 1"`,
		"world 2\ntime":                      "line 2: time asks",
		"world 2\nall: store\ndeadlock":      "line 3: the launch ended with",
		"world 2\nall: recv W\ntime":         "line 3: deadlock",
		"world 2\nall: store\nwhat is this?": "line 3: found",
	} {
		if _, err := playScript(t, script); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
	}
}
