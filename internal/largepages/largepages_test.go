package largepages

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// TestHeap checks that a later object lies in the advised part of the heap, and that the kernel has
// taken the advice.
func TestHeap(t *testing.T) {
	const n = 64 << 20
	if available() < n {
		t.Skip("this system has too little memory, or limits the address space")
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skipf("the kernel has no large pages: %v", err)
	}
	hi := heap(n)
	later := make([]byte, n/2)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(later)))
	if at >= hi {
		t.Errorf("a later object of %d bytes is at %#x, want it below %#x, where the part ends", n/2, at, hi)
	}
	flags, err := flagsOf(at + n/4)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(flags, " hg") {
		t.Errorf("its memory has the flags %q, want hg (advised to be in large pages) among them", flags)
	}
	runtime.KeepAlive(later)
}

// flagsOf returns the VmFlags of the mapping that an address is in.
func flagsOf(at uintptr) (string, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return "", err
	}
	defer f.Close()
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= at && at < hi
		}
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && inside {
			return flags, nil
		}
	}
	return "", fmt.Errorf("/proc/self/smaps has no flags for %#x", at)
}
