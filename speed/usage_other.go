//go:build !unix

package speed

import "os"

// mostResident is not known here.
func mostResident(*os.ProcessState) int64 { return 0 }
