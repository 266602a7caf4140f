package conf

import (
	"embed"
	"reflect"
	"strings"
	"sync"
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

// decoded is the content of an embedded file.
type decoded[T any] struct {
	values T
	ledger *ledger
}

// The embedded files are decoded once: every load begins with a copy.
var (
	builtinTopology = sync.OnceValue(func() decoded[machine] { return decodeBuiltin[machine]("topology.yaml", topologySchema()) })
	builtinCCL      = sync.OnceValue(func() decoded[library] { return decodeBuiltin[library]("ccl.yaml", cclSchema()) })
)

func decodeBuiltin[T any](name string, root *field) decoded[T] {
	b := decoded[T]{ledger: &ledger{places: make(places), failed: make(map[string]bool)}}
	b.ledger.read(builtin(name), root, reflect.ValueOf(&b.values).Elem(), true)
	return b
}

// DefaultTopology returns the machine of the embedded topology.yaml.
func DefaultTopology() *Topology { return must(LoadTopology(nil, nil)) }

// DefaultCCL returns the configuration of the embedded ccl.yaml.
func DefaultCCL() *CCL { return must(LoadCCL(nil, nil)) }

// must is for the embedded files, which the tests of this package check.
func must[T any](t *T, err error) *T {
	if err != nil {
		panic(err)
	}
	return t
}

// LoadTopology reads the embedded defaults, then the files, then the --set arguments. Each changes
// the keys that it names. The error is an Errors with all mistakes.
func LoadTopology(files []Source, sets []string) (*Topology, error) {
	t := new(Topology)
	base := builtinTopology()
	t.values = base.values.clone()
	l := base.ledger.clone()
	l.load(&t.values, topologySchema(), files, sets)
	t.places = l.places
	t.check(l)
	if err := l.errs.err(); err != nil {
		return nil, err
	}
	return t, nil
}

// LoadCCL reads the embedded defaults, then the files, then the --set arguments. Algorithms are
// merged by name. To load the configuration for a machine, use Topology.LoadCCL.
func LoadCCL(files []Source, sets []string) (*CCL, error) {
	return loadCCL(&Topology{}, files, sets)
}

func loadCCL(t *Topology, files []Source, sets []string) (*CCL, error) {
	c := new(CCL)
	base := builtinCCL()
	c.values = base.values.clone()
	l := base.ledger.clone()
	c.rings(t, l)
	l.load(&c.values, cclSchema(), files, sets)
	c.places = l.places
	c.check(l)
	if err := l.errs.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// load decodes files and --set arguments into *to.
func (l *ledger) load(to any, root *field, files []Source, sets []string) {
	v := reflect.ValueOf(to).Elem()
	for _, src := range files {
		l.read(src, root, v, false)
	}
	for _, arg := range sets {
		d := &decoder{ledger: l}
		d.set(root, v, arg)
	}
}

// read decodes one source into v.
func (l *ledger) read(src Source, root *field, v reflect.Value, builtin bool) {
	data := strings.TrimPrefix(string(src.Data), "\ufeff")
	t := newText(src.Name, data)
	t.builtin = builtin
	node, err := parse(t, data, 0)
	switch {
	case err != nil:
		l.add(err)
	case node != nil:
		d := &decoder{text: t, ledger: l}
		d.value(node, root, v, "")
	}
}

// disagree adds an error for keys that contradict each other, at the one that was set last. It adds
// none if one of them is already invalid.
func (l *ledger) disagree(keys []string, format string, args ...any) {
	for _, key := range keys {
		if l.doubtful(key) {
			return
		}
	}
	key, at := l.places.latest(keys...)
	l.add(at.errorf(key, format, args...))
}
