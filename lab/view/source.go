package view

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kernbench/tl/frames"
)

// sources reads the source text around the lines that have time: of Go from where it was compiled,
// of a program from its file. A file that is not there is left out: the page then has lines without
// text.
func sources(lines []LineTime, program string) []Source {
	used := map[string][]int{}
	example := map[string]string{}
	for i := range lines {
		file, number := splitLine(lines[i].Line)
		if number > 0 {
			used[file] = append(used[file], number)
			example[file] = lines[i].Line
		}
	}
	files := make([]string, 0, len(used))
	for f := range used {
		files = append(files, f)
	}
	slices.Sort(files)
	var all []Source
	left := maxSource
	for _, f := range files {
		for _, s := range pieces(f, readSource(f, example[f], program), used[f]) {
			for _, line := range s.Text {
				left -= len(line) + 1
			}
			if left < 0 {
				return all
			}
			all = append(all, s)
		}
	}
	return all
}

// splitLine cuts file:line.
func splitLine(text string) (file string, line int) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return "", 0
	}
	n, err := strconv.Atoi(text[i+1:])
	if err != nil || n < 1 {
		return "", 0
	}
	return text[:i], n
}

// readSource returns the lines of a file, or nil.
func readSource(file, line, program string) []string {
	at := frames.File(line)
	if program != "" && filepath.Base(program) == filepath.Base(file) {
		at = program
	}
	if at == "" {
		return nil
	}
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<20 {
		return nil
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
}

// pieces returns the parts of a file around some lines.
func pieces(file string, text []string, lines []int) []Source {
	slices.SortFunc(lines, cmp.Compare)
	var all []Source
	for _, n := range lines {
		if n > len(text) {
			continue
		}
		from, to := max(1, n-contextLines), min(len(text), n+contextLines)
		if k := len(all) - 1; k >= 0 && from <= all[k].First+len(all[k].Text) {
			last := &all[k]
			end := last.First + len(last.Text)
			for ; end <= to; end++ {
				last.Text = append(last.Text, text[end-1])
			}
			continue
		}
		all = append(all, Source{File: file, First: from, Text: slices.Clone(text[from-1 : to])})
	}
	return all
}
