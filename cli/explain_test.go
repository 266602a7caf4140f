package cli

import (
	"slices"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
		ok   bool
	}{
		{"", nil, true},
		{"  a\tb \n", []string{"a", "b"}, true},
		{`--set "a=[1, 2]" 'x y'z`, []string{"--set", "a=[1, 2]", "x yz"}, true},
		{`''`, []string{""}, true},
		{`"it's"`, []string{"it's"}, true},
		{`a "b`, nil, false},
	} {
		got, err := splitWords(c.line)
		if !slices.Equal(got, c.want) || (err == nil) != c.ok {
			t.Errorf("%q: %q, %v", c.line, got, err)
		}
	}
}
