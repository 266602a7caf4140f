package sim

import "kernbench/tl"

// lines are the source lines of transfers, by number. A transfer has the number: there may be a
// million of them, and few lines. 0 is an unknown line. Text 0 is not used.
type lines struct {
	texts   []string
	numbers map[string]uint32
	last    uint32 // the latest one asked for
}

// number returns that of a line.
func (l *lines) number(text string) uint32 {
	if text == "" {
		return 0
	}
	if l.text(l.last) == text {
		return l.last
	}
	i, ok := l.numbers[text]
	if !ok {
		if l.numbers == nil {
			l.numbers, l.texts = map[string]uint32{}, make([]string, 1)
		}
		i = uint32(len(l.texts))
		l.numbers[text], l.texts = i, append(l.texts, text)
	}
	l.last = i
	return i
}

// text returns a line by its number.
func (l *lines) text(number uint32) string {
	if number == 0 {
		return ""
	}
	return l.texts[number]
}

// line returns the number of the line that the kernel of a rank is at.
func (r *rank) line() uint32 { return r.run.lines.number(tl.Drive(r.ctx).Line()) }
