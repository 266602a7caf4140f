// guide: hello test

package main

import (
	"testing"

	"kernbench/kerneltest"
)

func TestPassOn(t *testing.T) {
	kerneltest.Run(t, passOn, kerneltest.Config{Collective: "shift", World: 4, NElem: 2})
}

// end
