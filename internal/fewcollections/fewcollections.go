// Package fewcollections lets the garbage collector of a test binary run less often. Tests make
// many small machines, and collecting them took up to a third of their CPU time. The heap may grow
// to five times the live bytes, but little beyond a gigabyte. GOGC overrides it.
//
// It may import the standard library only. Only tests import it.
package fewcollections

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 30)
	}
}
