package cli

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRankList(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []int // nil: an error
	}{
		{"1", []int{1}},
		{"1,2,3,8", []int{1, 2, 3, 8}},
		{"2, 5-8", []int{2, 5, 6, 7, 8}},
		{"7-7", []int{7}},
		{"", nil}, {"0", nil}, {"-1", nil}, {"1,", nil}, {"a", nil}, {"3-1", nil}, {"1-2-3", nil},
		{"99999999999", nil}, {"1-1001", nil},
	} {
		var got rankList
		err := got.Set(c.in)
		if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
			t.Errorf("Set(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
}

func TestSeed(t *testing.T) {
	for _, c := range []struct {
		in   string
		want uint64
		ok   bool
	}{
		{"0", 0, true}, {"7", 7, true}, {"0x10", 16, true}, {"18446744073709551615", math.MaxUint64, true},
		{"-1", 0, false}, {"18446744073709551616", 0, false}, {"", 0, false}, {"x", 0, false},
	} {
		var got seed
		if err := got.Set(c.in); (err == nil) != c.ok || uint64(got) != c.want || err != nil && !strings.Contains(err.Error(), "2^64-1") {
			t.Errorf("Set(%q) = %d, %v; want %d", c.in, got, err, c.want)
		}
	}
}

// Every list is either refused or read back from its own text.
func FuzzRankList(f *testing.F) {
	f.Add("1,2,5-8")
	f.Add("1-2147483647")
	f.Add("-,1")
	f.Fuzz(func(t *testing.T, s string) {
		var list, again rankList
		if list.Set(s) != nil {
			return
		}
		if len(list) == 0 || slices.Min(list) < 1 {
			t.Fatalf("Set(%q) = %v", s, list)
		}
		if len(list) <= 1000 && (again.Set(list.String()) != nil || !slices.Equal(list, again)) {
			t.Fatalf("%q became %v, whose text becomes %v", s, list, again)
		}
	})
}

func TestDeviceList(t *testing.T) {
	for in, want := range map[string][]int{
		"0-3": {0, 1, 2, 3}, "0,2,5-7": {0, 2, 5, 6, 7}, "9": {9},
		"": nil, "-1": nil, "3-1": nil, "0-": nil, "a": nil, "0-99999999": nil,
	} {
		var got deviceList
		if err := got.Set(in); (err != nil) != (want == nil) || !slices.Equal(got, want) {
			t.Errorf("Set(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
}
