package run

import (
	"math"
	"os"
	"strconv"
	"strings"

	"kernbench/unit"
)

// freeMemory returns how much more memory this process can have: of the computer, of its control
// group, and of its address space. 0: the system does not say.
func freeMemory() unit.Bytes {
	const unknown = unit.Bytes(math.MaxInt64)
	free := min(available(), groupFree(), spaceFree())
	if free == unknown {
		return 0
	}
	return max(1, free)
}

// available returns what the computer can give without swapping.
func available() unit.Bytes {
	return kibibytes(after(contentOf("/proc/meminfo"), "MemAvailable:"))
}

// groupFree returns what the control group leaves of its limit.
func groupFree() unit.Bytes {
	for _, v := range [][2]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		limit, err := strconv.ParseInt(strings.TrimSpace(contentOf(v[0])), 10, 64)
		used, err2 := strconv.ParseInt(strings.TrimSpace(contentOf(v[1])), 10, 64)
		if err == nil && err2 == nil {
			return unit.Bytes(max(1, limit-used))
		}
	}
	return math.MaxInt64
}

// spaceFree returns what the limit of the address space leaves.
func spaceFree() unit.Bytes {
	fields := strings.Fields(after(contentOf("/proc/self/limits"), "Max address space"))
	if len(fields) == 0 {
		return math.MaxInt64
	}
	limit, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil { // unlimited
		return math.MaxInt64
	}
	return max(1, unit.Bytes(limit)-kibibytes(after(contentOf("/proc/self/status"), "VmSize:")))
}

// contentOf returns the content of a system file, or nothing if there is none.
func contentOf(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(data)
}

// after returns the rest of the line that begins with a name; empty if there is none.
func after(text, name string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// kibibytes reads a number of kB, as the system calls them.
func kibibytes(s string) unit.Bytes {
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(s, "kB")), 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return unit.Bytes(n) * unit.KiB
}
