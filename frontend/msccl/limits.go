package msccl

import (
	"fmt"
	"maps"
	"slices"
)

// runtime is a program that executes files, with its limits.
type runtime struct {
	name          string
	steps, blocks int  // of a block, of a gpu
	needsRange    bool // outofplace, minBytes and maxBytes must be there
	files         int  // files that it loads; 0: no limit
	plugin        bool // it chooses for another executor, by its own rules
}

var runtimes = []runtime{
	{name: "microsoft/msccl", steps: 256, blocks: 216, files: 4},
	{name: "Azure/msccl-executor-nccl", steps: 64, blocks: 1024, needsRange: true},
	{name: "Azure/msccl-scheduler", steps: 64, blocks: 1024, needsRange: true, plugin: true},
	{name: "ROCm/rccl", steps: 64, blocks: 64, needsRange: true},
}

// Limits of all runtimes: XML elements of a gpu, and blocks that send (or receive) on a channel.
const (
	mostNodes  = 4096
	perChannel = 32
)

// Files returns how many files a runtime loads, the first ones of those that it can; 0: all.
func Files(name string) int {
	for _, rt := range runtimes {
		if rt.name == name {
			return rt.files
		}
	}
	return 0
}

// Runtimes returns the names of the runtimes that choose among these files.
func Runtimes() (names []string) {
	for _, rt := range runtimes {
		names = append(names, rt.name)
	}
	return names
}

// refuses lists the rules of a runtime that a file breaks.
func (rt *runtime) refuses(a *algo) (why []string) {
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if rt.needsRange {
		for _, x := range []struct {
			name string
			has  bool
		}{{"outofplace", a.hasOut}, {"minBytes", a.hasMin}, {"maxBytes", a.hasMax}} {
			if !x.has {
				say("attribute %s is missing", x.name)
			}
		}
	}
	only := map[string]bool{"custom": true, "reduce_scatter": true}
	if rt.needsRange && only[a.coll] {
		say("coll %q is unknown to it", a.coll)
	}
	only = map[string]bool{"reducescatter": true, "send": true, "recv": true, "gather": true, "scatter": true, "alltoallv": true}
	if !rt.needsRange && only[a.coll] {
		say("coll %q is unknown to it", a.coll)
	}
	if !rt.needsRange && a.minBytes > a.maxBytes {
		say("minBytes %d is above maxBytes %d", a.minBytes, a.maxBytes)
	}
	if a.channels > maxChannels {
		say("nchannels is %d, and there are at most %d", a.channels, maxChannels)
	}
	steps, blocks, shared := 0, a.mostBlocks(), 0
	for g := range a.gpus {
		var senders, receivers [maxChannels]int
		for b := range a.gpus[g].blocks {
			bl := &a.gpus[g].blocks[b]
			steps = max(steps, len(bl.steps))
			if slices.ContainsFunc(bl.steps, func(s step) bool { return s.op.sends() }) {
				senders[bl.channel]++
			}
			if slices.ContainsFunc(bl.steps, func(s step) bool { return s.op.receives() }) {
				receivers[bl.channel]++
			}
			shared = max(shared, senders[bl.channel], receivers[bl.channel])
		}
	}
	if steps > rt.steps {
		say("a tb has %d steps, and at most %d fit", steps, rt.steps)
	}
	if blocks > rt.blocks {
		say("a gpu has %d blocks, and at most %d fit", blocks, rt.blocks)
	}
	if shared > perChannel {
		say("%d blocks of a gpu send or receive on one channel, and at most %d may", shared, perChannel)
	}
	if a.nodes+1 > mostNodes {
		say("a gpu has %d XML elements, and at most %d are read", a.nodes+1, mostNodes)
	}
	return why
}

// mostBlocks returns the largest number of blocks of a gpu.
func (a *algo) mostBlocks() (most int) {
	for g := range a.gpus {
		most = max(most, len(a.gpus[g].blocks))
	}
	return most
}

// notes returns warnings: what runtimes refuse, and probable mistakes.
func (a *algo) notes() (notes []string) {
	for i := range runtimes {
		if why := runtimes[i].refuses(a); len(why) > 0 && !runtimes[i].plugin {
			notes = append(notes, fmt.Sprintf("%s would refuse it: %s", runtimes[i].name, joined(why)))
		}
	}
	used := map[int]bool{}
	bare, remote := 0, 0
	for g := range a.gpus {
		for b := range a.gpus[g].blocks {
			bl := &a.gpus[g].blocks[b]
			used[bl.channel] = true
			for _, s := range bl.steps {
				if s.op == opNop && s.depBlock < 0 {
					bare++
				}
				if (s.op == opRrc || s.op == opRrcs) && s.src != s.dst {
					remote++
				}
			}
		}
	}
	if last := slices.Max(append(slices.Collect(maps.Keys(used)), -1)); last >= a.channels {
		notes = append(notes,
			fmt.Sprintf("nchannels is %d, and blocks use channel %d: runtimes connect channels 0 to %d only", a.channels, last, a.channels-1))
	} else if len(used) != a.channels {
		notes = append(notes, fmt.Sprintf("nchannels is %d, and the blocks use %d channels", a.channels, len(used)))
	}
	if a.maxBytes > 0 && a.minBytes > a.maxBytes {
		notes = append(notes, fmt.Sprintf("minBytes %d is above maxBytes %d: no runtime will ever take it", a.minBytes, a.maxBytes))
	}
	if !a.inPlace && a.hasOut && !a.outOfPlace {
		notes = append(notes, "inplace and outofplace are 0: no runtime will ever take it; judged out of place")
	}
	if bare > 0 {
		notes = append(notes,
			fmt.Sprintf("%d nops have no dependency: runtimes then count the steps of their block otherwise than the file",
				bare))
	}
	if remote > 0 {
		notes = append(notes,
			fmt.Sprintf("%d rrc or rrcs steps read and write different chunks: both are taken as chunks of the rank itself",
				remote))
	}
	if handed := a.handed(); handed > 0 {
		notes = append(notes,
			fmt.Sprintf("%d dependencies hand chunks from block to block: microsoft/msccl publishes them without a fence if all connections are within a host (needsFence); large calls were seen to go wrong (its issue 38)",
				handed))
	}
	return notes
}

func joined(words []string) string {
	words = slices.Compact(words)
	text := ""
	for i, w := range words {
		if i > 0 {
			text += "; "
		}
		text += w
	}
	return text
}

// handed counts dependencies on a step that wrote chunks which the step that waits reads. A nop
// hands its dependency to the next step.
func (a *algo) handed() (n int) {
	for g := range a.gpus {
		blocks := map[int]*block{}
		for b := range a.gpus[g].blocks {
			blocks[a.gpus[g].blocks[b].id] = &a.gpus[g].blocks[b]
		}
		for b := range a.gpus[g].blocks {
			steps := a.gpus[g].blocks[b].steps
			var waits []*step // passed on by nops
			for i := range steps {
				s := &steps[i]
				if of := blocks[s.depBlock]; of != nil && s.depStep >= 0 && s.depStep < len(of.steps) {
					waits = append(waits, &of.steps[s.depStep])
				}
				if s.op == opNop {
					continue
				}
				for _, w := range waits {
					if a.reads(s, w) {
						n++
					}
				}
				waits = nil
			}
		}
	}
	return n
}

// reads reports whether a step reads chunks that another one of its gpu has written.
func (a *algo) reads(s, written *step) bool {
	if !written.op.writesDst() {
		return false
	}
	meet := func(p place) bool {
		same := p.buffer == written.dst.buffer || a.inPlace && p.buffer != scratch && written.dst.buffer != scratch
		return same && p.chunk < written.dst.chunk+written.count && written.dst.chunk < p.chunk+s.count
	}
	return s.op.readsSrc() && meet(s.src) || s.op == opRe && meet(s.dst)
}
