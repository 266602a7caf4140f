package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// bar is a progress bar in one line of a terminal, which it overwrites. An error of writing does
// not stop the run.
type bar struct {
	w     io.Writer
	width int   // characters of a line; 0: unknown
	total int64 // steps; 0: unknown
	from  time.Time
	drawn time.Time // last
	shown int       // characters of the line on the terminal
}

const (
	barWidth    = 30
	betweenBars = 100 * time.Millisecond
)

// draw shows a text and how many steps are done. Pictures in quick succession are left out.
func (b *bar) draw(text string, done int64, now time.Time) {
	if now.Sub(b.drawn) < betweenBars {
		return
	}
	b.drawn = now
	b.line(b.picture(text, done, now.Sub(b.from)))
}

// picture returns the line: the text, the finished share, and the time that is left at this rate.
// Where the end is not known, it has the elapsed time.
func (b *bar) picture(text string, done int64, passed time.Duration) string {
	if b.total <= 0 {
		return fmt.Sprintf("%s [%v]", text, passed.Round(time.Second))
	}
	done = min(max(done, 0), b.total)
	share := float64(done) / float64(b.total)
	full := int(share * barWidth)
	line := fmt.Sprintf("%s %3d%% |%s%s|", text, int(share*100), strings.Repeat("█", full), strings.Repeat(" ", barWidth-full))
	if done > 0 {
		line += fmt.Sprintf(" [%v left]", time.Duration(float64(passed)/share*(1-share)).Round(time.Second))
	}
	return line
}

// line overwrites the line.
func (b *bar) line(text string) {
	if b.width > 1 && utf8.RuneCountInString(text) >= b.width {
		text = string([]rune(text)[:b.width-1]) // a full line would scroll
	}
	n := utf8.RuneCountInString(text)
	fmt.Fprintf(b.w, "\r%s%s\r", text, strings.Repeat(" ", max(0, b.shown-n)))
	b.shown = n
}

// clear leaves an empty line.
func (b *bar) clear() {
	if b.shown > 0 {
		b.line("")
	}
}
