package fit

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// isHead reports whether a line names the columns of nccl-tests.
func isHead(line string) bool {
	if !strings.HasPrefix(strings.TrimSpace(line), "#") {
		return false
	}
	ws := words(strings.ReplaceAll(line, "\t", " "))
	return has(ws, "size") && has(ws, "time") && has(ws, "algbw")
}

var (
	rankLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^#\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s`)
	})
	ourRanks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^#\s+(\d+) ranks? on `)
	})
	anyTest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^# Collective test starting: (\S+)`)
	})
)

// columns holds the positions of the cells of a row. A time is -1 where there is none.
type columns struct {
	n                 int
	size              int
	typ, redop, root  int
	outTime, inTime   int
	line              int
	betweenPlacements int // cells that a row without the first placement lacks
}

// parseText reads what nccl-tests prints, or kernbench perf. Lines that are no part of it, such as
// those of the library and of mpirun, are passed over.
func (t *Table) parseText(lines []string) error {
	var head *columns
	var out, in []row
	groups := map[string]int{}
	firstGroup, missing := "", 0
	for i, line := range lines {
		text := strings.TrimSpace(strings.ReplaceAll(line, "\t", " "))
		switch {
		case text == "":
		case isHead(text):
			head = readHead(text)
			head.line = i + 1
		case text[0] == '#':
			if m := rankLine().FindStringSubmatch(text); m != nil {
				if len(groups) == 0 {
					firstGroup = m[2]
				}
				groups[m[2]]++
			} else if m := ourRanks().FindStringSubmatch(text); m != nil {
				t.Ranks, _ = strconv.Atoi(m[1]) // too many digits: unknown
			} else if m := anyTest().FindStringSubmatch(text); m != nil {
				t.Collective = m[1]
			} else {
				t.remark(text)
			}
		case text[0] < '0' || text[0] > '9' || head == nil:
		default:
			o, p, err := t.textRow(head, i+1, line)
			if err != nil {
				return err
			}
			switch {
			case o == nil && p == nil:
				missing++
				continue
			case o != nil:
				out = append(out, *o)
			}
			if p != nil {
				in = append(in, *p)
			}
		}
	}
	if len(groups) > 0 {
		t.Ranks = groups[firstGroup]
	}
	if len(groups) > 1 {
		t.Notes = append(t.Notes,
			strconv.Itoa(len(groups))+" groups of ranks worked at the same time: the machine is taken to be that of the first")
	}
	if missing > 0 {
		t.Notes = append(t.Notes, strconv.Itoa(missing)+" rows without a time are left out")
	}
	rows := out
	if len(out) == 0 {
		rows, t.InPlace = in, true
	}
	if len(rows) == 0 {
		return t.errorf(place{head.line, 1}, "found no row with a time below the columns")
	}
	t.describe(&rows[0])
	return t.finish(rows)
}

// describe takes over what a row states about the call.
func (t *Table) describe(r *row) {
	t.Type, t.RedOp, t.Root = r.typ, r.redop, -1
	if n, err := strconv.Atoi(strings.TrimSpace(r.root)); err == nil && n >= 0 && n < 1<<24 {
		t.Root = n
	}
	if t.RedOp == "none" {
		t.RedOp = ""
	}
}

func readHead(text string) *columns {
	names := strings.Fields(strings.TrimPrefix(text, "#"))
	h := &columns{n: len(names), size: -1, typ: -1, redop: -1, root: -1, outTime: -1, inTime: -1}
	for i, name := range names {
		switch {
		case name == "size":
			h.size = i
		case name == "type":
			h.typ = i
		case name == "redop":
			h.redop = i
		case name == "root":
			h.root = i
		case name == "time" && h.outTime < 0:
			h.outTime = i
		case name == "time" && h.inTime < 0:
			h.inTime, h.betweenPlacements = i, i-h.outTime
		}
	}
	return h
}

// textRow reads a line of the table: what it says out of place and in place, nil where it says
// nothing.
func (t *Table) textRow(h *columns, n int, line string) (out, in *row, err error) {
	line, _, _ = strings.Cut(line, "#") // a remark of kernbench perf after the row
	cells := words(strings.ReplaceAll(line, "\t", " "))
	shift, onlyIn := 0, h.inTime >= 0 && len(cells) == h.n-h.betweenPlacements
	switch {
	case onlyIn:
		shift = h.betweenPlacements
	case len(cells) < h.n && len(cells) <= max(h.outTime, h.inTime):
		return nil, nil, t.errorf(place{n, 1}, "found %d columns, want %d, as in line %d", len(cells), h.n, h.line)
	}
	size, err := t.sizeOf(n, cells[h.size])
	if err != nil {
		return nil, nil, err
	}
	r := row{place: place{n, cells[h.size].column}, size: size}
	r.column = r.place
	for _, c := range []struct {
		at int
		to *string
	}{{h.root, &r.root}, {h.redop, &r.redop}, {h.typ, &r.typ}} {
		if c.at >= 0 {
			*c.to, r.column = cells[c.at].text, place{n, cells[c.at].column}
		}
	}
	read := func(column int) (*row, error) {
		if column < 0 || cells[column].text == "N/A" || cells[column].text == "-" {
			return nil, nil
		}
		if size == 0 {
			r.us = 1 // nothing was measured: finish leaves it out
		} else if r.us, err = t.usOf(n, cells[column]); err != nil {
			return nil, err
		}
		one := r
		return &one, nil
	}
	if !onlyIn {
		if out, err = read(h.outTime); err != nil {
			return nil, nil, err
		}
	}
	if h.inTime >= 0 {
		in, err = read(h.inTime - shift)
	}
	return out, in, err
}
