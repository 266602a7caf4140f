package selfbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	ns  = 1e-9
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// works returns the rows of the table, in its order: of full size, or short ones for the check of
// the whole repository.
func works(short bool) []*work {
	if short {
		return []*work{
			hold(1e3).must("per event", atMost(40*ns)).must("allocations per event", atMost(0)),
			message(256).must(perMessage, atMost(250*ns)),
			ring(256).must(wallTime, below(0.15)),
			ring(256, "--fidelity", "ideal"),
			ring(256, "--verify-data").must(wallTime, below(0.4)),
			kernels(256), ownRing(256).must(ratioOfCPU, atMost(1.25)),
			halvingDoubling(256, "ideal"), halvingGPUs(256, "slot"),
			pairwiseGPUs(1024).must(wallTime, below(10)).must(peakMemory, below(gib)),
			build(4096).must(wallTime, below(0.1)),
			hierarchical("slot", 2, 2),
			bytesPerPE(2, 2),
			torus(256), torusOfLinks(8),
			provenance(256),
			firstEvent().must(wallTime, below(0.05)),
			twoCores("4K"),
		}
	}
	return []*work{
		hold(1e3).must("per event", atMost(40*ns)).must("allocations per event", atMost(0)),
		hold(1e6).must("per event", atMost(60*ns)).must("allocations per event", atMost(0)),
		message(256).must(perMessage, atMost(250*ns)),
		message(4096).must(perMessage, atMost(500*ns)),
		ring(256).must(wallTime, below(0.15)),
		ring(256, "--fidelity", "ideal"),
		ring(256, "--verify-data").must(wallTime, below(0.4)),
		ring(1024).must(wallTime, below(1)).aim(wallTime, atMost(0.35)).must(peakMemory, below(150*mib)).
			must(perMessage, atMost(1400*ns/3)).aim(perMessage, atMost(468*ns)),
		ring(1024, "--fidelity", "ideal").must(wallTime, below(0.35)).must(peakMemory, below(150*mib)).
			must(perMessage, below(468*ns)).aim(perMessage, atMost(468*ns/3)),
		ring(4096).must(wallTime, below(20)).aim(wallTime, atMost(9)).must(peakMemory, below(gib)),
		ring(4096, "--fidelity", "ideal").must(wallTime, below(9)).must(peakMemory, below(gib)),
		kernels(1024),
		ownRing(1024).must(ratioOfCPU, atMost(1.25)),
		halvingDoubling(1024, "ideal"), halvingDoubling(1024, "slot"), halvingGPUs(1024, "ideal"), halvingGPUs(1024, "slot"),
		halvingDoubling(4096, "ideal"), halvingDoubling(4096, "slot"), halvingGPUs(4096, "ideal"), halvingGPUs(4096, "slot"),
		halvingDoubling(16384, "ideal"), halvingDoubling(16384, "slot"), halvingGPUs(16384, "ideal"), halvingGPUs(16384, "slot"),
		halvingDoubling(65536, "ideal").must(wallTime, below(4)).aim(wallTime, below(1.5)).must(peakMemory, below(gib)),
		halvingDoubling(65536, "slot").must(peakMemory, below(gib)),
		halvingGPUs(65536, "ideal").must(wallTime, below(4)).must(peakMemory, below(gib)),
		halvingGPUs(65536, "slot").must(wallTime, below(8)).must(peakMemory, below(gib)),
		pairwiseGPUs(1024).must(wallTime, below(10)).must(peakMemory, below(gib)),
		build(4096).must(wallTime, below(0.1)),
		build(102400).must(wallTime, below(2)),
		hierarchical("slot", 8, 8, 8).must(wallTime, below(30)).must(peakMemory, below(4*gib)),
		hierarchical("ideal", 8, 8, 8).must(wallTime, below(30)).must(peakMemory, below(4*gib)),
		hierarchical("slot", 8, 10, 10).must(wallTime, below(60)).must(peakMemory, below(4*gib)),
		hierarchical("ideal", 8, 10, 10).must(wallTime, below(60)).must(peakMemory, below(4*gib)),
		bytesPerPE(8, 8, 8).must(stackBytes, atMost(5*kib)).must(ringBytes, atMost(2*kib)).must(otherBytes, atMost(3*kib)),
		torus(4096).must(wallTime, below(2)),
		torusOfLinks(64).must(wallTime, below(2)),
		provenance(4096).must(ratioOfTimes, atMost(2)),
		firstEvent().must(wallTime, below(0.05)),
		twoCores("256K").must(ratioOfTimes, atLeast(1.9)),
	}
}

// must returns a target that a figure has to reach, aim one that it should reach.
func (w *work) must(what string, t *Target) *work {
	w.figure(what).Must = t
	return w
}

func (w *work) aim(what string, t *Target) *work {
	w.figure(what).Aim = t
	return w
}

func (w *work) figure(what string) *Figure {
	for i := range w.figures {
		if w.figures[i].What == what {
			return &w.figures[i]
		}
	}
	panic("selfbench: " + w.name + " has no figure " + what)
}

// group writes a number with a comma between groups of three digits.
func group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// onPEs returns the arguments for a machine with a number of PEs: whole SIPs of the default one.
func onPEs(pes int, args ...string) []string {
	const inSIP, usual = 128, 256
	if pes != usual {
		args = append(args, "--set", fmt.Sprintf("system.sips.count=%d", pes/inSIP))
	}
	return append([]string{"run"}, args...)
}

// command returns a row that times one command.
func command(name, what string, args []string) *work {
	return &work{
		name: name, what: what, command: args,
		figures: []Figure{{What: wallTime, Unit: Seconds}, {What: userCPU, Unit: Seconds},
			{What: peakMemory, Unit: Bytes}, {What: perMessage, Unit: Seconds}},
		run: func(ctx context.Context, m *meter) ([]float64, *Outcome, error) {
			c, err := m.execute(ctx, args)
			if err != nil {
				return nil, nil, err
			}
			o, each := outcomeOf(c.stdout), 0.0
			if o != nil && o.Messages > 0 {
				each = c.wall.Seconds() / float64(o.Messages)
			}
			return []float64{c.wall.Seconds(), c.user.Seconds(), float64(c.memory), each}, o, nil
		},
	}
}

func ring(pes int, flags ...string) *work {
	name, what := fmt.Sprintf("ring-%d", pes), fmt.Sprintf("ring_allreduce_chunked, %s PEs, 64 KiB per PE, ", group(pes))
	switch {
	case len(flags) == 0:
		name, what = name+"-slot", what+"fidelity slot"
	case flags[0] == "--verify-data":
		name, what = name+"-verify", what+"fidelity slot, every byte checked"
	default:
		name, what = name+"-ideal", what+"fidelity ideal"
	}
	return command(name, what, onPEs(pes, append([]string{"--n-elem", "32768"}, flags...)...))
}

func halvingDoubling(pes int, fidelity string) *work {
	return command(fmt.Sprintf("halving-%d-%s", pes, fidelity),
		fmt.Sprintf("recursive halving and doubling, %s PEs, 16 KiB per PE, fidelity %s", group(pes), fidelity),
		onPEs(pes, "--algorithm", "halving_doubling_allreduce", "--n-elem", "8192", "--fidelity", fidelity))
}

// halvingGPUs returns the same on GPUs around one switch. Each PE there has a ring to every other
// that it talks to, and more messages announced than its DMA queue holds.
func halvingGPUs(gpus int, fidelity string) *work {
	return command(fmt.Sprintf("halving-%d-gpus-%s", gpus, fidelity),
		fmt.Sprintf("recursive halving and doubling, %s GPUs on one switch, 8 KiB per GPU, fidelity %s", group(gpus), fidelity),
		[]string{"run", "--topology", "gb200-nvl72", "--set", fmt.Sprintf("system.sips.count=%d", gpus),
			"--algorithm", "halving_doubling_allreduce",
			"--dtype", "f32", "--n-elem", "2048", "--fidelity", fidelity})
}

// pairwiseGPUs returns an all-to-all of GPUs around one switch: each pair of them exchanges one
// message.
func pairwiseGPUs(gpus int) *work {
	return command(fmt.Sprintf("pairwise-%d-gpus", gpus), fmt.Sprintf("pairwise_all_to_all, %s GPUs on one switch", group(gpus)),
		[]string{"run", "--topology", "gb200-nvl72", "--set", fmt.Sprintf("system.sips.count=%d", gpus), "--ranks",
			fmt.Sprint(gpus), "--algorithm", "pairwise_all_to_all"})
}

func hierarchical(fidelity string, counts ...int) *work {
	pes, levels := ofSwitches(counts)
	return command(fmt.Sprintf("hierarchical-%d-%s", pes, fidelity),
		fmt.Sprintf("hierarchical_pipelined_allreduce, %s PEs on switches of %s, 16 KiB per PE, fidelity %s",
			group(pes), joined(counts), fidelity),
		[]string{"run", "--set", levels, "--algorithm", hierarchicalName, "--n-elem", "8192", "--fidelity", fidelity})
}

// hierarchicalName is the all-reduce of the largest machines: all of their levels at work at once.
const hierarchicalName = "hierarchical_pipelined_allreduce"

// ofSwitches returns a machine of default SIPs on two levels of switches: its PEs, and its
// settings.
func ofSwitches(counts []int) (pes int, levels string) {
	pes = 128
	parts := make([]string, len(counts))
	for i, n := range counts {
		pes *= n
		parts[i] = fmt.Sprintf("{name: level%d, network: switch, count: %d, link: {bw_gbs: 256, latency_ns: 30}, switch: {overhead_ns: 5}}",
			i, n)
	}
	return pes, "system.levels=[" + strings.Join(parts, ", ") + "]"
}

// joined writes counts as 8 × 10 × 10.
func joined(counts []int) string {
	parts := make([]string, len(counts))
	for i, n := range counts {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, " × ")
}

func torus(pes int) *work {
	return command(fmt.Sprintf("torus-%d", pes),
		fmt.Sprintf("torus_allreduce, rings of rows and of columns, %s PEs, 64 KiB per PE", group(pes)),
		onPEs(pes, "--algorithm", "torus_allreduce", "--n-elem", "32768"))
}

// torusOfLinks returns the same on a machine whose links are those rings.
func torusOfLinks(side int) *work {
	pes := side * side
	return command(fmt.Sprintf("torus-%d-links", pes),
		fmt.Sprintf("torus_allreduce on a torus of %d × %d TPU v4 chips, 64 KiB per PE", side, side),
		[]string{"run", "--topology", "tpu-v4", "--set", fmt.Sprintf("system.levels.0.dims=[%d,%d]", side, side),
			"--algorithm", "torus_allreduce", "--n-elem", "32768"})
}

// firstEvent returns a run with very little work: its time is about that until the first event.
func firstEvent() *work {
	return command("start", "hello_send on all 256 PEs of the default machine, from start to exit: more than to the first event",
		onPEs(256, "--algorithm", "hello_send", "--n-elem", "1"))
}

// ratioOfTimes is the figure of a row that compares two commands.
const ratioOfTimes = "ratio of wall times"

// provenance compares a run that is checked with one that is not.
func provenance(pes int) *work {
	args := onPEs(pes, "--n-elem", "32768")
	checked := append(args[:len(args):len(args)], "--verify-data")
	return &work{
		name: fmt.Sprintf("provenance-%d", pes),
		what: fmt.Sprintf("ring_allreduce_chunked, %s PEs, 64 KiB per PE, with --verify-data over without", group(pes)), command: checked,
		figures: []Figure{{What: ratioOfTimes, Unit: Times}, {What: wallTime, Unit: Seconds},
			{What: userCPU, Unit: Seconds}, {What: peakMemory, Unit: Bytes}},
		run: func(ctx context.Context, m *meter) ([]float64, *Outcome, error) {
			plain, err := m.execute(ctx, args)
			if err != nil {
				return nil, nil, err
			}
			c, err := m.execute(ctx, checked)
			if err != nil {
				return nil, nil, err
			}
			return []float64{c.wall.Seconds() / plain.wall.Seconds(), c.wall.Seconds(), c.user.Seconds(),
				float64(c.memory)}, outcomeOf(c.stdout), nil
		},
	}
}

// twoCores compares a sweep on one core with the same on two, by what the Go runtime may use. To
// show what the second core of this computer is good for, it also compares two independent
// processes of one core each.
func twoCores(largest string) *work {
	args := []string{"tune", "all_reduce", "--ranks", "64", "-b", "4K", "-e", largest, "-f", "4", "--vary", "n_slots=2,4"}
	return &work{
		name: "tune-cores", what: "a sweep over algorithms and sizes, on one core over on two", command: args,
		figures: []Figure{{What: ratioOfTimes, Unit: Times}, {What: "ratio of two processes", Unit: Times},
			{What: wallTime, Unit: Seconds}, {What: userCPU, Unit: Seconds}, {What: peakMemory, Unit: Bytes}},
		run: func(ctx context.Context, m *meter) ([]float64, *Outcome, error) {
			sweep := func(cores int) (cost, error) {
				// Each has a database of its own: else the second would find all points.
				dir, err := os.MkdirTemp(m.dir, "sweep")
				if err != nil {
					return cost{}, err
				}
				return m.execute(ctx, append(args[:len(args):len(args)], "--db", filepath.Join(dir, "all.db")),
					fmt.Sprintf("GOMAXPROCS=%d", cores))
			}
			one, err := sweep(1)
			if err != nil {
				return nil, nil, err
			}
			two, err := sweep(2)
			if err != nil {
				return nil, nil, err
			}
			other := make(chan error)
			start := time.Now()
			go func() {
				_, err := sweep(1)
				other <- err
			}()
			_, err = sweep(1)
			if err = errors.Join(err, <-other); err != nil {
				return nil, nil, err
			}
			apart := 2 * one.wall.Seconds() / time.Since(start).Seconds()
			return []float64{one.wall.Seconds() / two.wall.Seconds(), apart, two.wall.Seconds(), two.user.Seconds(),
				float64(two.memory)}, nil, nil
		},
	}
}
