package conf

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"sync"

	"kernbench/unit"
)

// kind is the YAML form of a key's value.
type kind uint8

const (
	kindStruct kind = iota // a mapping with known keys
	kindMap                // a mapping with free keys
	kindList
	kindInt
	kindFloat
	kindBool
	kindString
	kindTime
	kindRate
	kindBytes
)

// field describes one key, as the tags of its struct field define it.
//
//	conf   the key; a key that ends in _ns or _gbs takes bare numbers in that unit
//	doc    what it means, for the JSON Schema and for people
//	min    smallest and
//	max    largest value allowed, in YAML syntax, so "1s" for a time
//	enum   the words allowed, separated by |; or those of networks: see networkWords
//	form   a regular expression of texts that are no names, and
//	like   an example of them
//	unique the elements of the list must differ
//	zero   a word that stands for 0, which no number does
type field struct {
	key      string
	doc      string
	index    int // of the struct field in its parent
	typ      reflect.Type
	optional bool // a pointer: nil where no source names the key
	kind     kind
	min, max limit
	enum     []string
	form     *regexp.Regexp // nil: a name
	sample   string
	unique   bool
	zero     string
	fields   []*field // kindStruct: its keys
	elem     *field   // kindList, kindMap: its elements
}

// limit is one end of a range: the value in the field's base unit (ps, bytes per second, bytes) and
// its text.
type limit struct {
	value float64 // exact: all limits are below 2^53
	label string
}

var (
	typeTime  = reflect.TypeFor[unit.Time]()
	typeRate  = reflect.TypeFor[unit.Rate]()
	typeBytes = reflect.TypeFor[unit.Bytes]()
)

// The schemas of the two files, read from the struct tags once.
var (
	topologySchema = sync.OnceValue(func() *field { return describe(reflect.TypeFor[machine](), "") })
	cclSchema      = sync.OnceValue(func() *field { return describe(reflect.TypeFor[library](), "") })
)

// describe reads the tags of typ, which is the type of the field with that tag. It panics on a
// mistake in the tags, which the tests of this package find.
func describe(typ reflect.Type, tag reflect.StructTag) *field {
	f := &field{key: tag.Get("conf"), doc: tag.Get("doc"), typ: typ, unique: tag.Get("unique") != "", zero: tag.Get("zero")}
	if typ.Kind() == reflect.Pointer {
		f.optional, f.typ = typ.Elem().Kind() != reflect.Struct, typ.Elem()
	}
	if words := tag.Get("enum"); words != "" {
		f.enum = wordsOf(words)
	}
	if form := tag.Get("form"); form != "" {
		f.form, f.sample = regexp.MustCompile(form), tag.Get("like")
	}
	switch f.kind = kindOf(f.typ); f.kind {
	case kindStruct:
		f.fields = describeFields(f.typ)
	case kindMap:
		f.elem = describe(f.typ.Elem(), "")
	case kindList:
		f.elem = describe(f.typ.Elem(), tag)
	case kindInt, kindFloat:
		f.min, f.max = f.limit(tag, "min", ""), f.limit(tag, "max", "")
	case kindTime:
		f.min, f.max = f.limit(tag, "min", "0ns"), f.limit(tag, "max", "1s")
	case kindRate:
		f.min, f.max = f.limit(tag, "min", "1MB/s"), f.limit(tag, "max", "1000TB/s")
	case kindBytes:
		f.min, f.max = f.limit(tag, "min", "1"), f.limit(tag, "max", "1TiB")
	}
	return f
}

func kindOf(typ reflect.Type) kind {
	switch typ {
	case typeTime:
		return kindTime
	case typeRate:
		return kindRate
	case typeBytes:
		return kindBytes
	}
	switch typ.Kind() {
	case reflect.Struct:
		return kindStruct
	case reflect.Map:
		return kindMap
	case reflect.Slice:
		return kindList
	case reflect.Int:
		return kindInt
	case reflect.Float64:
		return kindFloat
	case reflect.Bool:
		return kindBool
	case reflect.String:
		return kindString
	}
	panic(fmt.Sprintf("conf: no YAML form for %v", typ))
}

// describeFields reads the fields of a struct type. An optional field without tags other than its
// key is an override. The rest of its description is that of the key of the same name in Settings.
func describeFields(typ reflect.Type) []*field {
	var fields []*field
	for i := range typ.NumField() {
		sf := typ.Field(i)
		tag := sf.Tag
		if tag.Get("conf") == "" {
			continue
		}
		if sf.Type.Kind() == reflect.Pointer && tag.Get("doc") == "" {
			example, ok := reflect.TypeFor[Settings]().FieldByName(sf.Name)
			if !ok || example.Tag.Get("conf") != tag.Get("conf") || example.Type != sf.Type.Elem() {
				panic(fmt.Sprintf("conf: %v.%s overrides no field of Settings", typ, sf.Name))
			}
			tag = example.Tag
		}
		f := describe(sf.Type, tag)
		f.index = i
		fields = append(fields, f)
	}
	return fields
}

// limit reads the tag called name, or otherwise.
func (f *field) limit(tag reflect.StructTag, name, otherwise string) limit {
	word := tag.Get(name)
	if word == "" {
		word = otherwise
	}
	var value float64
	var label string
	var err error
	switch f.kind {
	case kindTime:
		var t unit.Time
		t, err = unit.ParseTime(word)
		value, label = float64(t), word
	case kindRate:
		var r unit.Rate
		r, err = unit.ParseRate(word)
		value, label = float64(r), word
	case kindBytes:
		var n unit.Bytes
		n, err = unit.ParseBytes(word)
		value, label = float64(n), n.String()
	default:
		value, err = strconv.ParseFloat(word, 64)
		label = word
	}
	if err != nil {
		panic(fmt.Sprintf("conf: %s: bad tag %s:%q: %v", f.key, name, word, err))
	}
	return limit{value, label}
}

// keys returns the keys of a struct.
func (f *field) keys() []string {
	keys := make([]string, len(f.fields))
	for i, child := range f.fields {
		keys[i] = child.key
	}
	return keys
}

// child returns the key of that name, or nil.
func (f *field) child(key string) *field {
	for _, c := range f.fields {
		if c.key == key {
			return c
		}
	}
	return nil
}

// paths lists the dotted paths of everything below f that can be set, with NAME for a free key and
// N for an index.
func (f *field) paths(prefix string) []string {
	var all []string
	switch f.kind {
	case kindStruct:
		for _, c := range f.fields {
			path := join(prefix, c.key)
			all = append(all, path)
			all = append(all, c.paths(path)...)
		}
	case kindMap:
		all = f.elem.paths(join(prefix, "NAME"))
	case kindList:
		all = f.elem.paths(join(prefix, "N"))
	}
	return all
}

// join puts key below the path prefix.
func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}
