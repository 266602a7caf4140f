// Package fixedseed makes random tests (rapid.Check) begin at the same seed each time, so that the
// tests of a commit pass always or never. A test package that imports it gets this seed. RAPID_SEED
// or -rapid.seed sets another seed, and 0 means a new one each time: .ci/run random.
//
// It may import rapid only. Only tests import it.
package fixedseed

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // has the flag before this package sets it
)

// seed is any but 0, which stands for a new one each time.
const seed = "1"

func init() {
	if _, chosen := os.LookupEnv("RAPID_SEED"); chosen {
		return
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic(err) // rapid has no such flag any more
	}
}
