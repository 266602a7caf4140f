package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestFormula(t *testing.T) {
	for _, c := range []struct {
		text       string
		rank, cell int
		want       []Contribution // nil: unspecified
	}{
		{"out[r][c] = in[r-1][c]", 2, 3, []Contribution{{Rank: 1, Cell: 3}}},
		{"out[r][c] = in[r-1][c]", 0, 3, nil},
		{"out[r][c] = in[(r+n-1)%n][c]", 0, 3, []Contribution{{Rank: 3, Cell: 3}}},
		{"out[r][c]=in[c/(k/n)][r*(k/n) + c%(k/n)]", 1, 5, []Contribution{{Rank: 2, Cell: 3}}},
		{"out[r][c] = sum in[c]", 1, 2, []Contribution{{Rank: 0, Cell: 2}, {Rank: 1, Cell: 2}, {Rank: 2, Cell: 2}, {Rank: 3, Cell: 2}}},
		{"out[r][c] = in[r][c/(r-r)]", 1, 2, nil},
		{"out[r][c] = in[r][2*3-1]", 1, 2, []Contribution{{Rank: 1, Cell: 5}}},
	} {
		f, err := ParseFormula(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, is := f.For(4, 8).Want(nil, None, c.rank, c.cell)
		if is != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s at rank %d, chunk %d: %v, %v; want %v", c.text, c.rank, c.cell, got, is, c.want)
		}
	}
}

func TestFormulaErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "column 1: found the end, want out[r][c]",
		"out[r][c] = in[r]":             "column 18: found the end, want [",
		"out[r][c] = in[r][c] x":        "column 22: found \"x\", want nothing more",
		"out[r][c] = in[q][c]":          "column 16: found \"q][c]\", want r, c, n, k, a number or (",
		"out[r][c] = in[(r][c]":         "column 18: found \"][c]\", want )",
		"out[r][c] = in[9999999999][c]": "a number of at most",
		"out[r][c] = in[" + strings.Repeat("(", 99): "fewer parentheses",
	} {
		if _, err := ParseFormula(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseFormula(f *testing.F) {
	f.Add("out[r][c] = in[(r+n-1)%n][c*2/k]")
	f.Add("out[r][c] = sum in[c]")
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := ParseFormula(text); err == nil {
			g.For(3, 6).Want(nil, None, 1, 2)
		}
	})
}
