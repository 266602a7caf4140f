//go:build !unix

package selfbench

import (
	"os"
	"time"
)

// processTime returns the time that has passed, in place of CPU time.
func processTime() time.Duration { return time.Since(began) }

// mostResident is not known here.
func mostResident(*os.ProcessState) int64 { return 0 }
