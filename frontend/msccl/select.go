package msccl

import (
	"fmt"

	"kernbench/frontend/plan"
)

// whyNot lists the reasons why a runtime does not take the file for a call, and reports whether it
// loads the file. Sources: microsoft/msccl:src/graph/tuning.cc, Azure/msccl-executor-nccl and
// ROCm/rccl:src/misc/msccl/msccl_lifecycle.cc, Azure/msccl-scheduler:src/scheduler.cc.
func (a *algo) whyNot(name string, q plan.Query) (why []string, loaded bool) {
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	var rt *runtime
	for i := range runtimes {
		if runtimes[i].name == name {
			rt = &runtimes[i]
		}
	}
	if rt == nil {
		return []string{"no runtime " + name + " takes MSCCL XML"}, false
	}
	if coll := collectives[a.coll]; coll != q.Collective {
		say("coll is %s, the call is %s", a.coll, q.Collective)
	}
	if a.ngpus != q.World {
		say("ngpus is %d, the call has %d ranks", a.ngpus, q.World)
	}
	last := a.maxBytes
	if !rt.needsRange {
		last-- // this one compares with less
	} else if last == 0 {
		last = q.Bytes
	}
	if last < 0 {
		say("maxBytes is 0: it is for no size")
	} else if q.Bytes < a.minBytes || q.Bytes > last {
		say("it is for %d to %d bytes, the call has %d", a.minBytes, last, q.Bytes)
	}
	switch {
	case !rt.needsRange && a.inPlace != q.InPlace:
		say("inplace is %d, the call is %s", number(a.inPlace), placement(q.InPlace))
	case rt.needsRange && q.InPlace && !a.inPlace:
		say("inplace is 0, the call is in place")
	case rt.needsRange && !q.InPlace && !a.outOfPlace:
		say("outofplace is 0, the call is out of place")
	}
	count := q.Bytes / max(q.Elem, 1)
	if of := parts(q.Collective, q.World); rt.plugin && of > 1 {
		if count /= int64(of); count%int64(a.chunks) != 0 {
			say("%d elements, those of one rank of %d, are not divisible by nchunksperloop (%d)", count, of, a.chunks)
		}
	} else if count%int64(a.chunks) != 0 {
		say("%d elements are not divisible by nchunksperloop (%d)", count, a.chunks)
	}
	if q.Op == "avg" && reduces(q.Collective) && !rt.plugin {
		say("avg is not done by programs: sum, prod, max and min are")
	}
	refused := rt.refuses(a)
	for _, r := range refused {
		say("it refuses the file: %s", r)
	}
	return why, len(refused) == 0 && a.ngpus == q.World
}

// parts returns how many times the count of a call the larger of its buffers has.
func parts(coll string, ranks int) int {
	switch coll {
	case "all_gather", "reduce_scatter", "all_to_all":
		return ranks
	}
	return 1
}

func reduces(coll string) bool {
	return coll == "all_reduce" || coll == "reduce" || coll == "reduce_scatter"
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func placement(inPlace bool) string {
	if inPlace {
		return "in place"
	}
	return "out of place"
}
