//go:build unix

package selfbench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// processTime returns the CPU time that this process has used, in its own code.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return time.Since(began)
	}
	return time.Duration(u.Utime.Nano())
}

// mostResident returns the peak of a process's resident memory in bytes. On Linux a process begins
// with the peak of the one that started it.
func mostResident(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // in bytes there, in KiB elsewhere
	}
	return int64(u.Maxrss) << 10
}
