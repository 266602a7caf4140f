package fit

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Parse reads a table. It recognises the form by the content. The error is a *ParseError.
func Parse(name string, data []byte) (*Table, error) {
	t := &Table{Name: name, Root: -1}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		t.Form = JSON
		return t, t.parseJSON(data)
	}
	lines := strings.Split(string(data), "\n")
	for i, l := range lines {
		lines[i] = tagged().ReplaceAllString(strings.TrimRight(l, "\r"), "")
	}
	for i, l := range lines {
		switch {
		case has(words(l), "size_bytes"):
			t.Form = TSV
			return t, t.parseTSV(lines, i)
		case isHead(l):
			t.Form = Text
			return t, t.parseText(lines)
		}
	}
	for i, l := range lines {
		if strings.Contains(l, ",") && strings.Contains(l, "size_bytes") {
			return nil, t.errorf(place{i + 1, 1}, "found columns separated by commas, want tabs or spaces")
		}
	}
	return nil,
		t.errorf(place{1, 1},
			"found no table, want the output of nccl-tests, its JSON (-J), or columns size_bytes and time_us")
}

// tagged matches the prefix of a line that mpirun --tag-output writes.
var tagged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[\d+,\d+\]<std(out|err)>: ?`)
})

// word is a part of a line, and the column where it begins.
type word struct {
	text   string
	column int // in characters, from 1
}

// words splits a line at blanks, or at tabs where it has some.
func words(line string) []word {
	var all []word
	add := func(from, to int) {
		for from < to && line[from] == ' ' {
			from++
		}
		for from < to && line[to-1] == ' ' {
			to--
		}
		all = append(all, word{line[from:to], utf8.RuneCountInString(line[:from]) + 1})
	}
	if strings.Contains(line, "\t") {
		from := 0
		for i := range len(line) {
			if line[i] == '\t' {
				add(from, i)
				from = i + 1
			}
		}
		add(from, len(line))
		return all
	}
	for i := 0; i < len(line); {
		for i < len(line) && line[i] == ' ' {
			i++
		}
		from := i
		for i < len(line) && line[i] != ' ' {
			i++
		}
		if i > from {
			add(from, i)
		}
	}
	return all
}

func has(ws []word, text string) bool {
	for _, w := range ws {
		if w.text == text {
			return true
		}
	}
	return false
}

// sizeOf reads a number of bytes.
func (t *Table) sizeOf(line int, w word) (int64, error) {
	n, err := strconv.ParseInt(w.text, 10, 64)
	if err != nil || n < 0 || n > mostBytes {
		return 0, t.errorf(place{line, w.column}, "found %s, want a whole number of bytes, such as 1048576", shown(w.text))
	}
	return n, nil
}

// usOf reads a time in µs.
func (t *Table) usOf(line int, w word) (float64, error) {
	us, err := strconv.ParseFloat(w.text, 64)
	if err != nil || !(us > 0) || us > mostUs {
		return 0, t.errorf(place{line, w.column}, "found %s, want a time in µs, such as 18.75", shown(w.text))
	}
	return math.Max(us, 1e-6), nil // no time is below a picosecond
}

// shown returns a text as a message quotes it.
func shown(s string) string {
	const most = 40
	if s == "" {
		return "nothing"
	}
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "..."
	}
	return strconv.Quote(s)
}

// remark keeps a line "# key: value", if it is one.
func (t *Table) remark(line string) (Remark, bool) {
	text, comment := strings.CutPrefix(strings.TrimSpace(line), "#")
	key, value, found := strings.Cut(text, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !comment || !found || !keyForm().MatchString(key) {
		return Remark{}, false
	}
	r := Remark{key, value}
	t.Header = append(t.Header, r)
	return r, true
}

// keyForm matches a key: a comment with a colon in it is none.
var keyForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_ -]{0,40}$`)
})
