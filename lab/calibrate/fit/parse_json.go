package fit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// newestJSON is the version of the form that is understood.
const newestJSON = 3

// value is a JSON value with where it stands.
type value struct {
	at     int64 // where its first character is
	plain  any   // string, json.Number, bool, nil
	fields map[string]*value
	items  []*value
}

// parseJSON reads what nccl-tests writes with -J.
func (t *Table) parseJSON(data []byte) error {
	root, err := t.tree(data)
	if err != nil {
		return err
	}
	j := &jsonTable{t, data}
	if v := root.fields["version"]; v != nil {
		if n, err := j.integer(v, "version"); err != nil {
			return err
		} else if n < 1 || n > newestJSON {
			return j.errorf(v, "found version %d; 1 to %d are known", n, newestJSON)
		}
	}
	if args := root.fields["args"]; args != nil && len(args.items) > 0 {
		if name, ok := args.items[0].plain.(string); ok {
			t.Collective = path.Base(name)
		}
	}
	if config := root.fields["config"]; config != nil {
		if devices := config.fields["devices"]; devices != nil {
			t.Ranks = len(devices.items)
		}
	}
	results := root.fields["results"]
	if results == nil || results.items == nil {
		return j.errorf(root, "found no list of results, want the JSON that nccl-tests writes with -J, version %d", newestJSON)
	}
	var out, in []row
	for _, v := range results.items {
		for _, p := range []struct {
			name string
			to   *[]row
		}{{"out_of_place", &out}, {"in_place", &in}} {
			r, err := j.row(v, p.name)
			if err != nil {
				return err
			}
			if r != nil {
				*p.to = append(*p.to, *r)
			}
		}
	}
	rows := out
	if len(out) == 0 {
		rows, t.InPlace = in, true
	}
	if len(rows) == 0 {
		return j.errorf(results, "found no result with a time")
	}
	t.describe(&rows[0])
	return t.finish(rows)
}

type jsonTable struct {
	*Table
	data []byte
}

func (j *jsonTable) errorf(v *value, format string, args ...any) error {
	return j.Table.errorf(position(j.data, v.at), format, args...)
}

// position counts lines and characters up to an offset.
func position(data []byte, offset int64) place {
	before := data[:min(offset, int64(len(data)))]
	line := bytes.Count(before, []byte("\n"))
	return place{line + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1}
}

// row reads one placement of a result, nil where it has none.
func (j *jsonTable) row(v *value, placement string) (*row, error) {
	if v.fields == nil {
		return nil, j.errorf(v, "found %s, want a result with size, out_of_place and in_place", v)
	}
	p := v.fields[placement]
	if p == nil || p.fields == nil {
		return nil, nil
	}
	time := p.fields["time"]
	if time == nil {
		time = p.fields["cpu_time"]
	}
	switch {
	case time == nil:
		return nil, j.errorf(p, "found no time of %s; nccl-tests calls it time, or cpu_time", placement)
	case v.fields["size"] == nil:
		return nil, j.errorf(v, "found a result without size")
	}
	size, err := j.integer(v.fields["size"], "size")
	if err != nil {
		return nil, err
	}
	at := position(j.data, v.fields["size"].at)
	r := &row{place: at, column: at}
	if r.size, err = j.sizeOf(at.line, word{strconv.FormatInt(size, 10), at.column}); err != nil {
		return nil, err
	}
	for name, to := range map[string]*string{"type": &r.typ, "redop": &r.redop, "root": &r.root} {
		if f := v.fields[name]; f != nil {
			text, ok := f.plain.(string)
			if !ok {
				return nil, j.errorf(f, "found %s, want a text as %s", f, name)
			}
			*to = strings.TrimSpace(text)
		}
	}
	if size == 0 {
		r.us = 1 // nothing was measured: finish leaves it out
		return r, nil
	}
	at = position(j.data, time.at)
	r.us, err = j.usOf(at.line, word{time.String(), at.column})
	return r, err
}

func (j *jsonTable) integer(v *value, name string) (int64, error) {
	if number, ok := v.plain.(json.Number); ok {
		if n, err := number.Int64(); err == nil {
			return n, nil
		}
	}
	return 0, j.errorf(v, "found %s, want a whole number as %s", v, name)
}

// String returns a value as a message shows it.
func (v *value) String() string {
	switch {
	case v.fields != nil:
		return "an object"
	case v.items != nil:
		return "a list"
	case v.plain == nil:
		return "null"
	}
	return fmt.Sprint(v.plain)
}

// tree reads all of the file, remembering where everything stands.
func (t *Table) tree(data []byte) (*value, error) {
	r := treeReader{json.NewDecoder(bytes.NewReader(data)), data}
	r.UseNumber()
	v, err := r.value(0)
	at := r.next()
	if err == nil {
		if _, end := r.Token(); end != io.EOF {
			return nil, t.errorf(position(data, at), "found more after the end of the object; one file is one run")
		}
		return v, nil
	}
	text := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, text = int64(len(data)), "it ends too early: the run was cut off"
	}
	return nil, t.errorf(position(data, at), "found no whole JSON: %s", text)
}

// mostNested bounds the depth of a file: what nccl-tests writes has five.
const mostNested = 64

var errNested = fmt.Errorf("more than %d levels", mostNested)

// treeReader reads values, and knows where the next one begins.
type treeReader struct {
	*json.Decoder
	data []byte
}

// next returns where the next token begins.
func (r *treeReader) next() int64 {
	at := r.InputOffset()
	for at < int64(len(r.data)) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

func (r *treeReader) value(depth int) (*value, error) {
	if depth > mostNested {
		return nil, errNested
	}
	v := &value{at: r.next()}
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		v.fields = map[string]*value{}
		for r.More() {
			key, err := r.Token()
			if err != nil {
				return nil, err
			}
			if v.fields[key.(string)], err = r.value(depth + 1); err != nil {
				return nil, err
			}
		}
		_, err = r.Token()
	case json.Delim('['):
		v.items = []*value{}
		for r.More() {
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, err = r.Token()
	default:
		v.plain = token
	}
	return v, err
}
