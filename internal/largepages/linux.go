//go:build linux && (amd64 || arm64)

package largepages

import (
	"bytes"
	"math"
	"os"
	"syscall"
)

// available returns the largest part of the heap that Heap may ask for: a quarter of the memory. It
// is 0 if address space is limited, or counts as memory in use.
func available() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur != math.MaxUint64 {
		return 0
	}
	if policy, err := os.ReadFile("/proc/sys/vm/overcommit_memory"); err != nil || bytes.HasPrefix(policy, []byte("2")) {
		return 0
	}
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	return int(info.Totalram) * int(info.Unit) / 4
}

// advise asks for large pages under b. It ignores errors: without large pages all works as well.
func advise(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
