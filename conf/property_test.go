package conf

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kernbench/unit"
)

// leaf is a key with a plain value, and how to reach it in a loaded struct.
type leaf struct {
	path string
	f    *field
	get  func(root reflect.Value) reflect.Value
}

// said returns the content of a file as it was loaded.
func said(loaded any) reflect.Value {
	if t, ok := loaded.(*Topology); ok {
		return reflect.ValueOf(t.values)
	}
	return reflect.ValueOf(loaded.(*CCL).values)
}

func leaves(root *field) []leaf {
	var all []leaf
	var walk func(f *field, path string, get func(reflect.Value) reflect.Value)
	walk = func(f *field, path string, get func(reflect.Value) reflect.Value) {
		switch f.kind {
		case kindStruct:
			for _, c := range f.fields {
				walk(c, join(path, c.key), func(v reflect.Value) reflect.Value { return get(v).Field(c.index) })
			}
		case kindMap:
		case kindList:
			if f.elem.kind != kindStruct { // others: levelLeaves
				all = append(all, leaf{path, f, get})
			}
		default:
			all = append(all, leaf{path, f, get})
		}
	}
	walk(root, "", func(v reflect.Value) reflect.Value { return v })
	return all
}

// everyLeaf is leaves with those of both files and of the first level.
func everyLeaf() []leaf {
	return slices.Concat(leaves(topologySchema()), leaves(cclSchema()), levelLeaves())
}

// write prints a value in YAML.
func (l leaf) write(v reflect.Value) string {
	if l.f.zero != "" && v.IsZero() {
		return l.f.zero
	}
	switch x := v.Interface().(type) {
	case unit.Time:
		return strconv.FormatFloat(x.Ns(), 'f', -1, 64)
	case unit.Rate:
		return strconv.FormatFloat(x.GBs(), 'f', -1, 64)
	case unit.Bytes:
		return strconv.FormatInt(int64(x), 10)
	case []int, []string:
		return strings.ReplaceAll(fmt.Sprint(x), " ", ", ")
	}
	return fmt.Sprint(v.Interface())
}

// draw makes a random value that is valid for the key by itself.
func (l leaf) draw(t *rapid.T) reflect.Value {
	v := reflect.New(l.f.typ).Elem()
	switch f := l.f; f.kind {
	case kindBool:
		v.SetBool(rapid.Bool().Draw(t, l.path))
	case kindString:
		switch {
		case f.enum != nil:
			v.SetString(rapid.SampledFrom(f.enum).Draw(t, l.path))
		case f.form != nil:
			v.SetString(rapid.StringMatching(f.form.String()).Draw(t, l.path))
		default:
			v.SetString(rapid.StringMatching(`[a-z_][a-z0-9_.-]{2,20}[a-z]`).Draw(t, l.path))
		}
	case kindFloat:
		v.SetFloat(rapid.Float64Range(f.min.value, f.max.value).Draw(t, l.path))
	case kindList:
		if f.unique {
			v.Set(reflect.ValueOf(rapid.Permutation(f.enum).Draw(t, l.path)))
		} else {
			v.Set(reflect.ValueOf(rapid.SliceOfN(rapid.IntRange(0, 3), 8, 8).Draw(t, l.path)))
		}
	default:
		if f.zero != "" && rapid.Bool().Draw(t, l.path+" by its word") {
			return v
		}
		v.SetInt(rapid.Int64Range(int64(f.min.value), int64(f.max.value)).Draw(t, l.path))
	}
	return v
}

// bound by others: keys whose range also depends on other keys.
func bound(path string) bool {
	return strings.HasPrefix(path, "system.sips.") || strings.HasPrefix(path, nodesKey+".") ||
		strings.HasPrefix(path, "sip.cube_mesh.") || path == "sip.ucie.connections" ||
		path == "cube.pe_layout.pe_per_corner" || path == "pe.tcm.scratch" || path == "pe.tcm.capacity" ||
		strings.HasPrefix(path, "fabric.") || path == "rings.slot_size" || path == "software.starts.graph"
}

// TestEveryValueArrives writes random allowed values to a random choice of keys, in a file or by
// --set. It finds each in the struct, and the default everywhere else.
func TestEveryValueArrives(t *testing.T) {
	topology, ccl := leaves(topologySchema()), leaves(cclSchema())
	rapid.Check(t, func(t *rapid.T) {
		check := func(all []leaf, base any, load func([]Source, []string) (any, error)) {
			want := make(map[string]reflect.Value)
			var sets []string
			var file strings.Builder
			for _, l := range all {
				want[l.path] = l.get(said(base))
				if bound(l.path) || rapid.IntRange(0, 3).Draw(t, "change") != 0 {
					continue
				}
				v := l.draw(t)
				want[l.path] = v
				if rapid.Bool().Draw(t, "by set") {
					sets = append(sets, l.path+"="+l.write(v))
					continue
				}
				flow := strings.ReplaceAll(l.path, ".", ": {") + ": " + l.write(v) + strings.Repeat("}", strings.Count(l.path, "."))
				file.WriteString(flow + "\n") // one document per key: a key may stand once in a mapping
			}
			var files []Source
			for line := range strings.Lines(file.String()) {
				files = append(files, Source{"random.yaml", []byte(line)})
			}
			got, err := load(files, sets)
			if err != nil {
				t.Fatalf("%v\n%s\n%q", err, file.String(), sets)
			}
			for _, l := range all {
				g, w := l.get(said(got)).Interface(), want[l.path].Interface()
				if !reflect.DeepEqual(g, w) {
					t.Errorf("%s: got %v, want %v", l.path, g, w)
				}
			}
		}
		check(topology, DefaultTopology(), func(f []Source, s []string) (any, error) { return LoadTopology(f, s) })
		check(ccl, DefaultCCL(), func(f []Source, s []string) (any, error) { return LoadCCL(f, s) })
	})
}

// TestRangesAreEnforced sets each number just outside its range.
func TestRangesAreEnforced(t *testing.T) {
	for _, l := range everyLeaf() {
		f := l.f
		switch f.kind {
		case kindBool, kindString, kindList:
			continue
		}
		if f.min.value > f.max.value || f.doc == "" {
			t.Errorf("%s: bad tags", l.path)
		}
		below, above := reflect.New(f.typ).Elem(), reflect.New(f.typ).Elem()
		if f.kind == kindFloat {
			below.SetFloat(math.Nextafter(f.min.value, -1))
			above.SetFloat(math.Nextafter(f.max.value, math.Inf(1)))
		} else {
			below.SetInt(int64(f.min.value) - 1)
			above.SetInt(int64(f.max.value) + 1)
		}
		for _, v := range []reflect.Value{below, above} {
			arg := l.path + "=" + leaf{f: &field{}}.write(v)
			if err := loadSet(arg); err == nil || !strings.Contains(err.Error(), l.path) {
				t.Errorf("%s: %v", arg, err)
			}
		}
	}
}

// TestMistypedKeys leaves out the first letter of each key, in a file and in --set, and expects the
// key to be named.
func TestMistypedKeys(t *testing.T) {
	for _, l := range everyLeaf() {
		parts := strings.Split(l.path, ".")
		last := len(parts) - 1
		key := parts[last]
		if len(key) < 4 {
			continue
		}
		parts[last] = key[1:]
		arg := strings.Join(parts, ".") + "=1"
		if err := loadSet(arg); err == nil || !strings.Contains(err.Error(), strconv.Quote(l.path)) {
			t.Errorf("--set %s: %v", arg, err)
		}
		yaml := strings.ReplaceAll(strings.Join(parts, ": {")+": 1"+strings.Repeat("}", last), "levels: {0: {", "levels: [{")
		if strings.Contains(yaml, "[") {
			yaml = strings.TrimSuffix(yaml, "}}") + "]}"
		}
		load := func(s Source) error { _, err := LoadTopology([]Source{s}, nil); return err }
		if cclSchema().child(parts[0]) != nil {
			load = func(s Source) error { _, err := LoadCCL([]Source{s}, nil); return err }
		}
		if err := load(Source{"x.yaml", []byte(yaml)}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("did you mean %q?", key)) {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

// loadSet loads the defaults with one --set argument.
func loadSet(arg string) error {
	topology, ccl, err := SplitSets([]string{arg})
	if err != nil {
		return err
	}
	if strings.HasPrefix(arg, "system.levels.") {
		topology = append([]string{oneLevel}, topology...)
	}
	_, err1 := LoadTopology(nil, topology)
	_, err2 := LoadCCL(nil, ccl)
	return errors.Join(err1, err2)
}

func TestNearest(t *testing.T) {
	known := []string{"count", "topology", "w", "h", "tcm", "hbm", "ring_allreduce", "ring_1d"}
	for _, c := range []struct{ word, want string }{
		{"cout", "count"},
		{"conut", "count"},
		{"COUNT", "count"},
		{"count", "count"},
		{"tmc", "tcm"},
		{"hmb", "hbm"},
		{"rign_alreduce", "ring_allreduce"},
		{"ring1d", "ring_1d"},
		{"x", ""},
		{"", ""},
		{"something else", ""},
		{strings.Repeat("count", 1000), ""},
	} {
		if got := Nearest(c.word, known); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		s    SIPs
		w, h int
	}{
		{SIPs{Count: 6, W: 3, H: 2, Topology: "torus_2d"}, 3, 2},
		{SIPs{Count: 6, W: 3, Topology: "torus_2d"}, 3, 2},
		{SIPs{Count: 6, H: 3, Topology: "mesh_2d_no_wrap"}, 2, 3},
		{SIPs{Count: 9, Topology: "mesh_2d_no_wrap"}, 3, 3},
		{SIPs{Count: 9, Topology: "ring_1d"}, 9, 1},
		{SIPs{Count: 1, Topology: "torus_2d"}, 1, 1},
	} {
		if w, h := c.s.Grid(); w != c.w || h != c.h {
			t.Errorf("%+v: %d × %d", c.s, w, h)
		}
	}
}

// TestManyErrorsEnd shows that the report of an input full of mistakes is bounded, and how it ends.
func TestManyErrorsEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString("algorithms:\n  a: &a {module: m")
	for i := range 2000 {
		fmt.Fprintf(&b, ", k%d: 1", i)
	}
	b.WriteString("}\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "  a%d: *a\n", i)
	}
	_, err := LoadCCL([]Source{{"many.yaml", []byte(b.String())}}, nil)
	var all Errors
	if !errors.As(err, &all) || len(all) != maxErrors+1 || !strings.Contains(all[maxErrors].Msg, "more") {
		t.Errorf("got %d errors", len(all))
	}
	b.Reset()
	b.WriteString("algorithms:\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  a%d: {w: 2, world_size: 3}\n", i)
	}
	_, err = LoadCCL([]Source{{"many.yaml", []byte(b.String())}}, nil)
	if !errors.As(err, &all) || len(all) != maxErrors+1 {
		t.Errorf("got %d errors", len(all))
	}
	if _, err := LoadCCL([]Source{{"large.yaml", slices.Repeat([]byte("# \n"), maxSource)}}, nil); err == nil {
		t.Error("a file of 3 MiB is accepted")
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		s       string
		from, n int
		want    string
	}{
		{"abcdef", 0, 3, "abc"},
		{"abcdef", 2, 3, "cde"},
		{"abcdef", 4, 9, "ef"},
		{"abcdef", 6, 2, ""},
		{"äöüß", 1, 2, "öü"},
		{"", 0, 5, ""},
	} {
		if got := window(c.s, c.from, c.n); got != c.want {
			t.Errorf("window(%q, %d, %d) = %q, want %q", c.s, c.from, c.n, got, c.want)
		}
	}
}
