package sim_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
	"kernbench/tl"
)

// bothCores are options with one processor and with two.
var bothCores = []sim.Options{{}, {SecondCore: true}}

// roundTrips returns a kernel that sends its tensor round a ring for a number of steps. At each
// step it also calls at.
func roundTrips(steps int, at func(c *tl.Context, step int, v tl.Tensor)) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		v := own(c, a)
		for i := range steps {
			at(c, i, v)
			c.Send(tl.East, v)
			v = like(c, tl.West, v)
		}
		c.Store(a.Shard(c.Rank()), v)
	}
}

// TestReplayedFaults: a launch that fails fails with the same error in both modes.
func TestReplayedFaults(t *testing.T) {
	for name, at := range map[string]func(c *tl.Context, step int, v tl.Tensor){
		"nothing": func(*tl.Context, int, tl.Tensor) {},
		"panic":   func(_ *tl.Context, i int, _ tl.Tensor) { panicAt(i == 33) },
		"panic of one rank": func(c *tl.Context, i int, _ tl.Tensor) {
			panicAt(i == 33 && c.Rank() == 5)
		},
		"hang": func(c *tl.Context, i int, v tl.Tensor) {
			if i == 30 {
				like(c, tl.West, v)
			}
		},
		"hang of one rank": func(c *tl.Context, i int, v tl.Tensor) {
			if i == 39 && c.Rank() == 3 {
				like(c, tl.West, v)
			}
		},
		"full rings": func(c *tl.Context, i int, v tl.Tensor) {
			for range 10 * (i / 20 % 2) {
				c.Send(tl.East, v)
			}
		},
		"other length": func(c *tl.Context, i int, v tl.Tensor) {
			if i == 20 {
				c.Send(tl.East, v)
				c.Recv(tl.West, tl.Dims(4), dtype.F16)
			}
		},
		"other type of one rank": func(c *tl.Context, i int, v tl.Tensor) {
			if i == 20 {
				c.Send(tl.East, v)
				c.Recv(tl.West, v.Shape(), []dtype.Type{dtype.F16, dtype.I16}[c.Rank()/15])
			}
		},
		"left over": func(c *tl.Context, i int, v tl.Tensor) {
			if i == 39 {
				c.Send(tl.East, v)
			}
		},
		"freed": func(c *tl.Context, i int, v tl.Tensor) {
			if i == 33 {
				d := c.Add(v, v)
				c.Free(d)
				c.Send(tl.East, d)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			fidelities := []noc.Fidelity{noc.Slot, noc.Ideal}
			if testing.Short() { // the race detector is slow, and both have the same goroutines
				fidelities = fidelities[:1]
			}
			for i, world := range []int{16, 70} {
				b := newBench(t, roundTrips(40, at), setup{world: world, n: 8})
				for j, o := range bothCores {
					for k, f := range fidelities {
						if !exhaustive.On() && !testing.Short() && (i+j+k)%2 > 0 {
							continue
						}
						o.Fidelity = f
						outs, replayed := b.sameInBothModes(t, o, views{}, views{data: true})
						if ok := name == "nothing"; replayed != ok || (outs[0].Err == "") != ok {
							t.Errorf("replayed %v, error %q", replayed, outs[0].Err)
						}
					}
				}
			}
		})
	}
}

// TestFirstFault: of several ranks that fail the first in time comes out, and of those at one
// instant the lowest.
func TestFirstFault(t *testing.T) {
	type at struct {
		rank, step int
		late       bool // after it has sent
	}
	for name, tt := range map[string]struct {
		fail []at
		want int
	}{
		"one":               {[]at{{rank: 40, step: 20}}, 40},
		"lower rank first":  {[]at{{rank: 12, step: 20}, {rank: 44, step: 22}}, 12},
		"higher rank first": {[]at{{rank: 12, step: 22}, {rank: 44, step: 20}}, 44},
		"after its send":    {[]at{{rank: 12, step: 20, late: true}, {rank: 44, step: 20}}, 44},
		"at once":           {[]at{{rank: 15, step: 20}, {rank: 47, step: 20}}, 15},
		"before messages":   {[]at{{rank: 52}, {rank: 20}}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				v := own(c, a)
				for i := range 40 {
					panicAt(slices.Contains(tt.fail, at{c.Rank(), i, false}))
					c.Send(tl.East, v)
					panicAt(slices.Contains(tt.fail, at{c.Rank(), i, true}))
					v = like(c, tl.West, v)
				}
			}, setup{world: 64, n: 256, slotBytes: 512, sets: smallSIPs(eightSIPs)})
			for _, o := range bothCores {
				outs, _ := b.sameInBothModes(t, o, views{})
				if want := fmt.Sprintf("rank %d ", tt.want); !strings.HasPrefix(outs[0].Err, want) {
					t.Errorf("%s, want %s", outs[0].Err, want)
				}
			}
		})
	}
}

// TestPayloadsOnTheirWay: a deadlock names the payloads that have been sent in part.
func TestPayloadsOnTheirWay(t *testing.T) {
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		v := own(c, a).Slice(0, 40+20*(c.Rank()/35))
		c.Send(tl.East, v)
		c.Send(tl.East, v)
	}, setup{world: 70, n: 60, slots: 2, slotBytes: 16})
	for _, o := range bothCores {
		o.Fidelity = noc.Ideal
		b.sameInBothModes(t, o, views{})
		_, err := b.run(o)
		var d *fault.Deadlock
		if !errors.As(err, &d) {
			t.Fatal(err)
		}
		if rings := fmt.Sprintf("%+v", d.Rings); !strings.Contains(rings, "sent 2 of 5 parts") ||
			!strings.Contains(rings, "sent 2 of 8 parts") {
			t.Error(rings)
		}
	}
}

// dataFaults are kernels of a ring that replay carries out, and whose data is wrong.
var dataFaults = map[string]tl.Kernel{
	"never written": func(c *tl.Context, a tl.Args) {
		c.Load(tl.Ref{Addr: empty(c.Rank()), Shape: tl.Dims(4), DType: a.DType})
	},
	"never written on one rank": func(c *tl.Context, a tl.Args) {
		at := a.Shard(c.Rank()).Slice(0, 4)
		if c.Rank() == 5 {
			at.Addr = empty(5)
		}
		c.Load(at)
	},
	"never written on two ranks": func(c *tl.Context, a tl.Args) {
		at := a.Shard(c.Rank()).Slice(0, 4)
		if c.Rank()%5 == 2 {
			at.Addr = empty(c.Rank())
		}
		c.Load(at)
	},
	"no memory": func(c *tl.Context, a tl.Args) {
		v := own(c, a)
		c.Store(tl.Ref{Addr: empty(c.Rank()) + 2, Shape: tl.Dims(4), DType: a.DType}, v.Slice(0, 4))
	},
	"no memory after messages": func(c *tl.Context, a tl.Args) {
		v := own(c, a)
		c.Send(tl.East, v)
		v = like(c, tl.West, v)
		c.Store(tl.Ref{Addr: empty(c.Rank()) + 2, Shape: tl.Dims(4), DType: a.DType}, v.Slice(0, 4))
	},
	"beyond the memory": func(c *tl.Context, a tl.Args) {
		c.Load(tl.Ref{Addr: mem.At(mem.HBM, c.Rank(), mem.MaxOffset-7), Shape: tl.Dims(4), DType: a.DType})
	},
}

// TestDataFaults: what is wrong with data comes out in the same words, but for the time, which is
// not known of what is replayed. Of several ranks any may be named, the same in each run.
func TestDataFaults(t *testing.T) {
	for name, k := range dataFaults {
		t.Run(name, func(t *testing.T) {
			for _, world := range []int{4, 16, 70} {
				b := newBench(t, k, setup{world: world, n: 16})
				want := b.outcome(t, sim.Options{EventDriven: true}, views{data: true}).Err
				first := ""
				for _, o := range bothCores {
					for range 3 {
						got := b.outcome(t, o, views{data: true}).Err
						if def(&first, got); got != first {
							t.Errorf("%d ranks: %s\nand %s", world, first, got)
						}
					}
				}
				if whatever.ReplaceAllString(first, "") != whatever.ReplaceAllString(want, "") {
					t.Errorf("%d ranks: replayed %s\nevent-driven %s", world, first, want)
				}
				if one := regexp.MustCompile("^rank [0-9]+"); name == "never written on one rank" &&
					one.FindString(first) != one.FindString(want) {
					t.Errorf("%d ranks: replayed %s\nevent-driven %s", world, first, want)
				}
			}
		})
	}
}

// whatever are the time, the rank and the memory that the error of a data fault names.
var whatever = regexp.MustCompile(` t=[0-9.]+.?s|rank [0-9]+|hbm\[[0-9]+\]`)

// TestWrongLengthsWithData: messages that are shorter or longer than their receives expect fail
// alike in both modes, whether data is carried out in parallel or not.
func TestWrongLengthsWithData(t *testing.T) {
	for _, n := range [][2]int{{4, 8}, {8, 4}, {8, 0}} {
		k := func(c *tl.Context, a tl.Args) {
			x := own(c, a)
			c.Send(tl.East, x.Slice(0, n[0]))
			y := c.Recv(tl.West, tl.Dims(n[1]), a.DType)
			if n[1] > 0 {
				c.Store(a.Shard(c.Rank()).Slice(0, n[1]), c.Add(y, x.Slice(0, n[1])))
			}
		}
		for _, strict := range []bool{true, false} {
			for _, world := range []int{4, 16, 70} {
				b := newBench(t, k, setup{world: world, n: 16, ring: func(r *tl.Ring) { r.Strict = strict }})
				if outs, _ := b.sameInBothModes(t, sim.Options{SecondCore: true}, views{}, views{data: true}); outs[0].Err == "" {
					t.Errorf("%d ranks: %d elements are received as %d", world, n[0], n[1])
				}
			}
		}
	}
}
