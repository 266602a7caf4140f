// Package exhaustive is the flag -exhaustive of the tests. With it a test runs its whole grid, and
// not the sample that it runs by default. A test package that imports it has the flag. .ci/run sets
// it for the tests that call On, and for random tests if TestMain calls Properties.
//
// It may import the standard library only. Only tests import it.
package exhaustive

import (
	"flag"
	"os"
)

var on = flag.Bool("exhaustive", false, "run all cases of a grid, not a sample of them")

// On reports whether all cases of a grid are to be run.
func On() bool { return *on }

// Properties lets random tests (rapid.Check) try fewer programs, unless all cases are to be run or
// -rapid.checks or RAPID_CHECKS sets the number. TestMain calls it.
func Properties(checks string) {
	flag.Parse()
	if *on {
		return
	}
	_, chosen := os.LookupEnv("RAPID_CHECKS")
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen && flag.Lookup("rapid.checks") != nil {
		flag.Set("rapid.checks", checks)
	}
}
