package trace_test

import (
	"fmt"
	"os"

	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// A view is a sink with an end: give it events, then close it and look at the error.
func Example() {
	pe := func(i int) string { return fmt.Sprintf("sip0.cube0.pe%d", i) }
	view := trace.NewCCL(os.Stdout, pe, true)
	view.Emit(&trace.Event{Kind: trace.Recv, PE: 2, Peer: 1, Dir: uint8(tl.West), End: 360400 * unit.Picosecond, Bytes: 64})
	view.Emit(&trace.Event{Kind: trace.Send, PE: 1, Peer: 2, Dir: uint8(tl.East), Start: 340 * unit.Nanosecond,
		End: 346400 * unit.Picosecond, Bytes: 64})
	if err := view.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [ccl t=346.4 send] sip0.cube0.pe1 dir=E nbytes=64 seq=0
	// [ccl t=360.4 recv] sip0.cube0.pe2 dir=W nbytes=64 seq=0
}
