package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Garbage may take so much beside what is in use: little for a large machine, which leaves none
// while it is simulated, and for the many small runs of a sweep enough that collecting it does not
// count.
const (
	garbageMost  = 3         // times what is in use
	garbageFree  = 128 << 20 // bytes of garbage that cost little
	garbageLeast = 0.5
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
	free := max(garbageLeast, min(garbageMost, garbageFree/float64(max(live, 1))))
	return int(100 * free)
}
