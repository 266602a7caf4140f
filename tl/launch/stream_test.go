package launch

import (
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// A batch that no executor can run is refused before anything of it runs.
func TestBatchesAreValidated(t *testing.T) {
	team, err := mem.NewTeam("one", []int32{0})
	if err != nil {
		t.Fatal(err)
	}
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "sig", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 1)}}})
	if err != nil {
		t.Fatal(err)
	}
	w := mem.NewWindow("w", team, l, 0)
	at := func(off int64) mem.Addr { return mem.At(mem.HBM, 0, off) }
	rows := StreamOp{Kind: StreamCopy, Type: dtype.F32, Dst: at(1 << 20), Src: at(0), Bytes: 8, Rows: 3, DstPitch: 8, SrcPitch: 12}
	changed := func(change func(*StreamOp)) StreamOp {
		op := rows
		change(&op)
		return op
	}
	e, past := &Event{Name: "e"}, &Event{Name: "past", Happened: true}
	kernel := func(*tl.Context, tl.Args) {}
	launch := func(grid, resident int, g *Gang) StreamOp {
		return StreamOp{Kind: StreamLaunch, Launch: &GridLaunch{Kernel: kernel, Grid: grid, Resident: resident, Gang: g}}
	}
	tests := []struct {
		name string
		ops  []StreamOp
		want string // "": it is right
	}{
		{"rows", []StreamOp{rows}, ""},
		{"one row", []StreamOp{changed(func(op *StreamOp) { op.Rows, op.DstPitch, op.SrcPitch = 1, 0, 0 })}, ""},
		{"no type", []StreamOp{changed(func(op *StreamOp) { op.Type = dtype.Invalid })}, "no element type"},
		{"nothing", []StreamOp{changed(func(op *StreamOp) { op.Bytes = 0 })}, "3 rows of 0 bytes"},
		{"no rows", []StreamOp{changed(func(op *StreamOp) { op.Rows = 0 })}, "0 rows of 8 bytes"},
		{"half an element", []StreamOp{changed(func(op *StreamOp) { op.Bytes = 6 })}, "found 3 rows of 6 bytes, want at least one row of a positive multiple of 4 bytes"},
		{"rows on top of each other", []StreamOp{changed(func(op *StreamOp) { op.DstPitch = 4 })}, "found 3 rows of 8 bytes, 4 bytes apart, want rows that do not overlap"},
		{"a step back", []StreamOp{changed(func(op *StreamOp) { op.SrcPitch = -8 })}, "-8 bytes apart"},
		{"half an element apart", []StreamOp{changed(func(op *StreamOp) { op.SrcPitch = 10 })}, "10 bytes apart"},
		{"longer than a memory", []StreamOp{changed(func(op *StreamOp) { op.Bytes = 1 << 62 })}, "more than a memory can have"},
		{"more rows than 64 bits of bytes can count",
			[]StreamOp{changed(func(op *StreamOp) { op.Rows, op.DstPitch = 1<<40, 1<<40 })}, "bytes apart"},
		{"between elements", []StreamOp{changed(func(op *StreamOp) { op.Src += 2 })}, "multiples of 4 bytes"},
		{"no operation", []StreamOp{{Kind: 9}}, "(StreamKind(9)): there is no such operation"},
		{"no kernel", []StreamOp{{Kind: StreamLaunch, Launch: &GridLaunch{Grid: 1, Resident: 1}}}, "no kernel"},
		{"no programs", []StreamOp{launch(0, 1, nil)}, "a grid of 0 programs"},
		{"none resident", []StreamOp{launch(1, 0, nil)}, "0 resident"},
		{"too many programs", []StreamOp{launch(1<<40, 1, nil)}, "programs at most 2147483647"},
		{"half a group", []StreamOp{launch(1, 1, &Gang{Members: 2})}, "found 1 launches of a group of 2 members"},
		{"an event", []StreamOp{{Kind: StreamRecord, Event: e}, {Kind: StreamAwait, Event: e}, {Kind: StreamAwait, Event: past}}, ""},
		{"an event twice", []StreamOp{{Kind: StreamRecord, Event: e}, {Kind: StreamRecord, Event: e}},
			`operation 1: event "e" is recorded again`},
		{"an event of the past", []StreamOp{{Kind: StreamRecord, Event: past}}, `event "past" is recorded again`},
		{"no event", []StreamOp{{Kind: StreamAwait}}, "no event"},
		{"no word", []StreamOp{{Kind: StreamWrite}}, "no word"},
		{"a word", []StreamOp{{Kind: StreamWait, Win: w, Cmp: tl.LE, Value: -1 << 31}}, ""},
		{"no comparison", []StreamOp{{Kind: StreamWait, Win: w, Cmp: 6}}, "Cmp(6)"},
		{"a value that the word cannot hold", []StreamOp{{Kind: StreamWrite, Win: w, Value: 1 << 31}},
			"2147483648 does not fit in sig int32 × 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &Batch{Streams: []Stream{{Ops: tt.ops}}}
			switch err := b.Validate(); {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// Copies and programs count for the device of their stream.
func TestTrafficOfBatches(t *testing.T) {
	copied := func(dst, src int) StreamOp {
		return StreamOp{Kind: StreamCopy, Dst: mem.At(mem.HBM, dst, 0), Src: mem.At(mem.HBM, src, 64), Bytes: 8, Rows: 2}
	}
	b := &Batch{Streams: []Stream{
		{PE: 7, Rank: 2, Ops: []StreamOp{copied(1, 7), copied(7, 7)}},
		{PE: 5, Rank: 0},
		{PE: 7, Rank: 2, Ops: []StreamOp{copied(1, 3)}},
	}}
	got := b.Traffic(func(i int) tl.Traffic { return tl.Traffic{Rank: 9, Puts: int64(1 + i)} })
	want := []tl.Traffic{{Rank: 0, Puts: 2}, {Rank: 2, Puts: 4, Read: 16, Written: 32}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v, want %+v", got, want)
	}
}
