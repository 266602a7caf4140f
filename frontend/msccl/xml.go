package msccl

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kernbench/frontend/plan"
)

// element is a start tag.
type element struct {
	name string
	line int
	attr []xml.Attr
	used uint64 // bit of each attribute that was read
}

// reader reads a file tag by tag, and collects its mistakes.
type reader struct {
	file     string
	dec      *xml.Decoder
	findings []plan.Finding
	unknown  map[string]int // "attribute redop of algo": how often
	broken   bool           // the file is not valid XML
	tag      int            // line at which the last tag begins
}

const (
	mostFindings = 20
	mostBytes    = 256 << 20

	mostAttributes = 63 // of an element
)

// reject adds a PARSE-REJECT finding.
func (r *reader) reject(line int, format string, args ...any) {
	r.add(plan.ParseReject, line, format, args...)
}

func (r *reader) add(v plan.Verdict, line int, format string, args ...any) {
	if len(r.findings) < mostFindings {
		r.findings = append(r.findings, plan.Finding{Verdict: v, File: r.file, Line: line, Text: fmt.Sprintf(format, args...)})
	}
}

// full reports whether there are too many findings to continue.
func (r *reader) full() bool { return r.broken || len(r.findings) >= mostFindings }

// newReader starts to read a file.
func newReader(f plan.File) *reader {
	d := xml.NewDecoder(bytes.NewReader(f.Data))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") {
			return in, nil
		}
		return nil, fmt.Errorf("found encoding %q, want UTF-8", charset)
	}
	return &reader{file: f.Name, dec: d, unknown: map[string]int{}}
}

func (r *reader) line() int {
	line, _ := r.dec.InputPos()
	return line
}

// token returns the next start or end tag; nil at the end of the file or if the XML is broken.
func (r *reader) token() xml.Token {
	for {
		line := r.line()
		t, err := r.dec.RawToken()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.broken = true
				r.reject(max(line, r.line()), "%s", xmlError(err))
			}
			return nil
		}
		switch t := t.(type) {
		case xml.StartElement, xml.EndElement:
			r.tag = line
			return t
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); text != "" && text != "\ufeff" {
				r.reject(line, "found text %q between the tags, want tags only", shorten(text))
			}
		}
	}
}

func xmlError(err error) string {
	if e, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return "not valid XML: " + e.Msg
	}
	return "not valid XML: " + err.Error()
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}

// start makes an element from a start tag, and reports attributes that it has twice.
func (r *reader) start(t xml.StartElement) *element {
	e := &element{name: t.Name.Local, line: r.tag, attr: t.Attr}
	if n := len(e.attr); n > mostAttributes {
		r.reject(e.line, "%s has %d attributes, want at most %d", shorten(e.name), n, mostAttributes)
		e.attr = e.attr[:mostAttributes]
	}
	for i := range e.attr {
		for k := range i {
			if e.attr[k].Name == e.attr[i].Name {
				r.reject(e.line, "attribute %s of %s is there twice", e.attr[i].Name.Local, e.name)
			}
		}
	}
	return e
}

// text returns an attribute's value, and whether it is present.
func (e *element) text(name string) (string, bool) {
	for i := range e.attr {
		if e.attr[i].Name.Local == name && e.attr[i].Name.Space == "" {
			e.used |= 1 << i
			return e.attr[i].Value, true
		}
	}
	return "", false
}

// must returns the value of a required attribute, and whether it is present.
func (r *reader) must(e *element, name string) (string, bool) {
	v, ok := e.text(name)
	if !ok {
		r.reject(e.line, "%s lacks attribute %s", e.name, name)
	}
	return v, ok
}

// number returns the value of a required attribute, which must be an integer within bounds.
func (r *reader) number(e *element, name string, low, high int64) int {
	v, ok := e.text(name)
	if !ok {
		r.reject(e.line, "%s lacks attribute %s", e.name, name)
		return int(low)
	}
	return int(r.integer(e, name, v, low, high))
}

// optional is number for an optional attribute.
func (r *reader) optional(e *element, name string, otherwise, low, high int64) (n int64, is bool) {
	v, ok := e.text(name)
	if !ok {
		return otherwise, false
	}
	return r.integer(e, name, v, low, high), true
}

func (r *reader) integer(e *element, name, v string, low, high int64) int64 {
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || strings.HasPrefix(v, "+"):
		r.reject(e.line, "attribute %s of %s: found %q, want an integer", name, e.name, shorten(v))
		return low
	case err != nil || n < low || n > high:
		r.reject(e.line, "attribute %s of %s: found %s, want %d to %d", name, e.name, shorten(v), low, high)
		return low
	}
	return n
}

// rest notes the attributes that were not read.
func (r *reader) rest(e *element) {
	for i := range e.attr {
		if e.used&(1<<i) == 0 {
			r.unknown["attribute "+e.attr[i].Name.Local+" of "+e.name]++
		}
	}
}

// skip skips the children and the end of an element that runtimes ignore.
func (r *reader) skip(e *element, in string) {
	r.unknown["element "+e.name+" in "+in]++
	for open := 1; open > 0; {
		switch r.token().(type) {
		case nil:
			r.unclosed(e)
			return
		case xml.StartElement:
			open++
		case xml.EndElement:
			open--
		}
	}
}

func (r *reader) unclosed(e *element) {
	if !r.broken {
		r.broken = true
		r.reject(r.line(), "the file ends within element %s of line %d", e.name, e.line)
	}
}

// children calls do for each child of an element; it reads up to the element's end.
func (r *reader) children(e *element, do func(*element)) {
	for !r.full() {
		switch t := r.token().(type) {
		case nil:
			r.unclosed(e)
			return
		case xml.StartElement:
			do(r.start(t))
		case xml.EndElement:
			if t.Name.Local != e.name {
				r.broken = true
				r.reject(r.line(), "found </%s>, want </%s> for line %d", t.Name.Local, e.name, e.line)
			}
			return
		}
	}
}
