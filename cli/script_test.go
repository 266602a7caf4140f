package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/internal/exhaustive"
	_ "kernbench/internal/fewcollections"
	"kernbench/tl"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kernbench": func() { os.Exit(Main(os.Args[1:])) },
		"mine":      mine,
	})
}

// mine is a user's program: kernbench with two more algorithms. One is wrong: it forwards its sum
// instead of the received data, so contributions count twice. The other one reads values at run
// time.
func mine() {
	algorithm.Register(algorithm.Algorithm{
		Name: "greedy", Summary: "sends the sum on", Collective: "all_reduce", Topology: "ring_1d",
		Kernel: func(c *tl.Context, a tl.Args) {
			acc := c.Load(a.Shard(c.Rank()))
			for range c.WorldSize() - 1 {
				c.Send(tl.East, acc)
				acc = c.Combine(a.Op, acc, c.Recv(tl.West, acc.Shape(), acc.DType()))
			}
			c.Store(a.Shard(c.Rank()), acc)
		},
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "curious", Summary: "takes from whoever comes first", Collective: "all_reduce", Topology: "ring_1d",
		Kernel: func(c *tl.Context, a tl.Args) {
			acc := c.Load(a.Shard(c.Rank()))
			c.Send(tl.East, acc)
			c.Recv(tl.AnyDir, acc.Shape(), acc.DType())
		},
	})
	for name, k := range map[string]tl.Kernel{
		"spin": func(c *tl.Context, a tl.Args) {
			for c.Load(a.Shard(c.Rank())); c.Rank() == 2; {
			}
		},
		"ping_pong": pingPong,
		"interrupt": func(c *tl.Context, a tl.Args) {
			interrupt()
			pingPong(c, a)
		},
		"interrupt_spin": func(*tl.Context, tl.Args) {
			for interrupt(); ; {
			}
		},
	} {
		algorithm.Register(algorithm.Algorithm{Name: name, Collective: "all_reduce", Topology: "ring_1d", Kernel: k})
	}
	os.Exit(Main(os.Args[1:]))
}

// pingPong does not end.
func pingPong(c *tl.Context, a tl.Args) {
	x := c.Load(a.Shard(c.Rank()))
	for {
		c.Send(tl.East, x)
		c.Free(c.Recv(tl.West, x.Shape(), x.DType()))
	}
}

// interrupt is the first Ctrl-C.
func interrupt() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(os.Interrupt)
	}
	if err != nil {
		panic(err)
	}
}

func TestScripts(t *testing.T) { scripts(t, "script", false) }

// TestNewProjectScript has a script of its own, so that the step exhaustive of .ci/run leaves out
// the other scripts.
func TestNewProjectScript(t *testing.T) { scripts(t, "new_project", exhaustive.On()) }

// scripts runs the scripts of a folder of testdata.
func scripts(t *testing.T, dir string, all bool) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	caches := map[string]string{"GOCACHE": goEnv("GOCACHE"), "GOMODCACHE": goEnv("GOMODCACHE")} // a script's home is empty
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", dir),
		Setup: func(e *testscript.Env) error {
			e.Setenv("CHECKOUT", root)
			for name, folder := range caches {
				e.Setenv(name, folder)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "exhaustive":
				return all, nil
			case "largepages":
				return asksForLargePages(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// asksForLargePages reports whether commands that simulate ask for large pages on this system.
func asksForLargePages() bool {
	policy, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err == nil && !strings.HasPrefix(string(policy), "2") && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return string(out[:max(0, len(out)-1)])
}

// exits runs a command that must end with the given status: "exits 2 kernbench run".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARGUMENT]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
