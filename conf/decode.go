package conf

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// decoder writes the keys of one source into a value and records their places. All errors of a load
// are collected in its ledger.
type decoder struct {
	text   *text
	shift  int // columns by which the first line of the YAML text is shifted, after --set KEY=
	ledger *ledger
}

// ledger collects errors and places over all sources of a load.
type ledger struct {
	errs   Errors
	places places
	failed map[string]bool // keys whose value is invalid
	order  int
}

// clone returns a copy of l that is continued independently.
func (l *ledger) clone() *ledger {
	return &ledger{errs: slices.Clone(l.errs), places: maps.Clone(l.places), failed: maps.Clone(l.failed), order: l.order}
}

func (l *ledger) add(e *Error) {
	switch {
	case len(l.errs) < maxErrors:
		l.errs = append(l.errs, e)
	case len(l.errs) == maxErrors:
		l.errs = append(l.errs, &Error{File: e.File, Line: e.Line, Col: e.Col, Msg: "there is more; these first"})
	}
	l.failed[e.Key] = true
}

// full reports whether there are too many errors to continue.
func (l *ledger) full() bool { return len(l.errs) > maxErrors }

// doubtful reports whether key, or a key above it, failed.
func (l *ledger) doubtful(key string) bool {
	for !l.failed[key] {
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return l.failed[""]
		}
		key = key[:i]
	}
	return true
}

// at returns the place of a node.
func (d *decoder) at(n *yaml.Node) place {
	width := 1
	if n.Kind == yaml.ScalarNode {
		width = utf8.RuneCountInString(n.Value)
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			width += 2
		}
	}
	col := n.Column
	if n.Line == 1 {
		col += d.shift
	}
	return d.text.at(n.Line, col, width)
}

func (d *decoder) fail(n *yaml.Node, path, format string, args ...any) {
	d.ledger.add(d.at(n).errorf(path, format, args...))
}

// setAt returns the place of a setting. It is that of the value if that is a scalar. Lists and
// mappings may begin on a later line, so they have the place of the key.
func (d *decoder) setAt(key, value *yaml.Node) place {
	if value.Kind == yaml.ScalarNode && value.Tag != "!!null" {
		return d.at(value)
	}
	return d.at(key)
}

// mark records that path was set at p.
func (d *decoder) mark(path string, p place) {
	d.ledger.order++
	p.order = d.ledger.order
	d.ledger.places[path] = p
}

// value decodes n into v, whose description is f.
func (d *decoder) value(n *yaml.Node, f *field, v reflect.Value, path string) {
	if d.ledger.full() {
		return
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	isNull := n.Kind == yaml.ScalarNode && n.Tag == "!!null"
	switch {
	case isNull && (f.kind == kindStruct || f.kind == kindMap):
		// A key without a value changes nothing.
	case isNull:
		d.fail(n, path, "found no value, want %s", f.expected())
	case f.kind == kindStruct && n.Kind == yaml.MappingNode:
		d.structure(n, f, v, path)
	case f.kind == kindMap && n.Kind == yaml.MappingNode:
		d.named(n, f, v, path)
	case f.kind == kindList && n.Kind == yaml.SequenceNode:
		d.list(n, f, v, path)
	case f.kind <= kindList || n.Kind != yaml.ScalarNode:
		d.fail(n, path, "%v", f.unexpected(n))
	default:
		x, err := f.scalar(n)
		if err != nil {
			d.fail(n, path, "%v", err)
			return
		}
		if f.optional {
			p := reflect.New(f.typ)
			p.Elem().Set(x)
			x = p
		}
		v.Set(x)
	}
}

// pairs calls visit for each key of a mapping that is text and not a repetition.
func (d *decoder) pairs(n *yaml.Node, path string, visit func(key, value *yaml.Node, path string)) {
	seen := make(map[string]place)
	for i := 0; i+1 < len(n.Content) && !d.ledger.full(); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := d.at(key)
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			d.ledger.add(at.errorf(path, "found %s as a key, want a name", found(key)))
			continue
		case key.Tag == "!!merge":
			d.ledger.add(at.errorf(path, "found the merge key <<, which is not supported; write the keys here"))
			continue
		}
		below := join(path, key.Value)
		if first, again := seen[key.Value]; again {
			d.ledger.add(at.errorf(clip(below), "the key stands here a second time; the first is at %v", first))
			continue
		}
		seen[key.Value] = at
		visit(key, value, below)
	}
}

// structure decodes a mapping whose keys are known.
func (d *decoder) structure(n *yaml.Node, f *field, v reflect.Value, path string) {
	d.pairs(n, path, func(key, value *yaml.Node, below string) {
		child := f.child(key.Value)
		if child == nil {
			d.fail(key, clip(below), "unknown key; %s", d.suggest(key.Value, path, f))
			d.ledger.failed[path] = true // it was not set
			return
		}
		d.mark(below, d.setAt(key, value))
		d.value(value, child, v.Field(child.index), below)
	})
}

// named decodes a mapping of names to entries, onto the existing entries.
func (d *decoder) named(n *yaml.Node, f *field, v reflect.Value, path string) {
	d.pairs(n, path, func(key, value *yaml.Node, below string) {
		if !validName(key.Value) {
			d.fail(key, clip(below), "found the name %q, want letters, digits, _ and -", clip(key.Value))
			return
		}
		d.mark(below, d.at(key))
		d.value(value, f.elem, entry(f, v, key.Value), below)
	})
}

// validName reports whether an entry may have that name. A name has no dot, so that its keys have
// dotted paths.
func validName(name string) bool { return isName(name) && !strings.Contains(name, ".") }

// entry returns the struct of that name in the map v. It adds a missing one.
func entry(f *field, v reflect.Value, name string) reflect.Value {
	if v.IsNil() {
		v.Set(reflect.MakeMap(f.typ))
	}
	key := reflect.ValueOf(name)
	e := v.MapIndex(key)
	if !e.IsValid() || e.IsNil() {
		e = reflect.New(f.elem.typ)
		v.SetMapIndex(key, e)
	}
	return e.Elem()
}

// list decodes a list, which replaces the existing one.
func (d *decoder) list(n *yaml.Node, f *field, v reflect.Value, path string) {
	if len(n.Content) > maxList {
		d.fail(n, path, "found a list of %d, want at most %d", len(n.Content), maxList)
		return
	}
	list := reflect.MakeSlice(f.typ, len(n.Content), len(n.Content))
	before := len(d.ledger.errs)
	d.ledger.places.forget(path) // the elements of the list that this one replaces
	for i, item := range n.Content {
		below := join(path, strconv.Itoa(i))
		d.mark(below, d.at(item))
		d.value(item, f.elem, list.Index(i), below)
		if len(d.ledger.errs) == before && f.unique && repeats(list.Slice(0, i), list.Index(i)) {
			d.fail(item, path, "found %v a second time; each may stand once", list.Index(i))
		}
	}
	if len(d.ledger.errs) > before {
		d.ledger.failed[path] = true
		return
	}
	v.Set(list)
}

// repeats reports whether x is in list.
func repeats(list, x reflect.Value) bool {
	for i := range list.Len() {
		if list.Index(i).Equal(x) {
			return true
		}
	}
	return false
}

// maxList bounds the elements of a list; the longest has one per PE of a cube.
const maxList = 4096

// suggest returns the known key that word was probably meant to be, below path whose description is
// f.
func (d *decoder) suggest(word, path string, f *field) string {
	if near := Nearest(word, f.keys()); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if path == "" {
		if other := otherFile(word); other != "" {
			return "it belongs in " + other
		}
	}
	if elsewhere := endingIn(word); elsewhere != "" {
		return fmt.Sprintf("did you mean %q?", elsewhere)
	}
	return "known here: " + strings.Join(f.keys(), ", ")
}
