package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Garbage may take so much beside what is in use: little for a large machine, which leaves none
// while it is simulated, and for the many small runs of a sweep enough that collecting it does not
// count. A process that can stay within 1 GiB does: there garbage may take less.
const (
	garbageMost  = 3         // times what is in use
	garbageFree  = 128 << 20 // bytes of garbage that cost little
	garbageLeast = 0.5
	garbageTight = 0.1       // where the heap would exceed heapAimedAt
	heapAimedAt  = 960 << 20 // bytes
)

// paceGarbage sets that up, and again after each collection. Who has said GOGC or GOMEMLIMIT has it
// so.
func paceGarbage() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	debug.SetGCPercent(garbagePercent(0))
	var again func(*[16]byte)
	again = func(collected *[16]byte) {
		metrics.Read(live)
		debug.SetGCPercent(garbagePercent(live[0].Value.Uint64()))
		runtime.SetFinalizer(collected, again)
	}
	runtime.SetFinalizer(new([16]byte), again)
}

// garbagePercent is what a collection waits for, as GOGC counts: per cent of the bytes in use.
func garbagePercent(live uint64) int {
	used := float64(max(live, 1))
	free := max(garbageLeast, min(garbageMost, garbageFree/used))
	if within := heapAimedAt/used - 1; within >= garbageTight {
		free = min(free, within)
	}
	return int(100 * free)
}
