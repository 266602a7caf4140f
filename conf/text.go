package conf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSource bounds the bytes of one source; the files that people write have a few KiB.
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

// excerpt shows a line with a caret below col, and width characters underlined. A tab is shown as an arrow of one
// character, so that the caret stands right and the tab can be seen.
func (t *text) excerpt(line, col, width int) string {
	if line < 1 || line > len(t.lines) {
		return ""
	}
	shown := []rune(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return '→'
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, t.lines[line-1]))
	caret := min(max(col-1, 0), len(shown))
	width = max(1, min(width, len(shown)-caret, maxExcerpt/2))
	from := max(0, caret-maxExcerpt/2)
	to := min(len(shown), from+maxExcerpt)
	gutter, blank := setName+" ", strings.Repeat(" ", len(setName)+1)
	if t.name != setName {
		number := strconv.Itoa(line)
		gutter, blank = number+" | ", strings.Repeat(" ", len(number))+" | "
	}
	return fmt.Sprintf("  %s%s\n  %s%s%s", gutter, string(shown[from:to]),
		blank, strings.Repeat(" ", caret-from), strings.Repeat("^", width))
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
