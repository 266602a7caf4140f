package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// document is a file as JSON. Its strings are the statements of the text, without the words that
// the keys replace.
type document struct {
	Program    int           `json:"kernbench_program"`
	Algorithm  string        `json:"algorithm"`
	Collective string        `json:"collective"`
	Operator   string        `json:"operator,omitempty"`
	Root       *int          `json:"root,omitempty"`
	Type       string        `json:"type"`
	Elements   int           `json:"elements"`
	Results    int           `json:"results_apart"`
	Idempotent bool          `json:"idempotent"`
	World      int           `json:"world"`
	Slots      int           `json:"slots"`
	SlotBytes  int64         `json:"slot_bytes"`
	Scratch    int64         `json:"scratch_bytes"`
	Windows    []windowJSON  `json:"windows"`
	Groups     []string      `json:"groups,omitempty"`
	Wiring     []string      `json:"wiring"`
	Blocks     []blockOfJSON `json:"blocks"`
}

type windowJSON struct {
	Bytes int64    `json:"bytes"`
	Parts []string `json:"parts"`
}

type blockOfJSON struct {
	Ranks      string    `json:"ranks"`
	Block      int       `json:"block"`
	Columns    [][]int32 `json:"columns"`
	Operations []string  `json:"operations"`
}

// WriteJSON prints the file as JSON.
func (f *File) WriteJSON(w io.Writer) error {
	d := document{
		Program: Version, Algorithm: f.Algorithm, Collective: f.Collective, Type: f.Type.String(), Elements: f.Elems, Results: f.Results,
		Idempotent: f.Idempotent, World: f.World, Slots: f.Slots, SlotBytes: f.SlotBytes, Scratch: f.Scratch,
		Windows: []windowJSON{}, Wiring: []string{}, Blocks: []blockOfJSON{},
	}
	for _, line := range f.header() {
		if op, ok := strings.CutPrefix(line, "operator "); ok {
			d.Operator = op
		}
		if strings.HasPrefix(line, "root ") {
			d.Root = &f.Root
		}
		if strings.HasPrefix(line, "group ") {
			d.Groups = append(d.Groups, ranges(f.Groups[len(d.Groups)]))
		}
		if w, ok := strings.CutPrefix(line, "wire "); ok {
			d.Wiring = append(d.Wiring, w)
		}
	}
	for _, l := range f.Windows {
		w := windowJSON{Bytes: l.Bytes, Parts: []string{}}
		for i := range l.Parts {
			w.Parts = append(w.Parts, partLine(&l.Parts[i]))
		}
		d.Windows = append(d.Windows, w)
	}
	for _, b := range f.Blocks {
		j := blockOfJSON{Ranks: ranges(b.Ranks), Block: b.Number, Columns: b.Columns, Operations: []string{}}
		if j.Columns == nil {
			j.Columns = [][]int32{}
		}
		for s := range f.lines(b) {
			j.Operations = append(j.Operations, s)
		}
		d.Blocks = append(d.Blocks, j)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// json reads a file in its JSON form. It hands each part of it to the parser of the text, with the
// line of the part.
func (p *parser) json(data []byte) error {
	x := &walker{p: p, d: json.NewDecoder(bytes.NewReader(data)), data: data}
	x.d.UseNumber()
	err := x.document()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		x.lineAt(min(e.Offset, int64(len(data))))
		return p.f.errorf(x.line, "found no JSON: %v", e)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		x.lineAt(int64(len(data)))
		return p.f.errorf(x.line, "found the end of the file, want the rest of the JSON")
	}
	return err
}

// walker goes through the tokens of a JSON document.
type walker struct {
	p    *parser
	d    *json.Decoder
	data []byte
	line int   // of the token taken last
	at   int64 // up to where lines are counted
	last int   // that line
}

// lineAt finds the line of an offset. Offsets only grow.
func (x *walker) lineAt(off int64) {
	if off > x.at {
		x.last += bytes.Count(x.data[x.at:off], []byte("\n"))
		x.at = off
	}
	x.line = x.last + 1
}

func (x *walker) token() (json.Token, error) {
	t, err := x.d.Token()
	if err == nil {
		x.lineAt(x.d.InputOffset())
	}
	return t, err
}

func (x *walker) errorf(format string, args ...any) error {
	return x.p.f.errorf(x.line, format, args...)
}

// open takes the beginning of an object or array.
func (x *walker) open(delim json.Delim, what string) error {
	t, err := x.token()
	if err == nil && t != delim {
		err = x.errorf("found %s, want %s, which begins with %v", tokenText(t), what, delim)
	}
	return err
}

// tokenText returns a token in an error.
func tokenText(t json.Token) string {
	switch t := t.(type) {
	case string:
		return fmt.Sprintf("%q", t)
	case nil:
		return "null"
	}
	return fmt.Sprint(t)
}

// object takes an object, whose values the functions take.
func (x *walker) object(what string, keys map[string]func() error) error {
	if err := x.open('{', what); err != nil {
		return err
	}
	seen := map[string]bool{}
	for x.d.More() {
		t, err := x.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		switch take := keys[key]; {
		case take == nil:
			return x.errorf("found unknown key %q in %s", key, what)
		case seen[key]:
			return x.errorf("found key %q again, want it once", key)
		default:
			seen[key] = true
			if err := take(); err != nil {
				return err
			}
		}
	}
	_, err := x.token()
	return err
}

// array takes an array.
func (x *walker) array(what string, each func() error) error {
	if err := x.open('[', what); err != nil {
		return err
	}
	for x.d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := x.token()
	return err
}

// scalar takes a string or number as a word of a statement.
func (x *walker) scalar() (string, error) {
	t, err := x.token()
	if err != nil {
		return "", err
	}
	switch t := t.(type) {
	case string:
		if strings.ContainsAny(t, "\n#") {
			return "", x.errorf("found %q, want one statement without a comment", t)
		}
		return t, nil
	case json.Number:
		return t.String(), nil
	}
	return "", x.errorf("found %s, want a string or a number", tokenText(t))
}

// statement hands a statement to the parser of the text.
func (x *walker) statement(format string, args ...any) error {
	return x.p.statement(x.line, fmt.Sprintf(format, args...))
}

// statementOf returns a function that makes a statement of the next value.
func (x *walker) statementOf(format string) func() error {
	return func() error {
		s, err := x.scalar()
		if err != nil {
			return err
		}
		return x.statement(format, s)
	}
}

// flag takes true or false.
func (x *walker) flag() (bool, error) {
	t, err := x.token()
	on, ok := t.(bool)
	if err == nil && !ok {
		err = x.errorf("found %s, want true or false", tokenText(t))
	}
	return on, err
}

// document takes the whole file. The keys of the header may have any order, after kernbench_program
// and before blocks.
func (x *walker) document() error {
	slots := ""
	err := x.object("a program", map[string]func() error{
		"kernbench_program": x.statementOf("kernbench program %s"),
		"algorithm":         x.statementOf("algorithm %s"),
		"collective":        x.statementOf("collective %s"),
		"operator":          x.statementOf("operator %s"),
		"root":              x.statementOf("root %s"),
		"type":              x.statementOf("type %s"),
		"elements":          x.statementOf("elements %s"),
		"results_apart": func() error {
			n, err := x.scalar()
			switch {
			case err != nil:
				return err
			case n == "0":
				return x.statement("results in place")
			}
			return x.statement("results apart %s", n)
		},
		"idempotent": func() error {
			on, err := x.flag()
			if err == nil && on {
				err = x.statement("idempotent")
			}
			return err
		},
		"world": x.statementOf("world %s"),
		"slots": func() (err error) {
			slots, err = x.scalar()
			return err
		},
		"slot_bytes": func() error {
			n, err := x.scalar()
			if err == nil {
				err = x.statement("slots %s of %s bytes", slots, n)
			}
			return err
		},
		"scratch_bytes": x.statementOf("scratch %s bytes"),
		"windows":       func() error { return x.array("windows", x.window) },
		"groups": func() error {
			return x.array("groups", func() error { return x.statementOf(fmt.Sprintf("group g%d %%s", len(x.p.f.Groups)))() })
		},
		"wiring": func() error { return x.array("wiring", x.statementOf("wire %s")) },
		"blocks": func() error { return x.array("blocks", x.block) },
	})
	if err != nil {
		return err
	}
	if t, err := x.token(); err != io.EOF {
		if err == nil {
			err = x.errorf("found %s, want the end of the file", tokenText(t))
		}
		return err
	}
	return nil
}

func (x *walker) window() error {
	n := len(x.p.parts)
	return x.object("a window", map[string]func() error{
		"bytes": x.statementOf(fmt.Sprintf("window w%d %%s bytes", n)),
		"parts": func() error { return x.array("parts", x.statementOf(fmt.Sprintf("part w%d %%s", n))) },
	})
}

// block takes a block: ranks and block stand before columns and operations.
func (x *walker) block() error {
	ranks, begun := "", false
	begin := func(number string) error {
		if begun {
			return nil
		}
		begun = true
		return x.statement("rank %s%s", ranks, number)
	}
	return x.object("a block", map[string]func() error{
		"ranks": func() (err error) {
			ranks, err = x.scalar()
			return err
		},
		"block": func() error {
			n, err := x.scalar()
			if err == nil {
				err = begin(" block " + n)
			}
			return err
		},
		"columns": func() error {
			if err := begin(""); err != nil {
				return err
			}
			n := 0
			return x.array("columns", func() error {
				var line strings.Builder
				fmt.Fprintf(&line, "column c%d", n)
				n++
				if err := x.array("a column", func() error {
					v, err := x.scalar()
					line.WriteString(" " + v)
					return err
				}); err != nil {
					return err
				}
				return x.statement("%s", line.String())
			})
		},
		"operations": func() error {
			if err := begin(""); err != nil {
				return err
			}
			return x.array("operations", func() error {
				s, err := x.scalar()
				if err == nil {
					err = x.p.within(x.line, s)
				}
				return err
			})
		},
	})
}

// within reads an operation, and nothing else.
func (p *parser) within(line int, s string) error {
	if word, _, _ := strings.Cut(strings.TrimLeft(s, " \t"), " "); p.block == nil || word == "rank" || word == "column" {
		return p.f.errorf(line, "found %q, want an operation of a block", s)
	}
	return p.statement(line, s)
}
