// Command examples is kernbench with the programs that the guides show: the algorithms and the
// host programs of this folder. It runs the commands of the guides:
//
//	go run ./docs/examples run --algorithm ring_sum --ranks 8 --verify-data
//
// A region from a line "// guide: NAME" to the line "// end" may appear, unchanged, in a go block
// of a guide; guide_test.go checks every block. It may import everything that a user's program may.
package main

import (
	"os"

	"kernbench/cli"
)

// What the other files register is there before main runs.
func main() { os.Exit(cli.Main(os.Args[1:])) }
