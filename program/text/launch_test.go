package text_test

import (
	"bytes"
	"errors"
	"testing"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/program/text"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// launchOf returns a launch of a file's kernel; nil if it is too large for a test.
func launchOf(t *testing.T, f *text.File) *launch.Launch {
	t.Helper()
	size := int64(f.Type.Size())
	out := int64(f.Elems) * size
	at := out + int64(f.Results)*size
	words := 0
	for _, l := range f.Windows {
		words += l.Words
	}
	if f.World > 8 || words > 1<<12 {
		return nil
	}
	g := launch.Group{PEsPerCube: 4, Args: tl.Args{DType: f.Type, NElem: f.Elems, Op: f.Op}}
	g.Blocks, g.Wiring = f.Split()
	for r := range f.World {
		g.PEs = append(g.PEs, int32(r))
		g.Args.Shards = append(g.Args.Shards, mem.At(mem.HBM, r, 0))
		if f.Results > 0 {
			g.Args.Outs, g.Args.OutElems = append(g.Args.Outs, mem.At(mem.HBM, r, out)), append(g.Args.OutElems, f.Results)
		}
	}
	for _, l := range f.Windows {
		team, err := mem.NewTeam("all", g.PEs)
		if err != nil {
			t.Fatal(err)
		}
		rounds, err := mem.NewLayout(0, []mem.Buffer{{Name: "rounds",
			Parts: []mem.Part{mem.SignalPart("", mem.Int64, max(1, team.Rounds()))}}})
		if err != nil {
			t.Fatal(err)
		}
		at = (at + 255) / 256 * 256
		team.Meeting = mem.NewWindow("meeting", team, rounds, at)
		g.Args.Windows = append(g.Args.Windows, mem.NewWindow("w", team, l, at+256))
		if at += 256 + l.Bytes; at > mem.MaxOffset {
			return nil
		}
	}
	return &launch.Launch{
		Name: f.Algorithm, Kernel: f.Kernel(), Groups: []launch.Group{g}, Addrs: &mem.Map{}, Scratch: 1 << 20,
		Ring: tl.Ring{Slots: f.Slots, SlotBytes: f.SlotBytes, Space: mem.TCM},
	}
}

// interprets runs the kernel of a file that has been read, each rank alone. Every mistake in a file
// is a fault of its own type, never a panic.
func interprets(t *testing.T, f *text.File) {
	t.Helper()
	l := launchOf(t, f)
	if l == nil {
		return
	}
	_, err := program.RecordLaunch(t.Context(), l, program.Options{Places: true})
	if p, ok := errors.AsType[*fault.Panic](err); ok {
		t.Fatalf("%v\n%s", p, textOf(t, f))
	}
}

func textOf(t *testing.T, f *text.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
