package trace

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"kernbench/tl"
)

// Of the values that a counter has within a nanosecond the last is written, and none if it has come
// back to that of before.
func TestCountersAreWrittenOnceInANanosecond(t *testing.T) {
	var b bytes.Buffer
	v := NewPFTrace(&b, peName, nil, true)
	for _, e := range []Event{
		{Kind: Message, Ring: 1, Dir: uint8(tl.East), Start: 0, End: 900},
		{Kind: Message, Ring: 2, Dir: uint8(tl.West), Start: 100, End: 900},
		{Kind: Message, Ring: 2, Dir: uint8(tl.West), Start: 200, End: 900},
		{Kind: Credit, Ring: 1, Dir: uint8(tl.East), Start: 950, End: 1500},
		{Kind: Message, Ring: 1, Dir: uint8(tl.East), Start: 1600, End: 2000},
		{Kind: Credit, Ring: 1, Dir: uint8(tl.East), Start: 2000, End: 3100},
	} {
		v.Emit(&e)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range decoded(t, b.Bytes()).counts {
		if at, rest, ok := strings.Cut(line, " "); ok && strings.Contains(rest, " slots = ") {
			got = append(got, at+" "+rest[strings.LastIndexByte(rest, '/')+1:])
		}
	}
	if want := []string{"0 ring E slots = 1", "0 ring W slots = 2", "3 ring E slots = 0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
