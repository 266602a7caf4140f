package race_test

import (
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// tasked is a device with a communication engine, a buffer, and a window over both devices.
type tasked struct {
	w    *mem.Window
	pes  int
	next []launch.Batch // one after the other, with the host between
}

func newTasked(t *testing.T, pes int) *tasked {
	list := make([]int32, pes)
	for i := range list {
		list[i] = int32(i)
	}
	team, err := mem.NewTeam("world", list)
	if err != nil {
		t.Fatal(err)
	}
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "words", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 4)}}})
	if err != nil {
		t.Fatal(err)
	}
	return &tasked{w: mem.NewWindow("w", team, l, 1<<16), pes: pes}
}

// batch queues what streams do until the host waits for them.
func (d *tasked) batch(streams ...launch.Stream) {
	for i := range streams {
		streams[i].ID = i
	}
	d.next = append(d.next, launch.Batch{Streams: streams, Addrs: &mem.Map{}, Scratch: 1 << 12, Engine: &launch.Engine{Scratch: 1 << 12}})
}

func on(pe int, ops ...launch.StreamOp) launch.Stream {
	return launch.Stream{PE: int32(pe), Rank: pe, Ops: ops}
}

// body is what a program or task does, with the words of its device.
type body func(c *tl.Context, words tl.Signal)

func (d *tasked) kernel(k body) tl.Kernel {
	return func(c *tl.Context, _ tl.Args) { k(c, c.Signals(d.w, "words")) }
}

func (d *tasked) launch(grid int, k body) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamLaunch, Line: "host.go:1", Launch: &launch.GridLaunch{
		Name: "work", World: d.pes, Grid: grid, Resident: grid, Kernel: d.kernel(k),
	}}
}

// post posts a task to a queue.
func (d *tasked) post(c *tl.Context, queue int, k body) tl.Handle {
	return c.Post(&tl.Task{Name: "task", Queue: queue, World: 1, Kernel: d.kernel(k)})
}

// buffer returns the memory that all are about.
func buffer(c *tl.Context) tl.Ref { return c.Ref(mem.At(mem.HBM, 0, 0), tl.Dims(4), dtype.I32) }

func reads(c *tl.Context, _ tl.Signal)  { c.Add(c.Load(buffer(c)), c.Full(tl.Dims(4), dtype.I32, 1)) }
func writes(c *tl.Context, _ tl.Signal) { c.Store(buffer(c), c.Full(tl.Dims(4), dtype.I32, 1)) }

// judged runs the batches under a schedule until the judge is content.
func (d *tasked) judged(t *testing.T, seed uint64) *race.Report {
	t.Helper()
	judge := race.New(race.Options{})
	for {
		for pe := range d.pes {
			clear(d.w.Words(pe))
		}
		x := mock.New(mock.Options{History: judge.Log(), Seed: seed})
		for i := range d.next {
			b := d.next[i]
			for _, s := range b.Streams {
				for _, op := range s.Ops {
					if op.Event != nil {
						op.Event.Happened = false
					}
				}
			}
			if _, err := x.RunStreams(t.Context(), &b); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		rep := judge.Report()
		if !rep.Again {
			return rep
		}
		judge = judge.Next()
	}
}

// sides are those of a hazard, whichever came first.
func sides(h *race.Hazard) string {
	s := []string{h.First.Does + " of " + h.First.Agent, h.Second.Does + " of " + h.Second.Agent}
	slices.Sort(s)
	return strings.Join(s, ", ")
}

func TestTasks(t *testing.T) {
	copies := func() launch.StreamOp {
		return launch.StreamOp{
			Kind: launch.StreamCopy, Line: "host.go:2", Type: dtype.I32, Rows: 1, Bytes: 16,
			Dst: mem.At(mem.HBM, 0, 0), Src: mem.At(mem.HBM, 1, 0),
		}
	}
	for _, c := range []struct {
		name   string
		build  func(d *tasked)
		sides  string // of the only hazard
		advice string // is in what is missing
	}{
		{"written while the task reads", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, reads)
				writes(c, words)
			})))
		}, "read of task 0 of the communication engine of rank 0, write of rank 0 program 0",
			"the post of the task, or an await of it, between "},
		{"read while the task writes", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 1, writes)
				reads(c, words)
			})))
		}, "read of rank 0 program 0, write of task 0 of queue 1 of the communication engine of rank 0",
			"the post of the task, or an await of it, between "},
		{"written before the post", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				writes(c, words)
				d.post(c, 0, reads)
			})))
		}, "", ""},
		{"the task waits for a word", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, func(c *tl.Context, words tl.Signal) {
					c.WaitUntil(words.At(0), tl.GE, 1)
					reads(c, words)
				})
				writes(c, words)
				c.PipeBarrier()
				c.Notify(words.At(0), 0, tl.SignalAdd, 1)
			})))
		}, "", ""},
		{"the word comes too early", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, func(c *tl.Context, words tl.Signal) {
					c.WaitUntil(words.At(0), tl.GE, 1)
					reads(c, words)
				})
				c.Notify(words.At(0), 0, tl.SignalAdd, 1)
				writes(c, words)
			})))
		}, "read of task 0 of the communication engine of rank 0, write of rank 0 program 0",
			"the post of the task, or an await of it, between "},
		{"awaited", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				h := d.post(c, 0, reads)
				c.Await(h)
				writes(c, words)
			})))
		}, "", ""},
		{"the later of two is awaited", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, reads)
				c.Await(d.post(c, 0, func(*tl.Context, tl.Signal) {}))
				writes(c, words)
			})))
		}, "", ""},
		{"the earlier of two is awaited", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				h := d.post(c, 0, func(*tl.Context, tl.Signal) {})
				d.post(c, 0, reads)
				c.Await(h)
				writes(c, words)
			})))
		}, "read of task 1 of the communication engine of rank 0, write of rank 0 program 0",
			"the post of the task, or an await of it, between "},
		{"the first of three", func(d *tasked) {
			nothing := func(*tl.Context, tl.Signal) {}
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				for _, k := range []body{reads, nothing, nothing} {
					d.post(c, 0, k)
				}
				for range 5 {
					c.FetchAdd(words.At(1), 0, 1) // meanwhile the others may begin
				}
				writes(c, words)
			})))
		}, "read of task 0 of the communication engine of rank 0, write of rank 0 program 0",
			"the post of the task, or an await of it, between "},
		{"one queue", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, writes)
				d.post(c, 0, writes)
				d.post(c, 0, reads)
			})))
		}, "", ""},
		{"two queues", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, writes)
				d.post(c, 1, reads)
			})))
		}, "read of task 0 of queue 1 of the communication engine of rank 0, write of task 0 of the communication engine of rank 0",
			"the end of the one task and the post of the other (or one queue for both) between "},
		{"another program writes", func(d *tasked) {
			d.batch(on(0, d.launch(2, func(c *tl.Context, words tl.Signal) {
				if c.ProgramID(0) == 0 {
					d.post(c, 0, reads)
				} else {
					writes(c, words)
				}
			})))
		}, "read of task 0 of the communication engine of rank 0, write of rank 0 program 1",
			"the post of the task, or an await of it, between "},
		{"another program posts", func(d *tasked) {
			d.batch(on(0, d.launch(2, func(c *tl.Context, words tl.Signal) {
				if c.ProgramID(0) == 0 {
					d.post(c, 0, writes)
					c.Notify(words.At(0), 0, tl.SignalAdd, 1)
				} else {
					c.WaitUntil(words.At(0), tl.GE, 1)
					c.Await(d.post(c, 0, reads)) // behind it in the queue
					writes(c, words)
				}
			})))
		}, "", ""},
		{"the next launch", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, reads)
				d.post(c, 1, reads)
			}), d.launch(1, writes), copies()))
		}, "", ""},
		{"a copy beside the launch", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) { d.post(c, 0, reads) })), on(0, copies()))
		}, "read of task 0 of the communication engine of rank 0, write of stream 1 of rank 0",
			"an event after the launch that posts the task, which the other stream awaits (a join), between "},
		{"a copy after an event after the launch", func(d *tasked) {
			e := &launch.Event{Name: "done"}
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) { d.post(c, 0, reads) }),
				launch.StreamOp{Kind: launch.StreamRecord, Event: e}),
				on(0, launch.StreamOp{Kind: launch.StreamAwait, Event: e}, copies()))
		}, "", ""},
		{"batches", func(d *tasked) {
			for range 3 {
				d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
					d.post(c, 0, reads)
					d.post(c, 0, writes)
				})), on(1))
				d.batch(on(0), on(1, copies()))
			}
		}, "", ""},
		{"what a task has notified has arrived when it is awaited", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				c.Await(d.post(c, 0, func(c *tl.Context, words tl.Signal) {
					c.Notify(words.At(1), 1, tl.SignalSet, 1)
				}))
				c.Notify(words.At(1), 1, tl.SignalSet, 2)
			})))
		}, "", ""},
		{"tasks of two devices", func(d *tasked) {
			one := func(pe int, k body) launch.Stream {
				return on(pe, d.launch(1, func(c *tl.Context, words tl.Signal) { d.post(c, 0, k) }))
			}
			d.batch(one(0, reads), one(1, writes))
		}, "read of task 0 of the communication engine of rank 0, write of task 0 of the communication engine of rank 1",
			"a barrier between "},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(25) {
				d := newTasked(t, 2)
				c.build(d)
				rep := d.judged(t, seed)
				if c.sides == "" {
					if rep.Total > 0 {
						t.Fatalf("seed %d: %v", seed, rep)
					}
					continue
				}
				if len(rep.Hazards) != 1 {
					t.Fatalf("seed %d: %d hazards: %v", seed, len(rep.Hazards), rep)
				}
				h := &rep.Hazards[0]
				if got := sides(h); got != c.sides {
					t.Errorf("seed %d: %s, want %s", seed, got, c.sides)
				}
				for _, line := range []string{h.First.Line, h.Second.Line} {
					if !strings.HasPrefix(line, "race/task_test.go:") && line != "host.go:2" {
						t.Errorf("seed %d: the line is %q", seed, line)
					}
				}
				if !strings.Contains(h.Missing, c.advice) {
					t.Errorf("seed %d: %q lacks %q", seed, h.Missing, c.advice)
				}
			}
		})
	}
}

// One run proves nothing about others if the schedule decides whose task comes first in a queue.
// The accesses of the tasks are ordered in this run, and in reverse order in others.
func TestClassOfTasks(t *testing.T) {
	nothing := func(*tl.Context, tl.Signal) {}
	twice := func(d *tasked, queue int) { // by two programs that know nothing of each other
		d.batch(on(0, d.launch(2, func(c *tl.Context, _ tl.Signal) { d.post(c, queue*c.ProgramID(0), nothing) })))
	}
	for _, c := range []struct {
		name  string
		build func(d *tasked)
		posts int // that the schedule orders; 0: what one run proves is so in all
	}{
		{"of two programs, in one queue", func(d *tasked) { twice(d, 0) }, 2},
		{"of two programs, in two queues", func(d *tasked) { twice(d, 1) }, 0},
		{"of one program", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, words tl.Signal) {
				d.post(c, 0, writes)
				d.post(c, 0, writes)
			})))
		}, 0},
		{"a word orders the posts", func(d *tasked) {
			d.batch(on(0, d.launch(2, func(c *tl.Context, words tl.Signal) {
				if c.ProgramID(0) == 0 {
					d.post(c, 0, writes)
					c.Notify(words.At(0), 0, tl.SignalAdd, 1)
				} else {
					c.WaitUntil(words.At(0), tl.GE, 1)
					d.post(c, 0, reads)
				}
			})))
		}, 0},
		{"a word orders only some", func(d *tasked) {
			d.batch(on(0, d.launch(3, func(c *tl.Context, words tl.Signal) {
				switch c.ProgramID(0) {
				case 0:
					d.post(c, 0, writes)
					c.Notify(words.At(0), 0, tl.SignalAdd, 1)
				case 1:
					c.WaitUntil(words.At(0), tl.GE, 1)
					c.Await(d.post(c, 0, reads))
					c.Notify(words.At(0), 0, tl.SignalAdd, 1)
				case 2:
					c.WaitUntil(words.At(0), tl.GE, 1)
					d.post(c, 0, reads)
				}
			})))
		}, 2},
		{"of two launches", func(d *tasked) {
			post := d.launch(1, func(c *tl.Context, _ tl.Signal) { d.post(c, 0, writes) })
			d.batch(on(0, post, post))
			d.batch(on(0, post))
		}, 0},
		{"of two streams", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, _ tl.Signal) { d.post(c, 0, writes) })),
				on(0, d.launch(1, func(c *tl.Context, _ tl.Signal) { d.post(c, 0, reads) })))
		}, 2},
		{"of two streams, one after the other", func(d *tasked) {
			e := &launch.Event{Name: "done"}
			post := d.launch(1, func(c *tl.Context, _ tl.Signal) { d.post(c, 0, writes) })
			d.batch(on(0, post, launch.StreamOp{Kind: launch.StreamRecord, Event: e}),
				on(0, launch.StreamOp{Kind: launch.StreamAwait, Event: e}, post))
		}, 0},
		{"of two devices", func(d *tasked) {
			d.batch(on(0, d.launch(1, func(c *tl.Context, _ tl.Signal) { d.post(c, 0, writes) })),
				on(1, d.launch(1, func(c *tl.Context, _ tl.Signal) { d.post(c, 0, nothing) })))
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(25) {
				d := newTasked(t, 2)
				c.build(d)
				rep := d.judged(t, seed)
				posts := 0
				for _, dep := range rep.Depends {
					if posts += dep.Count; dep.Op != "post" || dep.Call != "post" || !strings.HasPrefix(dep.Line, "race/task_test.go:") {
						t.Errorf("seed %d: %+v", seed, dep)
					}
				}
				if rep.Total > 0 || posts != c.posts || (rep.Class == race.Scheduled) != (c.posts > 0) {
					t.Fatalf("seed %d: %v, and %d posts", seed, rep, posts)
				}
			}
		})
	}
}

// A thousand tasks of a queue are one agent after another, of which little is kept.
func TestManyTasks(t *testing.T) {
	d := race.New(race.Options{})
	l := d.Log()
	who := history.AgentInfo{Rank: 0, PE: 0, Stream: -1, Program: -1, Queue: 1}
	q := l.Agent(who)
	l.Add(history.Record{Kind: history.Start, Agent: q})
	for i := range 1000 {
		who.Task = 1 + i
		a := l.Agent(who)
		l.Add(history.Record{Kind: history.Start, Agent: a, Other: q})
		l.Add(history.Record{Kind: history.Store, Agent: a, Op: l.NextOp(), Call: "store", Range: at(0, int64(i%10)*8, 64).rng()})
		l.Add(history.Record{Kind: history.Join, Agent: q, Other: a})
	}
	l.Flush()
	if events, clocks := d.Live(); events > 100 || clocks > 8 {
		t.Errorf("%d events and %d clocks are held though all tasks have ended", events, clocks)
	}
	if rep := d.Report(); rep.Total > 0 {
		t.Error(rep)
	}
}
