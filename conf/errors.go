package conf

import (
	"fmt"
	"strings"
)

// setName is the File of an error in a --set argument.
const setName = "--set"

// maxErrors bounds the errors of one load. An input with more of them is probably another kind of
// file.
const maxErrors = 100

// Error is one thing that is wrong in a configuration, and where. Line and Col count from 1, Col in
// characters; both are 0 if the error has no place in a source. For a --set argument File is
// "--set" and Col counts within the argument.
type Error struct {
	File    string
	Line    int
	Col     int
	Key     string // dotted path, such as "system.sips.count"; empty for the file as a whole
	Msg     string // what was found, what would be right
	Excerpt string // the line of the source with a caret below it, or empty
	Unknown bool   // Key is in no file
}

// Error prints "file:line:col: key: message" and below it the excerpt.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.File == "":
	case e.Line == 0 || e.File == setName:
		fmt.Fprintf(&b, "%s: ", e.File)
	default:
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Col)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "%s: ", e.Key)
	}
	b.WriteString(e.Msg)
	if e.Excerpt != "" {
		b.WriteString("\n" + e.Excerpt)
	}
	return b.String()
}

// Errors is the list of all errors of one load, in the order of the sources.
type Errors []*Error

// Error prints all errors, one below the other.
func (es Errors) Error() string {
	texts := make([]string, len(es))
	for i, e := range es {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap lets errors.As find the first *Error.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// err returns es as an error, or nil if es is empty.
func (es Errors) err() error {
	if len(es) == 0 {
		return nil
	}
	return es
}

// place is the place of a key, or of its value, in a source. The zero value is no place.
type place struct {
	text      *text
	line, col int
	width     int // characters to underline
	order     int // increases over all sources of a load, to find the later of two places
}

// String prints the place as it is named inside another error's message.
func (p place) String() string {
	switch {
	case p.text == nil:
		return "no file"
	case p.text.name == setName:
		return setName + " " + strings.Join(p.text.lines, " ")
	}
	return fmt.Sprintf("%s:%d:%d", p.text.name, p.line, p.col)
}

// errorf makes the error at p.
func (p place) errorf(key, format string, args ...any) *Error {
	e := &Error{Key: printable(key), Msg: fmt.Sprintf(format, args...)}
	if p.text != nil {
		e.File, e.Line, e.Col = p.text.name, p.line, p.col
		e.Excerpt = p.text.excerpt(p.line, p.col, p.width)
	}
	return e
}

// unknown makes the error of a key that is in no file.
func (p place) unknown(key, hint string) *Error {
	e := p.errorf(clip(key), "unknown key; %s", hint)
	e.Unknown = true
	return e
}

// places has the place where each key was set last, by dotted path: see decoder.setAt.
type places map[string]place

// find returns the place of key, or of the nearest key above it that has one.
func (ps places) find(key string) place {
	for {
		if p, ok := ps[key]; ok {
			return p
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return place{}
		}
		key = key[:i]
	}
}

// forget drops all places below key.
func (ps places) forget(key string) {
	for path := range ps {
		if strings.HasPrefix(path, key+".") {
			delete(ps, path)
		}
	}
}

// latest returns the key that was set last, and its place. The error of keys that disagree names
// it.
func (ps places) latest(keys ...string) (string, place) {
	last, at := keys[0], ps.find(keys[0])
	for _, key := range keys[1:] {
		if p := ps.find(key); p.order > at.order {
			last, at = key, p
		}
	}
	return last, at
}
