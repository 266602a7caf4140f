package fit

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseTSV reads columns below the line of their names, head, and what the lines above it say.
func (t *Table) parseTSV(lines []string, head int) error {
	for i, line := range lines[:head] {
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case !strings.HasPrefix(strings.TrimSpace(line), "#"):
			return t.errorf(place{i + 1, 1}, "found %s; lines above that of the columns begin with #", shown(line))
		}
		r, ok := t.remark(line)
		if !ok {
			continue
		}
		at := place{i + 1, utf8.RuneCountInString(line[:strings.Index(line, ":")]) + 3}
		switch r.Key {
		case "ranks":
			n, err := strconv.Atoi(r.Value)
			if err != nil || n < 1 || n > 1<<24 {
				return t.errorf(at, "found %s, want a number of ranks", shown(r.Value))
			}
			t.Ranks, t.RanksLine = n, at.line
		case "collective":
			t.Collective = r.Value
		case "dtype":
			t.Type = r.Value
		case "redop":
			t.RedOp = r.Value
		case "root":
			n, err := strconv.Atoi(r.Value)
			if err != nil || n < -1 || n > 1<<24 {
				return t.errorf(at, "found %s, want a rank, or -1 for none", shown(r.Value))
			}
			t.Root = n
		case "placement":
			switch r.Value {
			case "in-place":
				t.InPlace = true
			case "out-of-place":
			default:
				return t.errorf(at, "found %s, want out-of-place or in-place", shown(r.Value))
			}
		}
	}
	columns := map[string]int{}
	for i, w := range words(lines[head]) {
		if _, twice := columns[w.text]; twice {
			return t.errorf(place{head + 1, w.column}, "found a second column %s, want each once", w.text)
		}
		columns[w.text] = i
	}
	time, ok := columns["time_us"]
	if !ok {
		return t.errorf(place{head + 1, 1},
			"found columns without time_us, want size_bytes and time_us; algbw_GBps and busbw_GBps are understood, too")
	}
	var rows []row
	for i, line := range lines[head+1:] {
		n := head + 2 + i
		if text := strings.TrimSpace(line); text == "" || text[0] == '#' {
			continue
		}
		cells := words(line)
		if len(cells) != len(columns) {
			return t.errorf(place{n, 1}, "found %d columns, want %d, as in line %d", len(cells), len(columns), head+1)
		}
		size, err := t.sizeOf(n, cells[columns["size_bytes"]])
		if err != nil {
			return err
		}
		us, err := t.usOf(n, cells[time])
		if err != nil {
			return err
		}
		if k, ok := columns["algbw_GBps"]; ok {
			if err := t.agrees(n, cells[k], float64(size)/us/1e3); err != nil {
				return err
			}
		}
		rows = append(rows, row{place: place{n, 1}, size: size, us: us})
	}
	if len(rows) == 0 {
		return t.errorf(place{head + 1, 1}, "found no row below the columns")
	}
	return t.finish(rows)
}

// agrees holds a bandwidth against that which follows from size and time. If they differ, one of
// the columns does not have the unit of its name.
func (t *Table) agrees(line int, w word, want float64) error {
	got, err := strconv.ParseFloat(w.text, 64)
	if err != nil {
		return t.errorf(place{line, w.column}, "found %s, want a bandwidth in GB/s", shown(w.text))
	}
	const near, rounding = 0.02, 0.01
	if diff := got - want; !(diff <= near*want+rounding && -diff <= near*want+rounding) {
		return t.errorf(place{line, w.column},
			"found an algbw of %s GB/s; size over time is %.4g: the size is expected in bytes and the time in µs", w.text, want)
	}
	return nil
}
