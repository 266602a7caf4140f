package text

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"kernbench/mem"
	"kernbench/tl"
)

// Bounds of what is read, so that no file takes more memory than it is long.
const (
	MostBytes   = 256 << 20 // of a file
	mostRanks   = 1 << 17
	mostWindows = 8
	mostWords   = 1 << 26 // control words of all ranks together
	mostStmts   = 1 << 21 // of all blocks together
	mostSeats   = 1 << 20 // ranks of all blocks and groups together
	mostElems   = math.MaxInt32 - 1
)

// Error holds what is wrong with a file, and where.
type Error struct {
	File string
	Line int // 0: the file as a whole
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

func (f *File) errorf(line int, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if n := len(msg); n > 2*mostSaid { // it quotes a very long line
		msg = strings.ToValidUTF8(msg[:mostSaid], "") + " ... " + strings.ToValidUTF8(msg[n-mostSaid:], "")
	}
	return &Error{f.Name, line, msg}
}

// mostSaid is the number of bytes that are kept of the beginning and of the end of a long error.
const mostSaid = 400

// Read reads a file, as text or as JSON. Errors and faults use name as its name. A mistake in the
// file is an *Error.
func Read(name string, r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > MostBytes {
		return nil, &Error{File: name, Msg: fmt.Sprintf("found more than %d bytes, the limit of a program", MostBytes)}
	}
	return Parse(name, data)
}

// Parse is Read of bytes.
func Parse(name string, data []byte) (*File, error) {
	p := &parser{f: &File{Name: name}, seen: map[string]int{}, dirs: map[string]tl.Dir{}}
	lines := p.text
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		lines = p.json
	}
	if err := lines(data); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return p.f, p.f.check()
}

// parser reads the lines of a file.
type parser struct {
	f      *File
	line   int
	last   int            // line of the last statement
	seen   map[string]int // lines of what is said once
	rings  []ring
	wired  map[int]int // lines of wire, by rank
	parts  []*window
	groups []int // lines of groups
	block  *Block
	dirs   map[string]tl.Dir
	stmts  int      // of all blocks so far
	seats  int      // ranks of all blocks and groups so far
	free   []string // tokens of the line that are left
}

// window is one that is being read.
type window struct {
	line  int
	bytes int64
	parts []mem.Part
}

func (p *parser) errorf(format string, args ...any) error {
	return p.f.errorf(p.line, format, args...)
}

// text reads the lines of a text.
func (p *parser) text(data []byte) error {
	n := 0
	for len(data) > 0 {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		n++
		if err := p.statement(n, string(line)); err != nil {
			return err
		}
	}
	return nil
}

// statement reads one line.
func (p *parser) statement(n int, line string) error {
	p.line = n
	if i := strings.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	var err error
	if p.free, err = p.tokens(line); err != nil || len(p.free) == 0 {
		return err
	}
	p.last = n
	if p.seen[first] == 0 {
		return p.version()
	}
	word := p.free[0]
	if word == "rank" {
		return p.rank()
	}
	if p.block != nil {
		if word == "column" {
			return p.column()
		}
		return p.operation()
	}
	read := headers[word]
	if read == nil {
		return p.errorf("found %q, want a statement of the header (%s) or rank", word, strings.Join(headerNames, ", "))
	}
	if word != "wire" && word != "window" && word != "part" && word != "group" {
		if at := p.seen[word]; at > 0 {
			return p.errorf("found %s again, want it once: it is in line %d", word, at)
		}
		p.seen[word] = n
	}
	p.free = p.free[1:]
	if err := read(p); err != nil {
		return err
	}
	return p.done()
}

const first = "kernbench"

// tokens splits a line at blanks, but not within brackets.
func (p *parser) tokens(line string) ([]string, error) {
	all := p.free[:0]
	from, depth := -1, 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '[':
			if depth++; depth > 1 {
				return nil, p.errorf("found [ within [ ], want one pair")
			}
		case c == ']':
			if depth--; depth < 0 {
				return nil, p.errorf("found ] without [")
			}
		case depth == 0 && (c == ' ' || c == '\t' || c == '\r'):
			if from >= 0 {
				all, from = append(all, line[from:i]), -1
			}
			continue
		}
		if from < 0 {
			from = i
		}
	}
	if depth > 0 {
		return nil, p.errorf("found [ without ]")
	}
	if from >= 0 {
		all = append(all, line[from:])
	}
	return all, nil
}

// next returns the next token. If there is none, its error has what, the name of the expected
// token.
func (p *parser) next(what string) (string, error) {
	if len(p.free) == 0 {
		return "", p.errorf("found the end of the line, want %s", what)
	}
	t := p.free[0]
	p.free = p.free[1:]
	return t, nil
}

// word takes a token that must be one of some.
func (p *parser) word(known ...string) (string, error) {
	want := strings.Join(known, " or ")
	t, err := p.next(want)
	if err == nil && !slices.Contains(known, t) {
		err = p.errorf("found %q, want %s", t, want)
	}
	return t, err
}

// number takes a number.
func (p *parser) number(what string, lo, hi int64) (int64, error) {
	t, err := p.next(what)
	if err != nil {
		return 0, err
	}
	return p.parseNumber(t, what, lo, hi)
}

func (p *parser) parseNumber(t, what string, lo, hi int64) (int64, error) {
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil || n < lo || n > hi {
		return 0, p.errorf("found %s %q, want a number from %d to %d", what, t, lo, hi)
	}
	return n, nil
}

// done refuses what is left of a line.
func (p *parser) done() error {
	if len(p.free) > 0 {
		return p.errorf("found %q, want the end of the line", p.free[0])
	}
	return nil
}

func (p *parser) version() error {
	if len(p.free) != 3 || p.free[0] != first || p.free[1] != "program" {
		return p.errorf("found %q, want \"kernbench program %d\" in the first line", strings.Join(p.free, " "), Version)
	}
	if p.free[2] != strconv.Itoa(Version) {
		return p.errorf("found version %q, want %d: this kernbench reads only that version", p.free[2], Version)
	}
	p.seen[first] = p.line
	return nil
}

// rank begins a block.
func (p *parser) rank() error {
	if p.f.World == 0 {
		return p.errorf("found a section \"rank\" before the number of ranks, want a line such as \"world 4\" in the header")
	}
	b := &Block{line: p.line}
	p.free = p.free[1:]
	var err error
	if b.Ranks, err = p.ranks("block", int64(p.f.World)); err != nil {
		return err
	}
	if len(b.Ranks) == 0 {
		return p.errorf("found no rank, want at least one")
	}
	if len(p.free) > 0 {
		p.free = p.free[1:]
		if err := p.int(&b.Number, "block", 0, math.MaxInt32); err != nil {
			return err
		}
	}
	p.f.Blocks, p.block = append(p.f.Blocks, b), b
	return p.done()
}

// ranks takes a list of ranks up to a word, in ascending order: 0:4 6.
func (p *parser) ranks(upTo string, world int64) (all []int32, err error) {
	for len(p.free) > 0 && p.free[0] != upTo {
		t, _ := p.next("a rank")
		lo, hi, isRange := strings.Cut(t, ":")
		first, err := p.parseNumber(lo, "rank", 0, world-1)
		if err != nil {
			return nil, err
		}
		end := first + 1
		if isRange {
			if end, err = p.parseNumber(hi, "end of ranks", first+1, world); err != nil {
				return nil, err
			}
		}
		if n := len(all); n > 0 && int64(all[n-1]) >= first {
			return nil, p.errorf("found rank %d after rank %d, want ranks in ascending order", first, all[n-1])
		}
		if p.seats += int(end - first); p.seats > mostSeats {
			return nil, p.errorf("found more than %d ranks in all blocks and groups, want no more", mostSeats)
		}
		for r := first; r < end; r++ {
			all = append(all, int32(r))
		}
	}
	return all, nil
}

// column reads the values of a column.
func (p *parser) column() error {
	b := p.block
	if len(b.Stmts) > 0 {
		return p.errorf("found column after an operation, want columns first")
	}
	p.free = p.free[1:]
	if _, err := p.word(fmt.Sprintf("c%d", len(b.Columns))); err != nil {
		return err
	}
	if len(p.free) != len(b.Ranks) {
		return p.errorf("found %d values, want %d: one for each rank of the block", len(p.free), len(b.Ranks))
	}
	c := make([]int32, 0, len(b.Ranks))
	for len(p.free) > 0 {
		n, err := p.number("value", 0, mostElems)
		if err != nil {
			return err
		}
		c = append(c, int32(n))
	}
	b.Columns = append(b.Columns, c)
	return nil
}
