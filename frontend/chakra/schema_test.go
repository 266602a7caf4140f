package chakra

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// schema is the messages of a .proto file: their fields by number.
type schema map[string]map[int]schemaField

type schemaField struct{ name, typ string }

// readSchema reads what the test needs of a .proto file: messages with fields and a oneof.
func readSchema(t *testing.T, path string) schema {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	message := regexp.MustCompile(`^message (\w+) \{`)
	line := regexp.MustCompile(`^\s*(?:repeated )?(\w+) (\w+) = (\d+);`)
	s := schema{}
	var current map[int]schemaField
	for l := range strings.Lines(string(text)) {
		if m := message.FindStringSubmatch(l); m != nil {
			current = map[int]schemaField{}
			s[m[1]] = current
		} else if m := line.FindStringSubmatch(l); m != nil && current != nil {
			n, _ := strconv.Atoi(m[3])
			current[n] = schemaField{m[2], m[1]}
		} else if strings.HasPrefix(l, "enum") {
			current = nil
		}
	}
	return s
}

// decode prints a message by the schema, one field a line. It fails at a field that the schema does
// not have, or whose encoding does not match its type.
func (s schema) decode(t *testing.T, out *strings.Builder, message, indent string, data []byte) {
	t.Helper()
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		data = data[max(n, 0):]
		f, ok := s[message][int(key>>3)]
		if n <= 0 || !ok {
			t.Fatalf("%s has no field %d", message, key>>3)
		}
		value, n := binary.Uvarint(data)
		switch key & 7 {
		case 0:
			data = data[n:]
			if f.typ == "string" || s[f.typ] != nil {
				t.Fatalf("%s.%s is a number, want %s", message, f.name, f.typ)
			}
			fmt.Fprintf(out, "%s%s: %d\n", indent, f.name, value)
		case 2:
			body := data[n : n+int(value)]
			data = data[n+int(value):]
			switch {
			case s[f.typ] != nil:
				fmt.Fprintf(out, "%s%s {\n", indent, f.name)
				s.decode(t, out, f.typ, indent+"  ", body)
				fmt.Fprintf(out, "%s}\n", indent)
			case f.typ == "string":
				fmt.Fprintf(out, "%s%s: %q\n", indent, f.name, body)
			default: // packed
				for len(body) > 0 {
					v, n := binary.Uvarint(body)
					body = body[n:]
					fmt.Fprintf(out, "%s%s: %d\n", indent, f.name, v)
				}
			}
		default:
			t.Fatalf("%s.%s has wire type %d, which this test does not decode", message, f.name, key&7)
		}
	}
}

// scalars are the types of values, in the order of AttributeProto.
// Each has two fields there: a value and a list.
var scalars = []string{"double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
	"sfixed32", "sfixed64", "bool", "string", "bytes"}

// published returns the part of mlcommons/chakra's et_def.proto about the messages in a trace.
func published() schema {
	text := func(n int, names ...string) map[int]schemaField {
		fields := map[int]schemaField{}
		for i, name := range names {
			fields[n+i] = schemaField{name, "string"}
		}
		return fields
	}
	s := schema{
		"GlobalMetadata": {1: {"version", "string"}, 2: {"attr", "AttributeProto"}},
		"Node": {1: {"id", "uint64"}, 2: {"name", "string"}, 3: {"type", "NodeType"}, 4: {"ctrl_deps", "uint64"},
			5: {"data_deps", "uint64"}, 6: {"start_time_micros", "uint64"}, 7: {"duration_micros", "uint64"},
			8: {"inputs", "IOInfo"}, 9: {"outputs", "IOInfo"}, 10: {"attr", "AttributeProto"}},
		"IOInfo":         text(1, "values", "shapes", "types"),
		"AttributeProto": text(1, "name", "doc_string"),
	}
	for i, name := range scalars {
		list := strings.ToUpper(name[:1]) + name[1:] + "List"
		s["AttributeProto"][3+2*i] = schemaField{name + "_val", name}
		s["AttributeProto"][4+2*i] = schemaField{name + "_list", list}
		s[list] = map[int]schemaField{1: {"values", name}}
	}
	return s
}

// The schema in these tests equals the published file.
func TestPublishedSchema(t *testing.T) {
	path := os.Getenv("KERNBENCH_CHAKRA_PROTO")
	if path == "" {
		t.Skip("set KERNBENCH_CHAKRA_PROTO to the path of et_def.proto to compare with it")
	}
	file := readSchema(t, path)
	for name, fields := range published() {
		if !maps.Equal(file[name], fields) {
			t.Errorf("%s has %v in the file, and %v here", name, file[name], fields)
		}
	}
}

func TestWriteFollowsTheSchema(t *testing.T) {
	s := published()
	var b bytes.Buffer
	err := Write(&b, &Trace{
		Metadata: Metadata{Version: "0.0.4", Attrs: []Attr{{Name: "schema", Value: NewText("x")}}},
		Nodes: []Node{{ID: 3, Name: "send", Type: CommSendNode, CtrlDeps: []uint64{1}, DataDeps: []uint64{2, 300},
			Start: 4, Duration: 5, Outputs: IOInfo{Values: "v"}, Attrs: []Attr{{Name: "comm_size", Value: NewInt(Int64, 64)},
				{Name: "comm_dst", Value: NewInt(Int32, 1)}, {Name: "is_cpu_op", Value: NewInt(Bool, 0)},
				{Name: "dims", Value: Value{Type: Bool.List(), Numbers: []uint64{1, 1}}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, data := 0, b.Bytes(); len(data) > 0; i++ {
		size, n := binary.Uvarint(data)
		s.decode(t, &out, []string{"GlobalMetadata", "Node"}[min(i, 1)], "", data[n:n+int(size)])
		data = data[n+int(size):]
	}
	want := `version: "0.0.4"
attr {
  name: "schema"
  string_val: "x"
}
id: 3
name: "send"
type: 5
ctrl_deps: 1
data_deps: 2
data_deps: 300
start_time_micros: 4
duration_micros: 5
outputs {
  values: "v"
}
attr {
  name: "comm_size"
  int64_val: 64
}
attr {
  name: "comm_dst"
  int32_val: 1
}
attr {
  name: "is_cpu_op"
  bool_val: 0
}
attr {
  name: "dims"
  bool_list {
    values: 1
    values: 1
  }
}
`
	if out.String() != want {
		t.Errorf("decoded\n%swant\n%s", out.String(), want)
	}
}

// The types of values have the numbers of the schema.
func TestValueTypesFollowTheSchema(t *testing.T) {
	attr := published()["AttributeProto"]
	for v := Double; v <= lastValue; v++ {
		want := v.element().String() + "_val"
		if v.IsList() {
			want = v.element().String() + "_list"
		}
		if got := attr[int(v)].name; got != want {
			t.Errorf("field %d is %s in the schema, and %s here", v, got, want)
		}
	}
}
