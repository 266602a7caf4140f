package conf

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// SplitSets sorts --set arguments by the file whose keys they change. An argument that fits neither
// is an error that names the nearest key of both.
func SplitSets(sets []string) (topology, ccl []string, err error) {
	var errs Errors
	for _, arg := range sets {
		key, _, _ := strings.Cut(arg, "=")
		root, _, _ := strings.Cut(strings.TrimSpace(key), ".")
		switch {
		case topologySchema().child(root) != nil:
			topology = append(topology, arg)
		case cclSchema().child(root) != nil:
			ccl = append(ccl, arg)
		default:
			errs = append(errs, unknownSet(arg, key))
		}
	}
	return topology, ccl, errs.err()
}

// unknownSet returns the error for an argument whose key is in no file.
func unknownSet(arg, key string) *Error {
	t := newText(setName, arg)
	key = strings.TrimSpace(key)
	switch {
	case key == "":
		return t.at(1, 1, 1).errorf("", "found no key, want KEY=VALUE, such as system.sips.count=4")
	case !strings.Contains(arg, "="):
		return t.at(1, 1, len(arg)).errorf(clip(key), "found no value, want KEY=VALUE, such as system.sips.count=4")
	}
	hint := "the keys start with " + oneOf(append(topologySchema().keys(), cclSchema().keys()...))
	if near := nearestPath(key); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return t.at(1, 1, len(key)).unknown(key, hint)
}

// set decodes one --set argument into v.
func (d *decoder) set(root *field, v reflect.Value, arg string) {
	key, value, found := strings.Cut(arg, "=")
	path := strings.TrimSpace(key)
	d.text = newText(setName, arg)
	d.shift = len([]rune(key)) + 1
	whole := d.text.at(1, 1, len(path))
	if !found || root.child(firstOf(path)) == nil {
		d.ledger.add(unknownSet(arg, key))
		return
	}
	f, at := root, ""
	unique := func() bool { return true }
	for _, part := range strings.Split(path, ".") {
		next := join(at, part)
		switch f.kind {
		case kindStruct:
			child := f.child(part)
			if child == nil {
				d.ledger.add(whole.unknown(path, d.suggestPath(path, part, at, f)))
				return
			}
			f, v = child, v.Field(child.index)
		case kindMap:
			if !validName(part) {
				d.ledger.add(whole.errorf(clip(path), "found the name %q, want letters, digits, _ and -", clip(part)))
				return
			}
			d.mark(next, whole)
			f, v = f.elem, entry(f, v, part)
		case kindList:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= v.Len() {
				hint := ""
				if k := named(v, part); k >= 0 {
					hint = fmt.Sprintf("; did you mean %q?", join(at, strconv.Itoa(k))+strings.TrimPrefix(path, next))
				}
				d.ledger.add(whole.errorf(clip(path), "found the index %q; %s has %d elements, counted from 0%s",
					clip(part), at, v.Len(), hint))
				return
			}
			if list := v; f.unique {
				unique = func() bool {
					return !repeats(list.Slice(0, i), list.Index(i)) && !repeats(list.Slice(i+1, list.Len()), list.Index(i))
				}
			}
			f, v = f.elem, v.Index(i)
		default:
			d.ledger.add(whole.unknown(path, at+" has no keys below it"))
			return
		}
		at = next
	}
	node, err := parse(d.text, value, d.shift)
	switch {
	case err != nil:
		err.Key = path
		d.ledger.add(err)
		return
	case node == nil && (f.kind == kindStruct || f.kind == kindMap || f.kind == kindList):
		// A file may leave such a key empty. Here that would change nothing.
		d.ledger.add(whole.errorf(clip(path), "found no value, want KEY=VALUE, such as system.sips.count=4"))
		return
	case node == nil:
		node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1}
	}
	set := whole
	if node.Kind == yaml.ScalarNode && node.Tag != "!!null" {
		set = d.at(node)
	}
	d.mark(path, set)
	d.value(node, f, v, path)
	if !unique() {
		d.fail(node, path, "found %v a second time in the list; each may stand once", v)
	}
}

// named returns the index of the list element whose key name has that value, or -1.
func named(list reflect.Value, name string) int {
	for i := range list.Len() {
		if e := list.Index(i); e.Kind() == reflect.Struct && e.FieldByName("Name").IsValid() && e.FieldByName("Name").String() == name {
			return i
		}
	}
	return -1
}

// suggestPath returns the path that was probably meant if part is unknown below at.
func (d *decoder) suggestPath(path, part, at string, f *field) string {
	if near := Nearest(part, f.keys()); near != "" {
		rest := strings.TrimPrefix(path, join(at, part))
		return fmt.Sprintf("did you mean %q?", join(at, near)+rest)
	}
	if elsewhere := endingIn(part); elsewhere != "" {
		return fmt.Sprintf("did you mean %q?", elsewhere)
	}
	return fmt.Sprintf("the keys of %s are %s", at, strings.Join(f.keys(), ", "))
}

// allPaths lists every path of both files.
func allPaths() []string { return append(topologySchema().paths(""), cclSchema().paths("")...) }

// nearestPath returns the path that was probably meant. It is one that ends in the given text, else
// a near one, else one whose last key is near.
func nearestPath(path string) string {
	if whole := endingIn(path); whole != "" {
		return whole
	}
	all := allPaths()
	if near := Nearest(path, all); near != "" {
		return near
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	leaves := make([]string, len(all))
	for i, p := range all {
		leaves[i] = p[strings.LastIndexByte(p, '.')+1:]
	}
	return endingIn(Nearest(last, leaves))
}

// endingIn returns the first path of either file that ends in the given keys, or "".
func endingIn(keys string) string {
	if keys == "" {
		return ""
	}
	for _, p := range allPaths() {
		if strings.HasSuffix(p, "."+keys) {
			return p
		}
	}
	return ""
}

// otherFile names the file that has a key at its top level, or returns "".
func otherFile(key string) string {
	switch {
	case topologySchema().child(key) != nil:
		return "topology.yaml"
	case cclSchema().child(key) != nil:
		return "ccl.yaml"
	}
	return ""
}

func firstOf(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}
