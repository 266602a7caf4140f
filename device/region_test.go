package device_test

import (
	"fmt"
	"testing"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// An address is named by the object there, else by the last object that was there.
func TestRegion(t *testing.T) {
	c, team, w := pair(t)
	x := must(c.Zeros(1, 16, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t).Named("x")
	check := func(when string, a mem.Addr, want string) {
		t.Helper()
		if got := c.Region(a); got != want {
			t.Errorf("%s: %v is %q, want %q", when, a, got, want)
		}
	}
	shard := x.Shards()[1]
	check("first", shard.Addr+9, "x[6]")
	check("last", shard.Addr+15, "x[7]")
	check("behind", shard.Addr+16, "")
	check("data", w.Addr(1, 4), "box.data[1]")
	check("word", w.WordAddr(0, 3), "box.ready[3]")
	check("meeting place", team.Meeting.Addr(0, 0), "pair.meeting.rounds[0]")
	check("no member", mem.At(mem.HBM, 2, w.Base), "")
	check("other memory", mem.At(mem.TCM, 0, 0), "")
	check("virtual", x.VA(), "")

	if err := c.FreeWindow(w); err != nil {
		t.Fatal(err)
	}
	check("freed", w.Addr(1, 4), "box.data[1]")
	must(c.NewWindow("next", team, 0, mem.Buffer{Name: "bytes", Parts: []mem.Part{mem.DataPart("", dtype.U8, 16)}}))(t)
	check("in use again", w.Addr(1, 4), "next.bytes[4]")
	check("freed, and behind what is there now", w.WordAddr(1, 1), "box.ready[1]")
	if err := x.Free(); err != nil {
		t.Fatal(err)
	}
	check("freed tensor", shard.Addr, "x[4]")
	for range 300 {
		y := must(c.Empty(1, 1, dtype.F32, device.DPPolicy{NumCubes: 1, NumPEs: 1}))(t)
		if err := y.Free(); err != nil {
			t.Fatal(err)
		}
	}
	check("freed long ago", shard.Addr, "")
}

// A fault of an address names the memory there or before it, with its range.
func TestNameMemory(t *testing.T) {
	c, _, w := pair(t)
	x := must(c.Zeros(1, 16, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t).Named("x")
	y := must(c.Empty(1, 1, dtype.F32, device.DPPolicy{NumCubes: 1, NumPEs: 1}))(t).Named("y")
	shard, only := x.Shards()[1], y.Shards()[0]
	for _, tt := range []struct {
		when string
		at   mem.Addr
		want string
	}{
		{"in a shard", shard.Addr + 8, fmt.Sprintf("the shard of tensor x on sip0.cube0.pe1 has 16 bytes from %v on", shard.Addr)},
		{"in a whole tensor", only.Addr, fmt.Sprintf("tensor y has 4 bytes from %v on", only.Addr)},
		{"in a window", w.Addr(1, 4), fmt.Sprintf("window box has %d bytes from %v on", w.Layout.Bytes, w.Addr(1, 0))},
		{"behind a tensor", only.VA + 4, fmt.Sprintf("the last memory before it is tensor y, with 4 bytes from %v on", only.VA)},
		{"in no memory", mem.At(mem.TCM, 0, 8), ""},
	} {
		e := &fault.BadAddress{At: uint64(tt.at)}
		c.NameMemory(fmt.Errorf("launch: %w", e))
		if e.Memory != tt.want {
			t.Errorf("%s: %q, want %q", tt.when, e.Memory, tt.want)
		}
	}
	c.NameMemory(nil)
}
