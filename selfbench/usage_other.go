//go:build !unix

package selfbench

import (
	"os"
	"time"
)

// processTime stands for CPU time by what has passed.
func processTime() time.Duration { return time.Since(began) }

// mostResident is not known here.
func mostResident(*os.ProcessState) int64 { return 0 }
