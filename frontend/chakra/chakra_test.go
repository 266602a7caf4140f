package chakra

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"
)

// unhex decodes a text in hexadecimal, ignoring blanks.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The bytes are written by hand from the schema, so that Read and Write cannot share a mistake.
const byHand = `
	07  0a 05 302e302e34                      # version 0.0.4
	29  08 07  12 01 73  18 05                # node 7, s, COMM_SEND_NODE
	    22 02 0102  28 03                     # ctrl_deps 1 2 packed, data_deps 3 not packed
	    38 09                                 # duration 9
	    52 0d 0a09 636f6d6d5f73697a65 48 40   # comm_size int64 64
	    52 09 0a03 647374 38 8080 08          # dst int32 131072, in a longer number
`

func byHandBytes(t testing.TB) []byte {
	var b strings.Builder
	for line := range strings.Lines(byHand) {
		b.WriteString(strings.Split(line, "#")[0] + " ")
	}
	return unhex(t, b.String())
}

func TestReadByHand(t *testing.T) {
	trace, err := Read("a.et", bytes.NewReader(byHandBytes(t)))
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{{
		ID: 7, Name: "s", Type: CommSendNode, CtrlDeps: []uint64{1, 2}, DataDeps: []uint64{3}, Duration: 9,
		Attrs:  []Attr{{Name: "comm_size", Value: NewInt(Int64, 64)}, {Name: "dst", Value: NewInt(Int32, 131072)}},
		Offset: 9,
	}}
	if trace.Metadata.Version != "0.0.4" || !reflect.DeepEqual(trace.Nodes, want) {
		t.Errorf("read %+v\nwant %+v", trace, want)
	}
}

func TestEveryValueComesBack(t *testing.T) {
	minus := func(v int64) uint64 { return uint64(v) }
	real := math.Float64bits
	values := []Value{
		{},
		{Type: Double, Numbers: []uint64{real(-0.1)}},
		{Type: Float, Numbers: []uint64{real(0.5)}},
		{Type: Int32, Numbers: []uint64{minus(math.MinInt32)}},
		{Type: Int64, Numbers: []uint64{minus(math.MinInt64)}},
		{Type: Uint32, Numbers: []uint64{math.MaxUint32}},
		{Type: Uint64, Numbers: []uint64{math.MaxUint64}},
		{Type: Sint32, Numbers: []uint64{minus(math.MinInt32)}},
		{Type: Sint64, Numbers: []uint64{minus(math.MinInt64)}},
		{Type: Fixed32, Numbers: []uint64{math.MaxUint32}},
		{Type: Fixed64, Numbers: []uint64{math.MaxUint64}},
		{Type: Sfixed32, Numbers: []uint64{minus(-2)}},
		{Type: Sfixed64, Numbers: []uint64{minus(-2)}},
		{Type: Bool, Numbers: []uint64{0}},
		{Type: String, Texts: []string{""}},
		{Type: Bytes, Texts: []string{"\xff\x00"}},
		{Type: Double.List(), Numbers: []uint64{real(1), real(-2)}},
		{Type: Float.List(), Numbers: []uint64{real(1), real(-2)}},
		{Type: Sint32.List(), Numbers: []uint64{0, minus(-1), 1}},
		{Type: Sfixed64.List(), Numbers: []uint64{minus(-1)}},
		{Type: Bool.List(), Numbers: []uint64{1, 0, 1}},
		{Type: Uint64.List()},
		{Type: String.List(), Texts: []string{"a", "", "b"}},
		{Type: Bytes.List(), Texts: []string{"\xff"}},
	}
	in := &Trace{File: "x", Metadata: Metadata{Version: "1"}}
	for i, v := range values {
		in.Nodes = append(in.Nodes, Node{ID: uint64(i), Attrs: []Attr{{Name: "v", Doc: "d", Value: v}},
			Inputs: IOInfo{Values: "a", Shapes: "b", Types: "c"}})
	}
	out := writeAndRead(t, in)
	for i, v := range values {
		if got := out.Nodes[i].Attrs[0].Value; !reflect.DeepEqual(got, v) {
			t.Errorf("%v %v came back as %v %v", v.Type, v, got.Type, got)
		}
		if out.Nodes[i].Inputs != in.Nodes[i].Inputs {
			t.Errorf("inputs came back as %+v", out.Nodes[i].Inputs)
		}
	}
}

func writeAndRead(t testing.TB, in *Trace) *Trace {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	out, err := Read(in.File, &b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want int64
		ok   bool
	}{
		{NewInt(Int32, -3), -3, true},
		{NewInt(Uint64, 5), 5, true},
		{NewInt(Bool, 1), 1, true},
		{NewInt(Uint64, -1), 0, false}, // 2^64-1
		{Value{Type: Double, Numbers: []uint64{math.Float64bits(8)}}, 8, true},
		{Value{Type: Double, Numbers: []uint64{math.Float64bits(8.5)}}, 0, false},
		{Value{Type: Double, Numbers: []uint64{math.Float64bits(math.NaN())}}, 0, false},
		{Value{Type: Int64.List(), Numbers: []uint64{1}}, 0, false},
		{NewText("7"), 0, false},
		{Value{}, 0, false},
	} {
		if got, ok := c.v.Int(); ok != c.ok || ok && got != c.want {
			t.Errorf("%v of %v: %d, %v, want %d, %v", c.v.Type, c.v.Numbers, got, ok, c.want, c.ok)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ name, hex, want string }{
		{"empty", "", "x.et:byte 0: metadata: the file is empty"},
		{"length cut off", "80", "x.et:byte 0: metadata: the file ends within the length"},
		{"not a trace", "ffffffffff01", "more than 5 bytes"},
		{"huge message", "ffffff7f", "x.et:byte 0: metadata: a message of 268435455 bytes, the limit is"},
		{"message cut off", "00 05 08", "x.et:byte 1: node number 0: a message of 5 bytes, the file has 1 left"},
		{"number cut off", "00 02 08 80", "x.et:byte 3: node 0: the message ends within a number"},
		{"number too long", "00 0c 08 ffffffffffffffffffff01", "a number has more than 64 bits"},
		{"field 0", "00 02 0001", "field number 0"},
		{"group", "00 01 0b", "wire type 3, want 0, 1, 2 or 5"},
		{"string too long", "00 03 12 05 61", "field 2 has 5 bytes, the message has 1 left"},
		{"id is a string", "00 02 0a00", "field 1 (id) has wire type 2, want 0"},
		{"name is a number", "00 02 1000", "field 2 (name) has wire type 0, want 2"},
		{"name is no text", "00 03 1201ff", "field 2 (name) is not UTF-8"},
		{"unknown type", "00 04 0809 1808", "x.et:byte 4: node 9: type 8, want 0 to 7"},
		{"int32 too large", "00 0a 0803 52 06 38 ffffffff0f", "x.et:byte 6: node 3: 4294967295 is no int32"},
		{"bool of two", "00 09 5207 e201 04 0a02 0102", "byte 10: node 0: 2 is no bool"},
		{"packed number cut off", "00 03 2201 80", "the message ends within a number"},
		{"fixed cut off", "00 04 5202 9d01", "the message ends within a number of 4 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read("x.et", bytes.NewReader(unhex(t, c.hex)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if _, ok := err.(*Error); err != nil && !ok {
				t.Errorf("error of type %T, want *Error", err)
			}
		})
	}
}

// Fields that this schema does not have are skipped, as in protobuf.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	trace, err := Read("x.et", bytes.NewReader(unhex(t, "00 0b 0805 a00101 aa0103 616263")))
	if err != nil || len(trace.Nodes) != 1 || trace.Nodes[0].ID != 5 {
		t.Errorf("read %+v, %v", trace, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(byHandBytes(f))
	f.Add(unhex(f, "00 0a 0803 52 06 38 ffffffff0f"))
	f.Add(unhex(f, "00 09 5207 e201 04 0a02 0101"))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := Read("fuzz.et", bytes.NewReader(data))
		if err != nil {
			return
		}
		again := writeAndRead(t, first)
		for _, trace := range []*Trace{first, again} {
			for i := range trace.Nodes {
				trace.Nodes[i].Offset = 0
			}
		}
		if !reflect.DeepEqual(first, again) {
			t.Errorf("read %+v, wrote it, and read %+v", first, again)
		}
	})
}
