package conf

import (
	"embed"
	"reflect"
	"strings"
)

//go:embed defaults/topology.yaml defaults/ccl.yaml
var defaults embed.FS

// builtin returns an embedded default file.
func builtin(name string) Source {
	data, err := defaults.ReadFile("defaults/" + name)
	if err != nil {
		panic(err) // the file is named in the embed directive above
	}
	return Source{Name: "built-in " + name, Data: data}
}

// DefaultTopology returns the machine of the embedded topology.yaml.
func DefaultTopology() *Topology { return must(LoadTopology(nil, nil)) }

// DefaultCCL returns the configuration of the embedded ccl.yaml.
func DefaultCCL() *CCL { return must(LoadCCL(nil, nil)) }

// must is for the embedded files, which the tests of this package hold to be right.
func must[T any](t *T, err error) *T {
	if err != nil {
		panic(err)
	}
	return t
}

// LoadTopology reads the embedded defaults, then the files, then the --set arguments; each changes the keys that it
// names. The error is an Errors with everything that is wrong.
func LoadTopology(files []Source, sets []string) (*Topology, error) {
	t := new(Topology)
	l := load(&t.say, topologySchema(), builtin("topology.yaml"), nil, files, sets)
	t.places = l.places
	t.check(l)
	if err := l.errs.err(); err != nil {
		return nil, err
	}
	return t, nil
}

// LoadCCL reads the embedded defaults, then the files, then the --set arguments. Algorithms are merged by name. On a
// machine it is Topology.LoadCCL that says what runs there.
func LoadCCL(files []Source, sets []string) (*CCL, error) {
	return loadCCL(&Topology{}, files, sets)
}

func loadCCL(t *Topology, files []Source, sets []string) (*CCL, error) {
	c := new(CCL)
	l := load(&c.say, cclSchema(), builtin("ccl.yaml"), func(l *ledger) { c.rings(t, l) }, files, sets)
	c.places = l.places
	c.check(l)
	if err := l.errs.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// load decodes all sources into what to points to. What changes the defaults behind the first of them may be nil.
func load(to any, root *field, base Source, change func(*ledger), files []Source, sets []string) *ledger {
	l := &ledger{places: make(places), failed: make(map[string]bool)}
	v := reflect.ValueOf(to).Elem()
	for i, src := range append([]Source{base}, files...) {
		data := strings.TrimPrefix(string(src.Data), "\ufeff")
		t := newText(src.Name, data)
		t.builtin = i == 0
		d := &decoder{text: t, ledger: l}
		node, err := parse(t, data, 0)
		switch {
		case err != nil:
			l.add(err)
		case node != nil:
			d.value(node, root, v, "")
		}
		if i == 0 && change != nil {
			change(l)
		}
	}
	for _, arg := range sets {
		d := &decoder{ledger: l}
		d.set(root, v, arg)
	}
	return l
}

// disagree reports that keys do not fit together, at the one that was set last, unless one of them is wrong by itself.
func (l *ledger) disagree(keys []string, format string, args ...any) {
	for _, key := range keys {
		if l.doubtful(key) {
			return
		}
	}
	key, at := l.places.latest(keys...)
	l.add(at.errorf(key, format, args...))
}
