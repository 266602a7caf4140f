package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"kernbench/internal/largepages"
)

// The garbage that may exist in addition to live memory. A large machine makes no garbage while it
// is simulated, so it needs little. The many small runs of a sweep need more, so that collecting
// costs little. Near 1 GiB less garbage is allowed, so that a process stays within it if it can.
const (
	garbageMost  = 3         // times the bytes in use
	garbageFree  = 128 << 20 // bytes of garbage that cost little
	garbageLeast = 0.5
	garbageTight = 0.04      // where the heap would exceed heapAimedAt otherwise
	heapAimedAt  = 880 << 20 // bytes
	heapMost     = 960 << 20 // bytes of heap that keep a process within 1 GiB

	// The heap at the first collection. A short run ends before it, and a collection would take a
	// tenth of its time. Go takes the percentage of 4 MiB as long as nothing was collected.
	heapFirst       = 128 << 20
	heapFirstCounts = 4 << 20

	// The part of the heap that is in large pages. With heapAimedAt most heaps fit.
	largeHeap = 1 << 30
)

// prepareHeap sets how the heap of the process grows. Only a command that simulates fills enough of
// it to repay the collection at the start.
func prepareHeap(simulates bool) {
	if simulates && os.Getenv("GOMEMLIMIT") == "" {
		largepages.Heap(largeHeap)
	}
	paceGarbage() // after Heap, which collects garbage
}

// paceGarbage sets the garbage percentage now and after each collection. If GOGC or GOMEMLIMIT is
// set, it does nothing.
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

// garbagePercent returns the value of GOGC for the bytes in use: the percentage of garbage that
// starts a collection.
func garbagePercent(live uint64) int {
	if live == 0 {
		return 100 * heapFirst / heapFirstCounts
	}
	used := float64(live)
	free := max(garbageLeast, min(garbageMost, garbageFree/used))
	if used*(1+garbageTight) <= heapMost {
		free = min(free, max(garbageTight, heapAimedAt/used-1))
	}
	return int(100 * free)
}
