package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// Formula is a relation as a user writes it: "out[r][c] = in[r-1][c]", or "out[r][c] = sum in[c]"
// for the sum over all ranks. Indices are made of r (the rank), c (the chunk of its output), n
// (ranks) and k (chunks of the larger of input and output). They may have numbers, + - * / % and
// parentheses. A rank that does not exist leaves the cell unspecified.
type Formula struct {
	sum        bool
	rank, cell expression
}

// expression is a value that depends on r, c, n and k; false if it divides by zero.
type expression func(v [4]int) (int, bool)

const variables = "rcnk"

// ParseFormula reads a formula.
func ParseFormula(text string) (*Formula, error) {
	p := &formulaParser{text: text}
	f := &Formula{}
	p.word("out[r][c]")
	p.word("=")
	f.sum = p.accept("sum")
	p.word("in")
	first := p.index()
	if f.sum {
		f.cell = first
	} else {
		f.rank, f.cell = first, p.index()
	}
	if p.skip(); p.err == nil && p.at < len(text) {
		p.fail("nothing more")
	}
	if p.err != nil {
		return nil, p.err
	}
	return f, nil
}

// For returns the relation for a number of ranks, given the chunks of their larger buffer.
func (f *Formula) For(world, chunks int) *Relation {
	return &Relation{Root: None, Want: func(dst []Contribution, _, rank, cell int) ([]Contribution, bool) {
		v := [4]int{rank, cell, world, chunks}
		from, ok := f.cell(v)
		if !ok || from < 0 || from >= chunks {
			return dst, false
		}
		if f.sum {
			for q := range world {
				dst = append(dst, Contribution{Rank: q, Cell: from})
			}
			return dst, true
		}
		q, ok := f.rank(v)
		if !ok || q < 0 || q >= world {
			return dst, false
		}
		return append(dst, Contribution{Rank: q, Cell: from}), true
	}}
}

// formulaParser reads a formula from left to right. depth is of parentheses.
type formulaParser struct {
	text  string
	at    int
	depth int
	err   error
}

func (p *formulaParser) fail(want string) {
	if p.err == nil {
		found := "the end"
		if rest := strings.Fields(p.text[p.at:]); len(rest) > 0 {
			found = strconv.Quote(rest[0])
		}
		p.err = fmt.Errorf("relation %q, column %d: found %s, want %s", p.text, p.at+1, found, want)
	}
}

func (p *formulaParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *formulaParser) accept(word string) bool {
	p.skip()
	if p.err == nil && strings.HasPrefix(p.text[p.at:], word) {
		p.at += len(word)
		return true
	}
	return false
}

func (p *formulaParser) word(word string) {
	if !p.accept(word) {
		p.fail(word)
	}
}

func (p *formulaParser) index() expression {
	p.word("[")
	e := p.sum()
	p.word("]")
	return e
}

// binary makes an expression of two.
func binary(a, b expression, do func(x, y int) (int, bool)) expression {
	return func(v [4]int) (int, bool) {
		x, ok := a(v)
		y, ok2 := b(v)
		if !ok || !ok2 {
			return 0, false
		}
		return do(x, y)
	}
}

func (p *formulaParser) sum() expression {
	e := p.product()
	for p.err == nil {
		switch {
		case p.accept("+"):
			e = binary(e, p.product(), func(x, y int) (int, bool) { return x + y, true })
		case p.accept("-"):
			e = binary(e, p.product(), func(x, y int) (int, bool) { return x - y, true })
		default:
			return e
		}
	}
	return e
}

func (p *formulaParser) product() expression {
	e := p.factor()
	for p.err == nil {
		switch {
		case p.accept("*"):
			e = binary(e, p.factor(), func(x, y int) (int, bool) { return x * y, true })
		case p.accept("/"):
			e = binary(e, p.factor(), func(x, y int) (int, bool) {
				if y == 0 {
					return 0, false
				}
				return x / y, true
			})
		case p.accept("%"):
			e = binary(e, p.factor(), func(x, y int) (int, bool) {
				if y == 0 {
					return 0, false
				}
				return ((x % y) + y) % y, true
			})
		default:
			return e
		}
	}
	return e
}

const (
	deepest   = 50
	mostValue = 1 << 30
)

func (p *formulaParser) factor() expression {
	zero := func([4]int) (int, bool) { return 0, true }
	if p.accept("(") {
		if p.depth++; p.depth > deepest {
			p.fail("fewer parentheses")
			return zero
		}
		e := p.sum()
		p.word(")")
		p.depth--
		return e
	}
	if p.skip(); p.err != nil || p.at >= len(p.text) {
		p.fail("r, c, n, k, a number or (")
		return zero
	}
	if i := strings.IndexByte(variables, p.text[p.at]); i >= 0 {
		p.at++
		return func(v [4]int) (int, bool) { return v[i], true }
	}
	n, digits := 0, 0
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		if n = 10*n + int(p.text[p.at]-'0'); n > mostValue {
			p.fail(fmt.Sprintf("a number of at most %d", mostValue))
			return zero
		}
		p.at++
		digits++
	}
	if digits == 0 {
		p.fail("r, c, n, k, a number or (")
	}
	return func([4]int) (int, bool) { return n, true }
}
