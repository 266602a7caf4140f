// Command examples is kernbench with the programs that the guides show: the algorithms and the
// host programs of this folder. It runs what the guides type:
//
//	go run ./docs/examples run --algorithm ring_sum --ranks 8 --verify-data
//
// A region from a line "// guide: NAME" to the line "// end" may stand, as it is, in a go block of
// a guide; guide_test.go checks that nothing else does. It may import whatever a user's program may.
package main

import (
	"os"

	"kernbench/cli"
)

// What the other files register is there before main runs.
func main() { os.Exit(cli.Main(os.Args[1:])) }
