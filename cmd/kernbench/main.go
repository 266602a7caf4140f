// Command kernbench is a laboratory for collective communication on simulated accelerators.
// Called without arguments it shows three commands to try. It may import cli only.
package main

import (
	"os"

	"kernbench/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
