package report

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is rows of cells below a heading, printed in aligned columns. A column whose heading starts
// with ">" is aligned to the right, for numbers.
type Table struct {
	Head []string
	Rows [][]string
}

// Columns appends columns. Those whose head begins with ">" are aligned to the right.
func (t *Table) Columns(heads ...string) { t.Head = append(t.Head, heads...) }

// Add appends a row. Missing cells are empty.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write prints the table, without trailing blanks.
func (t *Table) Write(w io.Writer) error {
	head := make([]string, len(t.Head))
	width := make([]int, len(t.Head))
	right := make([]bool, len(t.Head))
	for i, h := range t.Head {
		head[i], right[i] = strings.CutPrefix(h, ">")
		width[i] = utf8.RuneCountInString(head[i])
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	b := bufio.NewWriter(w)
	line := func(row []string) {
		var s strings.Builder
		for i, cell := range row {
			if i > 0 {
				s.WriteString("  ")
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if right[i] {
				s.WriteString(pad + cell)
			} else {
				s.WriteString(cell + pad)
			}
		}
		b.WriteString(strings.TrimRight(s.String(), " ") + "\n")
	}
	line(head)
	for _, row := range t.Rows {
		line(row)
	}
	return b.Flush()
}

// Markdown prints the table as Markdown.
func (t *Table) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	head, rule := make([]string, len(t.Head)), ""
	for i, h := range t.Head {
		name, right := strings.CutPrefix(h, ">")
		head[i] = name
		if right {
			rule += "|--:"
		} else {
			rule += "|---"
		}
	}
	line(head)
	b.WriteString(rule + "|\n")
	for _, row := range t.Rows {
		line(append(row[:len(row):len(row)], make([]string, max(0, len(head)-len(row)))...))
	}
	return b.Flush()
}
