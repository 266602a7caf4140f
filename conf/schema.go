package conf

import (
	"encoding/json"
	"fmt"
	"reflect"

	"kernbench/internal/near"
	"kernbench/unit"
)

// Schema returns the JSON Schema (draft 2020-12) of a file, "topology" or "ccl", for editors that
// complete and check YAML. It is made from the same struct tags as the decoder, so that the two
// cannot differ.
func Schema(kind string) ([]byte, error) {
	var root *field
	var values reflect.Value
	switch kind {
	case "topology":
		root, values = topologySchema(), reflect.ValueOf(DefaultTopology().values)
	case "ccl":
		root, values = cclSchema(), reflect.ValueOf(DefaultCCL().values)
	default:
		return nil, near.Unknown("schema", kind, []string{"topology", "ccl"})
	}
	s := root.schema(values)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "kernbench " + kind + ".yaml"
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", kind, err)
	}
	return append(data, '\n'), nil
}

// object is a JSON object; encoding/json prints its keys in order.
type object map[string]any

// schema returns the schema of f; value is its default, or invalid if it has none.
func (f *field) schema(value reflect.Value) object {
	s := object{}
	if f.doc != "" {
		s["description"] = f.doc
	}
	hasDefault := value.IsValid() && !f.optional
	switch f.kind {
	case kindStruct:
		properties := object{}
		for _, c := range f.fields {
			var v reflect.Value
			if hasDefault {
				v = value.Field(c.index)
			}
			properties[c.key] = c.schema(v)
		}
		s["type"] = []string{"object", "null"}
		s["properties"] = properties
		s["additionalProperties"] = false
		return s
	case kindMap:
		s["type"] = []string{"object", "null"}
		s["propertyNames"] = object{"pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$"}
		s["additionalProperties"] = f.elem.schema(reflect.Value{})
		return s
	case kindList:
		item := f.elem.schema(reflect.Value{})
		delete(item, "description")
		s["type"], s["items"] = "array", item
		if f.unique {
			s["uniqueItems"] = true
		}
	case kindInt:
		s["type"], s["minimum"], s["maximum"] = "integer", f.min.value, f.max.value
	case kindFloat:
		s["type"], s["minimum"], s["maximum"] = "number", f.min.value, f.max.value
	case kindBool:
		s["type"] = "boolean"
	case kindString:
		s["type"] = "string"
		switch {
		case f.enum != nil:
			s["enum"] = f.enum
		case f.form != nil:
			s["pattern"] = f.form.String()
		default:
			s["pattern"] = nameForm.String()
			s["maxLength"] = longestName
		}
	case kindTime:
		s.either(f, "number", float64(unit.Nanosecond), `^[0-9.]+ *(ps|ns|us|µs|μs|ms|s)$`)
	case kindRate:
		s.either(f, "number", float64(unit.GBPerSecond), `^[0-9.]+ *([kKMGT]B|[KMGT]iB|[MGT]bit|B)/s$`)
	case kindBytes:
		s.either(f, "integer", 1, `^[0-9.]+ *([bB]|[kKmMgGtT]([iI]([bB])?)?)?$`)
	}
	if hasDefault {
		s["default"] = f.plain(value)
	}
	return s
}

// either describes a quantity: a bare number in the given unit, or a text with a unit.
func (s object) either(f *field, number string, scale float64, pattern string) {
	s["anyOf"] = []object{
		{"type": number, "minimum": f.min.value / scale, "maximum": f.max.value / scale},
		{"type": "string", "pattern": pattern},
	}
	if f.zero != "" {
		s["anyOf"] = append(s["anyOf"].([]object), object{"const": f.zero})
	}
}

// plain turns a default into its form in a YAML file: times in ns, rates in GB/s.
func (f *field) plain(v reflect.Value) any {
	if f.zero != "" && v.IsZero() {
		return f.zero
	}
	switch x := v.Interface().(type) {
	case unit.Time:
		return x.Ns()
	case unit.Rate:
		return x.GBs()
	}
	return v.Interface()
}
