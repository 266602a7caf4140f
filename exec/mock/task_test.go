package mock_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// engines gives each device a communication engine.
func (d *devices) engines() { d.b.Engine = &launch.Engine{Scratch: 1 << 10} }

// task is one for the communication engine, of rank 1 in a world of 7.
func (d *devices) task(name string, queue int, k func(c *tl.Context, flags tl.Signal)) *tl.Task {
	return &tl.Task{Name: name, Queue: queue, Rank: 1, World: 7, Kernel: func(c *tl.Context, a tl.Args) { k(c, c.Signals(d.w, "flags")) }}
}

// member returns the number of the device that a kernel is on.
func member(c *tl.Context, d *devices) int {
	m, _ := c.TeamRank(d.w.Team)
	return m
}

// lineNumber matches line numbers, which change whenever a test above moves.
var lineNumber = regexp.MustCompile(`(_test\.go:)\d+:`)

// element returns one of the numbers of a device.
func element(c *tl.Context, pe, i int) tl.Ref {
	return c.Ref(mem.At(mem.HBM, pe, int64(4*i)), tl.Dims(1), dtype.I32)
}

// Tasks of a queue are performed one after the other in the order in which they were posted. A
// launch ends after all tasks that its programs have posted, awaited or not.
func TestTasksInOrder(t *testing.T) {
	var order []string
	everySeed(t, 2, func(d *devices) {
		order = nil
		d.engines()
		running := 0
		note := func(i int) *tl.Task {
			return d.task("note", 1, func(c *tl.Context, flags tl.Signal) {
				if c.Rank() != 1 || c.WorldSize() != 7 || member(c, d) != 1 || c.CoreType() != tl.CoreAny {
					panic("who am I?")
				}
				if running++; running > 1 {
					panic("two tasks of a queue at a time")
				}
				for range 5 {
					c.FetchAdd(flags.At(0), 0, 1) // others may come between
				}
				running--
				order = append(order, fmt.Sprint(i))
			})
		}
		d.on(1, d.launch(1, 1, 1, func(c *tl.Context, flags tl.Signal) {
			for i := range 3 {
				c.Post(note(i))
			}
		}), d.launch(1, 1, 1, func(c *tl.Context, flags tl.Signal) {
			order = append(order, "next launch")
			c.WaitUntil(flags.At(1), tl.EQ, 0)
		}))
	}, func(d *devices, r *launch.Result) {
		if want := []string{"0", "1", "2", "next launch"}; !slices.Equal(order, want) {
			t.Errorf("ran in the order %v, want %v", order, want)
		}
		if d := cmp.Diff([]tl.Traffic{{Rank: 1, Atomics: 15, Waits: 1}}, r.Traffic); d != "" {
			t.Error(d)
		}
	})
}

// Queues go side by side: a task of one may wait for a task of the other that was posted later.
// So do the programs that post.
func TestQueuesInterleave(t *testing.T) {
	orders := map[string]bool{}
	var order []string
	everySeed(t, 1, func(d *devices) {
		order = nil
		d.engines()
		d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
			c.Post(d.task("waits", 0, func(c *tl.Context, flags tl.Signal) {
				c.WaitUntil(flags.At(0), tl.EQ, 1)
				order = append(order, "waits")
			}))
			c.Post(d.task("tells", 1, func(c *tl.Context, flags tl.Signal) {
				c.WaitUntil(flags.At(1), tl.EQ, 1)
				order = append(order, "tells")
				c.Notify(flags.At(0), 0, tl.SignalAdd, 1)
			}))
			c.Notify(flags.At(1), 0, tl.SignalAdd, 1)
			for range 5 {
				c.FetchAdd(flags.At(2), 0, 1)
			}
			order = append(order, "program")
		}))
	}, func(d *devices, r *launch.Result) {
		if len(order) != 3 || slices.Index(order, "tells") > slices.Index(order, "waits") {
			t.Errorf("ran in the order %v", order)
		}
		orders[fmt.Sprint(order)] = true
	})
	if len(orders) != 3 {
		t.Errorf("the schedules have the orders %v, want each place of the program among the tasks", orders)
	}
}

// A program that awaits a task goes on after it, and one that does not need not.
func TestAwaitTask(t *testing.T) {
	early := 0
	everySeed(t, 1, func(d *devices) {
		d.engines()
		d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
			double := func(i int) tl.Handle {
				return c.Post(d.task("double", 0, func(c *tl.Context, flags tl.Signal) {
					x := c.Load(element(c, 0, i))
					c.Store(element(c, 0, i), c.Add(x, x))
				}))
			}
			c.Store(element(c, 0, 3), c.Full(tl.Dims(1), dtype.I32, 21))
			first, second := double(3), double(4)
			if c.LoadScalar(flags.At(0)) == 0 {
				c.Store(element(c, 0, 5), c.Load(element(c, 0, 4))) // before the second task, or after it
			}
			c.Await(second)
			c.Store(element(c, 0, 4), c.Load(element(c, 0, 4)))
			c.Await(first) // over long since
		}))
	}, func(d *devices, r *launch.Result) {
		v := d.vector(0)
		if v[3] != 42 || v[4] != 8 || v[5] != 4 && v[5] != 8 {
			t.Errorf("the program left %v", v)
		}
		if v[5] == 4 {
			early++
		}
	})
	if early == 0 || early == 40 {
		t.Errorf("in %d of 40 schedules the program is ahead of the task", early)
	}
}

// Programs of a grid, and grids on several devices, share the queues of their own device.
func TestProgramsPost(t *testing.T) {
	everySeed(t, 2, func(d *devices) {
		d.engines()
		for pe := range 2 {
			for stream := range 2 {
				d.on(pe, d.launch(pe, 4, 2, func(c *tl.Context, flags tl.Signal) {
					h := c.Post(d.task("count", stream, func(c *tl.Context, flags tl.Signal) {
						if member(c, d) != pe {
							panic("on another PE")
						}
						i := flags.At(0)
						c.Notify(i, pe, tl.SignalSet, c.LoadScalar(i)+1)
						c.Fence()
						c.Notify(flags.At(1), 1-pe, tl.SignalAdd, 1)
					}))
					if c.ProgramID(0)%2 == 0 {
						c.Await(h)
					}
				}))
			}
		}
	}, func(d *devices, r *launch.Result) {
		if d.word(0, 1) != 8 || d.word(1, 1) != 8 {
			t.Errorf("%d and %d tasks have notified, want 8", d.word(0, 1), d.word(1, 1))
		}
		for _, tr := range r.Traffic {
			if tr.Notifies != 16 {
				t.Errorf("rank %d: %d notifications, want those of 8 tasks", tr.Rank, tr.Notifies)
			}
		}
	})
}

// A task that looks at a word again and again waits, as programs do.
func TestTaskPolls(t *testing.T) {
	everySeed(t, 1, func(d *devices) {
		d.engines()
		d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
			h := c.Post(d.task("polls", 0, func(c *tl.Context, flags tl.Signal) {
				for !c.Test(flags.At(0), tl.EQ, 1) {
				}
			}))
			c.Notify(flags.At(0), 0, tl.SignalAdd, 1)
			c.Await(h)
		}))
	}, func(d *devices, r *launch.Result) {})
}

// Tasks that have ended hold no values.
func TestTasksLeaveNoValues(t *testing.T) {
	for seed := range uint64(3) {
		d := newDevices(t, 1)
		d.engines()
		d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
			for i := range 200 {
				h := c.Post(d.task("double", i%2, func(c *tl.Context, flags tl.Signal) {
					x := c.Load(element(c, 0, i%2))
					c.Store(element(c, 0, i%2), c.Add(x, x))
				}))
				c.Await(h)
			}
		}))
		if _, err := d.run(seed); err != nil {
			t.Fatal(err)
		}
		if v := d.log.NewValue(); v > 20 {
			t.Errorf("the next value is number %d: some are still held", v)
		}
	}
}

func TestTaskStalls(t *testing.T) {
	never := func(c *tl.Context, flags tl.Signal) { c.WaitUntil(flags.At(0), tl.EQ, 1) }
	tests := []struct {
		name   string
		kernel func(d *devices) func(c *tl.Context, flags tl.Signal)
		want   []string // lines
	}{
		{"a task that never ends is awaited", func(d *devices) func(c *tl.Context, flags tl.Signal) {
			return func(c *tl.Context, flags tl.Signal) {
				c.Post(d.task("first", 1, func(c *tl.Context, flags tl.Signal) {}))
				c.Await(c.Post(d.task("AllReduce", 1, never)))
			}
		}, []string{
			"deadlock: 1 of 1 streams cannot go on",
			"try: give every wait the notifications that satisfy it: the right member, word and value, on every rank and in every branch",
			"program 0 of 1 of work on stream 0 of rank 0 wait at mock/task_test.go: waits for task 1 (AllReduce) of queue 1 of the communication engine",
			"task 1 (AllReduce) of queue 1 of the communication engine of rank 1 wait_until at mock/task_test.go: waits for w.flags[0] == 1, which is 0",
		}},
		{"the task behind it", func(d *devices) func(c *tl.Context, flags tl.Signal) {
			return func(c *tl.Context, flags tl.Signal) {
				c.Post(d.task("", 0, never))
				c.Await(c.Post(d.task("Barrier", 0, func(c *tl.Context, flags tl.Signal) {})))
			}
		}, []string{
			"program 0 of 1 of work on stream 0 of rank 0 wait at mock/task_test.go: waits for task 1 (Barrier) of queue 0 of the communication engine",
			"task 0 of queue 0 of the communication engine of rank 1 wait_until at mock/task_test.go: waits for w.flags[0] == 1, which is 0",
		}},
		{"a task whose poster has ended", func(d *devices) func(c *tl.Context, flags tl.Signal) {
			return func(c *tl.Context, flags tl.Signal) { c.Post(d.task("Broadcast", 0, never)) }
		}, []string{
			"missing notification: no agent is left that could change w.flags[0], which rank 1 waits for in wait_until",
			"task 0 (Broadcast) of queue 0 of the communication engine of rank 1 wait_until at mock/task_test.go: waits for w.flags[0] == 1, which is 0",
		}},
		{"a task that looks for ever", func(d *devices) func(c *tl.Context, flags tl.Signal) {
			return func(c *tl.Context, flags tl.Signal) {
				c.Post(d.task("spins", 0, func(c *tl.Context, flags tl.Signal) {
					for !c.Test(flags.At(2), tl.GE, 1) {
					}
				}))
			}
		},
			[]string{"task 0 (spins) of queue 0 of the communication engine of rank 1 test at mock/task_test.go: waits for w.flags[2] >= 1, which is 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(10) {
				d := newDevices(t, 1)
				d.engines()
				d.on(0, d.launch(0, 1, 1, tt.kernel(d)))
				_, err := d.run(seed)
				if stall, ok := errors.AsType[*fault.Deadlock](err); !ok || stall.Stuck != 1 {
					t.Fatalf("seed %d: %v", seed, err)
				}
				text := lineNumber.ReplaceAllString(err.Error(), "$1")
				for _, want := range tt.want {
					if !slices.Contains(strings.Split(text, "\n  "), want) && !strings.HasPrefix(text, want) {
						t.Errorf("seed %d: %v\nlacks %q", seed, text, want)
					}
				}
			}
		})
	}
}

func TestTaskFaults(t *testing.T) {
	nothing := func(c *tl.Context, flags tl.Signal) {}
	misuse := func(err error) bool { _, ok := errors.AsType[*fault.Misuse](err); return ok }
	tests := []struct {
		name   string
		engine bool
		core   tl.CoreType
		kernel func(d *devices, c *tl.Context)
		is     func(error) bool
		want   string
	}{
		{"no engine", false, tl.CoreAny, func(d *devices, c *tl.Context) { c.Post(d.task("x", 0, nothing)) }, misuse,
			"rank 0 post at mock/task_test.go: there is no communication engine"},
		{"no such queue", true, tl.CoreAny, func(d *devices, c *tl.Context) { c.Post(d.task("x", 2, nothing)) }, misuse,
			"rank 0 post at mock/task_test.go: queue 2: a communication engine has queues 0 to 1"},
		{"a task that posts", true, tl.CoreAny, func(d *devices, c *tl.Context) {
			c.Post(d.task("x", 0, func(c *tl.Context, flags tl.Signal) { c.Post(d.task("y", 1, nothing)) }))
		}, misuse, "rank 1 post at mock/task_test.go: there is no communication engine"},
		{"a cube core adds", true, tl.CoreCube, func(d *devices, c *tl.Context) {
			x := c.Load(element(c, 0, 0))
			c.Add(x, x)
		}, misuse, "rank 0 math at mock/task_test.go: a cube core has no vector unit"},
		{"a vector core multiplies", true, tl.CoreVector, func(d *devices, c *tl.Context) {
			x := c.Load(c.Ref(mem.At(mem.HBM, 0, 0), tl.Dims(4, 4), dtype.I32))
			c.Dot(x, x)
		}, misuse, "rank 0 dot at mock/task_test.go: a vector core has no matrix unit"},
		{"a task panics", true, tl.CoreCube, func(d *devices, c *tl.Context) {
			c.Await(c.Post(d.task("x", 0, func(c *tl.Context, flags tl.Signal) { panic("oh") })))
		}, func(err error) bool { _, ok := errors.AsType[*fault.Panic](err); return ok },
			"task 0 (x) of queue 0 of the communication engine: rank 1 at mock/task_test.go: kernel panicked: oh"},
		{"a task's scratch is its own", true, tl.CoreVector, func(d *devices, c *tl.Context) {
			c.Full(tl.Dims(1024), dtype.I32, 1)
			c.Post(d.task("x", 0, func(c *tl.Context, flags tl.Signal) { c.Full(tl.Dims(257), dtype.I32, 1) }))
		}, func(err error) bool { _, ok := errors.AsType[*fault.ScratchFull](err); return ok },
			"the result needs 1028 B, scratch has 1 KiB"},
	}
	for _, tt := range tests {
		for seed := range uint64(3) {
			d := newDevices(t, 1)
			if tt.engine {
				d.engines()
			}
			work := d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) { tt.kernel(d, c) })
			work.Launch.Cores = []tl.CoreType{tt.core}
			d.on(0, work)
			_, err := d.run(seed)
			if err == nil || !tt.is(err) || !strings.Contains(lineNumber.ReplaceAllString(err.Error(), "$1"), tt.want) {
				t.Errorf("%s, seed %d: %v, want %q", tt.name, seed, err, tt.want)
			}
		}
	}
}

func TestTasksAreCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := newDevices(t, 1)
	d.engines()
	d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
		for range 2 {
			c.Post(d.task("spins", 0, func(c *tl.Context, flags tl.Signal) {
				for {
					c.FetchAdd(flags.At(0), 0, 1)
					cancel()
				}
			}))
		}
		c.WaitUntil(flags.At(3), tl.EQ, 1)
	}))
	if _, err := mock.New(mock.Options{Data: d.log}).RunStreams(ctx, &d.b); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want it cancelled", err)
	}
}
