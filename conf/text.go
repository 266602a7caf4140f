package conf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSource bounds the bytes of one source. Usual files have a few KiB.
const maxSource = 1 << 20

// maxExcerpt bounds the characters of a line that an excerpt shows.
const maxExcerpt = 96

// Source is one configuration file: its name, as errors should print it, and its contents.
type Source struct {
	Name string
	Data []byte
}

// text is a source cut into lines for excerpts. builtin marks the embedded defaults.
type text struct {
	name    string
	lines   []string
	builtin bool
}

// lineEnds are the characters at which YAML sees the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func newText(name, data string) *text {
	return &text{name: name, lines: strings.Split(lineEnds.Replace(data), "\n")}
}

// at returns the place of a line and column of t.
func (t *text) at(line, col, width int) place {
	return place{text: t, line: max(line, 1), col: max(col, 1), width: width}
}

// excerpt shows a line with a caret below col, and width characters underlined. A tab is shown as
// an arrow of one character, so that the caret stands right and the tab can be seen.
func (t *text) excerpt(line, col, width int) string {
	if line < 1 || line > len(t.lines) {
		return ""
	}
	source := t.lines[line-1]
	length := utf8.RuneCountInString(source)
	caret := min(max(col-1, 0), length)
	width = max(1, min(width, length-caret, maxExcerpt/2))
	from := max(0, caret-maxExcerpt/2)
	shown := printable(strings.ReplaceAll(window(source, from, maxExcerpt), "\t", "→"))
	gutter, blank := setName+" ", strings.Repeat(" ", len(setName)+1)
	if t.name != setName {
		number := strconv.Itoa(line)
		gutter, blank = number+" | ", strings.Repeat(" ", len(number))+" | "
	}
	return fmt.Sprintf("  %s%s\n  %s%s%s", gutter, shown,
		blank, strings.Repeat(" ", caret-from), strings.Repeat("^", width))
}

// window returns n characters of s from the character with the index from on, or as many as there
// are.
func window(s string, from, n int) string {
	start, i := len(s), 0
	for at := range s {
		switch i {
		case from:
			start = at
		case from + n:
			return s[start:at]
		}
		i++
	}
	return s[start:]
}

// printable replaces characters that a terminal cannot show by a mark.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// readable returns ok, or the place and kind of the first character that YAML text cannot hold.
func (t *text) readable() (at place, what string, ok bool) {
	for i, line := range t.lines {
		col := 0
		for rest := line; rest != ""; {
			r, size := utf8.DecodeRuneInString(rest)
			col++
			switch {
			case r == utf8.RuneError && size == 1:
				return t.at(i+1, col, 1), fmt.Sprintf("the byte 0x%02x, which is not UTF-8 text", rest[0]), false
			case r < ' ' && r != '\t', 0x7f <= r && r < 0xa0, r == 0xfffe, r == 0xffff, r == 0xfeff:
				return t.at(i+1, col, 1), fmt.Sprintf("the control character U+%04X", r), false
			}
			rest = rest[size:]
		}
	}
	return place{}, "", true
}
