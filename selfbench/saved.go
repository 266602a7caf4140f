package selfbench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"kernbench/conf"
)

// Load reads a table from a file that kernbench selfbench --save wrote. The error for any other
// file names the place of the mistake.
func Load(name string) (*Table, error) {
	text, err := conf.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("a table of kernbench selfbench: %w (kernbench selfbench --save FILE writes one)", err)
	}
	var t Table
	d := json.NewDecoder(bytes.NewReader(text))
	err = d.Decode(&t)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("%s: there is more after the table, want one object", place(name, text, d.InputOffset()))
		}
	} else {
		err = misread(name, text, err)
	}
	switch {
	case err != nil:
		return nil, err
	case len(t.Rows) == 0:
		return nil, fmt.Errorf("%s: found no rows, want a table that kernbench selfbench --save wrote", name)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Name == "" {
			return nil, fmt.Errorf("%s: rows.%d has no name", name, i)
		}
		for j := range r.Figures {
			if f := &r.Figures[j]; f.What == "" || len(f.Values) == 0 && r.Runs > 0 {
				return nil, fmt.Errorf("%s: rows.%d.figures.%d of row %s has no name, or no values of %d runs", name, i, j, r.Name, r.Runs)
			}
		}
	}
	return &t, nil
}

// misread returns the error for an unexpected place in a text.
func misread(name string, text []byte, err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := e.Field
		if where == "" {
			where = "the file"
		}
		return fmt.Errorf("%s: %s: found %s, want %s", place(name, text, e.Offset), where, withArticle(e.Value), kindOf(e.Type))
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s: %w, want JSON that kernbench selfbench --save wrote", place(name, text, e.Offset), e)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file ends too early, want JSON that kernbench selfbench --save wrote",
			place(name, text, int64(len(text))))
	}
	return fmt.Errorf("%s: %w", name, err)
}

// place is file:line:column of a byte.
func place(name string, text []byte, offset int64) string {
	before := text[:max(0, min(int(offset), len(text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("%s:%d:%d", name, line, max(1, column-1))
}

// kindOf returns the name of a Go type in a file.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

func withArticle(value string) string {
	what, _, _ := strings.Cut(value, " ") // of a number, its text too
	switch what {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + value
}

// Compare puts the figures of an older table next to those of this one, by the names of rows and
// figures. Rows that only the older one has come last.
func (t *Table) Compare(file string, old *Table) {
	t.Compared, t.Before = file, &old.Origin
	have := map[string]bool{}
	for i := range t.Rows {
		r := &t.Rows[i]
		have[r.Name] = true
		was := old.Row(r.Name)
		if was == nil {
			r.Only = Now
			continue
		}
		if was.Work != r.Work || was.Command != r.Command {
			r.note(fmt.Sprintf("not the same work as in %s: %s", file, cmp.Or(was.Command, was.Work)))
		}
		for j := range r.Figures {
			f := &r.Figures[j]
			before := was.Figure(f.What)
			if before == nil || before.Unit != f.Unit || len(f.Values) == 0 || len(before.Values) == 0 {
				continue
			}
			f.Was = &before.Median
			if before.Median != 0 {
				ratio := f.Median / before.Median
				f.Ratio = &ratio
			}
		}
		if a, b := was.Outcome, r.Outcome; a != nil && b != nil && a.Simulated != b.Simulated {
			r.note(fmt.Sprintf("simulated time was %s and is %s", a.Simulated, b.Simulated))
		}
	}
	for _, r := range old.Rows {
		if !have[r.Name] {
			r.Only = Was
			t.Rows = append(t.Rows, r)
		}
	}
}

// Row returns the row with a name, or nil.
func (t *Table) Row(name string) *Row {
	for i := range t.Rows {
		if t.Rows[i].Name == name {
			return &t.Rows[i]
		}
	}
	return nil
}

func (r *Row) note(text string) {
	if r.Note != "" {
		text = r.Note + "; " + text
	}
	r.Note = text
}
