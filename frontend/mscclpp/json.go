package mscclpp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value is a JSON value with its place in the file.
type value struct {
	kind    valueKind
	at      int // offset in the file
	members []member
	items   []*value
	text    string // of a string; of a number as written
	truth   bool
}

type member struct {
	key   string
	at    int
	value *value
}

type valueKind uint8

const (
	isNull valueKind = iota
	isBool
	isNumber
	isString
	isArray
	isObject
)

func (k valueKind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// maxDepth is the greatest depth of nested arrays and objects. Plans need 8.
const maxDepth = 32

// parser reads one JSON text.
type parser struct {
	data []byte
	pos  int
}

// syntaxError is a place where the text is not valid JSON.
type syntaxError struct {
	at     int
	reason string
}

func (e *syntaxError) Error() string { return e.reason }

func (p *parser) fail(at int, format string, args ...any) error {
	return &syntaxError{at, fmt.Sprintf(format, args...)}
}

// parseJSON reads a text that is one JSON value and nothing else.
func parseJSON(data []byte) (*value, error) {
	p := &parser{data: data}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.pos < len(data) {
		return nil, p.fail(p.pos, "found %s after the plan, want the end of the file", p.found())
	}
	return v, nil
}

func (p *parser) blanks() {
	for p.pos < len(p.data) && strings.IndexByte(" \t\r\n", p.data[p.pos]) >= 0 {
		p.pos++
	}
}

// found names the text at the present place.
func (p *parser) found() string {
	if p.pos >= len(p.data) {
		return "the end of the file"
	}
	r, size := utf8.DecodeRune(p.data[p.pos:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("byte 0x%02x", p.data[p.pos])
	}
	return strconv.QuoteRune(r)
}

func (p *parser) value(depth int) (*value, error) {
	p.blanks()
	v := &value{at: p.pos}
	if p.pos == len(p.data) {
		return nil, p.fail(p.pos, "found the end of the file, want a value")
	}
	var err error
	switch c := p.data[p.pos]; {
	case c == '{' || c == '[':
		if depth == maxDepth {
			return nil, p.fail(p.pos, "nested more than %d deep", maxDepth)
		}
		if c == '{' {
			v.kind = isObject
			err = p.object(v, depth+1)
		} else {
			v.kind = isArray
			err = p.array(v, depth+1)
		}
	case c == '"':
		v.kind = isString
		v.text, err = p.text()
	case c == '-' || c >= '0' && c <= '9':
		v.kind = isNumber
		v.text, err = p.number()
	default:
		err = p.word(v)
	}
	return v, err
}

func (p *parser) word(v *value) error {
	rest := p.data[p.pos:]
	for _, w := range []struct {
		text string
		kind valueKind
	}{{"true", isBool}, {"false", isBool}, {"null", isNull}} {
		if strings.HasPrefix(string(rest[:min(len(rest), 5)]), w.text) {
			v.kind, v.truth = w.kind, w.text == "true"
			p.pos += len(w.text)
			return nil
		}
	}
	return p.fail(p.pos, "found %s, want a value", p.found())
}

// number reads a number of JSON.
func (p *parser) number() (string, error) {
	start := p.pos
	for p.pos < len(p.data) && strings.IndexByte("+-.0123456789eE", p.data[p.pos]) >= 0 {
		p.pos++
	}
	text := string(p.data[start:p.pos])
	if len(text) > 64 || !json.Valid([]byte(text)) {
		return "", p.fail(start, "%.20q is not a number", text)
	}
	return text, nil
}

func (p *parser) text() (string, error) {
	start := p.pos
	for p.pos++; p.pos < len(p.data); p.pos++ {
		switch p.data[p.pos] {
		case '\\':
			p.pos++
		case '"':
			p.pos++
			var s string
			if err := json.Unmarshal(p.data[start:p.pos], &s); err != nil || !utf8.Valid(p.data[start:p.pos]) {
				return "", p.fail(start, "this is not a valid string")
			}
			return s, nil
		}
	}
	p.pos = len(p.data)
	return "", p.fail(start, "a string that does not end")
}

// punctuation reads one of two characters that may stand here.
func (p *parser) punctuation(one, other byte) (byte, error) {
	p.blanks()
	if p.pos == len(p.data) || p.data[p.pos] != one && p.data[p.pos] != other {
		return 0, p.fail(p.pos, "found %s, want '%c' or '%c'", p.found(), one, other)
	}
	p.pos++
	return p.data[p.pos-1], nil
}

// empty reports whether the array or object closes at once. If so, it reads the end.
func (p *parser) empty(end byte) bool {
	p.pos++
	p.blanks()
	if p.pos < len(p.data) && p.data[p.pos] == end {
		p.pos++
		return true
	}
	return false
}

func (p *parser) array(v *value, depth int) error {
	if p.empty(']') {
		return nil
	}
	for {
		item, err := p.value(depth)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
		if c, err := p.punctuation(',', ']'); err != nil || c == ']' {
			return err
		}
	}
}

func (p *parser) object(v *value, depth int) error {
	if p.empty('}') {
		return nil
	}
	for {
		p.blanks()
		at := p.pos
		if at == len(p.data) || p.data[at] != '"' {
			return p.fail(at, "found %s, want a key", p.found())
		}
		key, err := p.text()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(v.members, func(m member) bool { return m.key == key }) {
			return p.fail(at, "the key %q is here twice", key)
		}
		if len(v.members) == 1024 {
			return p.fail(at, "more than 1024 keys in one object")
		}
		if _, err := p.punctuation(':', ':'); err != nil {
			return err
		}
		item, err := p.value(depth)
		if err != nil {
			return err
		}
		v.members = append(v.members, member{key, at, item})
		if c, err := p.punctuation(',', '}'); err != nil || c == '}' {
			return err
		}
	}
}

// get returns the member with the key, or nil.
func (v *value) get(key string) *member {
	for i := range v.members {
		if v.members[i].key == key {
			return &v.members[i]
		}
	}
	return nil
}

// integer returns a number as a whole one that is in range.
func (v *value) integer(least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(v.text, 10, 64)
	if err != nil {
		if f, err := strconv.ParseFloat(v.text, 64); err == nil && f == math.Trunc(f) && f >= 0 {
			return 0, fmt.Errorf("%.20s is too large or not written as an integer, want %d to %d", v.text, least, most)
		}
		return 0, fmt.Errorf("found %.20s, want an integer from %d to %d", v.text, least, most)
	}
	if n < least || n > most {
		return 0, fmt.Errorf("found %d, want %d to %d", n, least, most)
	}
	return n, nil
}

// lines has the offsets at which the lines of a file begin.
type lines []int

func newLines(data []byte) lines {
	l := lines{0}
	for i, c := range data {
		if c == '\n' {
			l = append(l, i+1)
		}
	}
	return l
}

// position turns an offset into a line and a column in bytes, from 1 on.
func (l lines) position(at int) (line, column int) {
	line = sort.SearchInts(l, at+1)
	return line, at - l[line-1] + 1
}
