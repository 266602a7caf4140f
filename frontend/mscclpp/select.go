package mscclpp

import (
	"fmt"

	"kernbench/frontend/plan"
)

// Runtimes returns those that choose among plans.
func Runtimes() []string { return []string{"microsoft/mscclpp"} }

// whyNot lists what keeps the runtime from taking the plan for a call, or the executor from
// carrying it out. Source: microsoft/mscclpp, ExecutionPlanHandle::match and checkMessageSize.
func (p *Plan) whyNot(collective string, q plan.Query) (why []string) {
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if collective != q.Collective {
		say("collective is %s, the call is %s", p.Collective, q.Collective)
	}
	if n := len(p.GPUs); n != q.World {
		say("it has %d gpus, the call has %d ranks", n, q.World)
	}
	if p.InPlace != q.InPlace {
		say("inplace is %v, the call is %s", p.InPlace, map[bool]string{true: "in place", false: "out of place"}[q.InPlace])
	}
	if n := uint64(max(q.Bytes, 0)); n < p.MinBytes || n > p.MaxBytes {
		say("it is for %d to %d bytes, the call has %d", p.MinBytes, p.MaxBytes, q.Bytes)
	}
	in, out := p.buffers(collective, q.Bytes)
	for rank, g := range p.GPUs {
		if !p.divides(in, g.InputChunks) || !p.divides(out, g.OutputChunks) {
			say("%d bytes of input in %d chunks and %d of output in %d chunks on rank %d: the executor wants whole units of %d bytes in each chunk",
				in, g.InputChunks, out, g.OutputChunks, rank, p.Alignment)
			break
		}
	}
	return why
}

// divides reports whether all of a buffer's chunks have the same whole number of units.
func (p *Plan) divides(bytes int64, chunks int) bool {
	a := int64(p.Alignment)
	return bytes%a == 0 && bytes/a%int64(chunks) == 0
}
