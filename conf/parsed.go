package conf

import (
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// parsed has the sources that were parsed last. Machines of a sweep and its algorithms load the
// same files again and again. A text and its nodes do not change once they are parsed.
var parsed = parsedSources{}

// parsedKept bounds the number of sources that are kept, and parsedBytes the size of each.
const (
	parsedKept  = 32
	parsedBytes = 64 << 10
)

type parsedSources struct {
	lock sync.Mutex
	kept map[parsedKey]parsedSource
}

// parsedKey is all that a text and its nodes depend on.
type parsedKey struct {
	name, data string
	builtin    bool
}

type parsedSource struct {
	text *text
	node *yaml.Node
}

// source returns the text of a source and its outermost node. A source with an error is not kept.
func (p *parsedSources) source(src Source, builtin bool) (*text, *yaml.Node, *Error) {
	data := strings.TrimPrefix(string(src.Data), "\ufeff")
	key := parsedKey{src.Name, data, builtin}
	p.lock.Lock()
	known, ok := p.kept[key]
	p.lock.Unlock()
	if ok {
		return known.text, known.node, nil
	}
	t := newText(src.Name, data)
	t.builtin = builtin
	node, err := parse(t, data, 0)
	if err == nil && len(data) <= parsedBytes {
		p.lock.Lock()
		defer p.lock.Unlock()
		if p.kept == nil || len(p.kept) >= parsedKept {
			p.kept = map[parsedKey]parsedSource{}
		}
		p.kept[key] = parsedSource{t, node}
	}
	return t, node, err
}
