package device_test

import (
	"errors"
	"slices"
	"testing"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/exec/mock"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
)

// openRow makes a context whose executor has some capabilities only.
func openRow(t *testing.T, x exec.Executor, cs ...exec.Capability) *device.Context {
	t.Helper()
	top, err := conf.LoadTopology(nil, small)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	c, err := device.New(device.Config{Machine: m, Executor: x, Row: &exec.Row{Name: "some", Capabilities: cs}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A feature that an executor lacks is refused by its name, before the executor is called.
func TestExecutorsThatLackSomething(t *testing.T) {
	nothing := func(*tl.Context, tl.Args) {}
	withTasks := func(c *device.Context) error {
		s, err := c.NewStream(0)
		if err != nil {
			return err
		}
		return s.Launch("post", nothing, device.Grid{Programs: 1, Engine: true})
	}
	for _, x := range []struct {
		name string
		has  []exec.Capability
		do   func(c *device.Context) error
		want exec.Capability
	}{
		{"algorithm over a window", nil, func(c *device.Context) error {
			_, err := c.InstallIPCQ("window_allreduce_onephase")
			return err
		}, exec.OneSided},
		{"team", nil, func(c *device.Context) error {
			_, err := c.NewTeam("all", []int32{0, 1})
			return err
		}, exec.OneSided},
		{"stream", []exec.Capability{exec.Tasks}, withTasks, exec.Streams},
		{"tasks", []exec.Capability{exec.Streams}, withTasks, exec.Tasks},
	} {
		err := x.do(openRow(t, mock.New(mock.Options{}), x.has...))
		missing, ok := errors.AsType[*exec.Missing](err)
		if !ok || missing.Executor != "some" || !slices.Equal(missing.Capabilities, []exec.Capability{x.want}) {
			t.Errorf("%s: %v, want that %v is missing", x.name, err, x.want)
		}
		if err := x.do(openRow(t, mock.New(mock.Options{}), append(x.has, x.want)...)); err != nil {
			t.Errorf("%s, with %v: %v", x.name, x.want, err)
		}
	}
}

// A context without an executor makes plans and launches nothing.
func TestPlansWithoutExecutor(t *testing.T) {
	c := openRow(t, nil, exec.OneSided, exec.Streams)
	if p, err := c.InstallIPCQ("ring_allreduce"); err != nil || p.World != 16 {
		t.Fatalf("%+v, %v", p, err)
	}
	if c.HasData() {
		t.Error("a context without an executor has data")
	}
	nothing := func(*tl.Context, tl.Args) {}
	if _, err := c.LaunchKernel(t.Context(), "nothing", nothing); !errors.Is(err, device.ErrLaunch) {
		t.Errorf("launch: %v, want %v", err, device.ErrLaunch)
	}
	s, err := c.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Launch("nothing", nothing, device.Grid{Programs: 1}); err != nil {
		t.Fatal(err)
	}
	if err := c.Synchronize(t.Context()); !errors.Is(err, device.ErrStream) {
		t.Errorf("synchronize: %v, want %v", err, device.ErrStream)
	}
	team, err := c.NewTeam("all", []int32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.NewWindow("w", team, 0, mem.Buffer{Name: "b", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 1)}}); err != nil {
		t.Fatal(err)
	}
}
