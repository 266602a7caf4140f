package cli

import (
	"fmt"
	"math"
	"strings"

	"kernbench/lab/sweep"
)

// listed is a flag with several values, or all.
type listed[T any] struct {
	to    *[]T
	all   func()
	parse func(string) (T, error)
	kind  string
	text  string
}

func (l *listed[T]) String() string { return l.text }
func (l *listed[T]) Type() string   { return l.kind }

func (l *listed[T]) Set(s string) error {
	if s == "all" {
		l.text = s
		l.all()
		return nil
	}
	var list []T
	for part := range strings.SplitSeq(s, ",") {
		v, err := l.parse(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		list = append(list, v)
	}
	*l.to, l.text = list, s
	return nil
}

// anyName accepts any text but the empty one. The name is looked up later.
func anyName(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("found an empty name in the list")
	}
	return s, nil
}

// rootList is a flag with ranks, and ranges of them, or all.
type rootList struct {
	to  *[]int
	all *bool
}

func (l *rootList) Type() string { return "RANK,...|all" }

func (l *rootList) String() string {
	if l.to == nil {
		return ""
	}
	return (*rankList)(l.to).String()
}

func (l *rootList) Set(s string) error {
	if s == "all" {
		*l.all = true
		return nil
	}
	const most = 1 << 24 // the most ranks of a configuration
	list, err := parseList(s, 0, most)
	if err != nil {
		return fmt.Errorf("%w, want ranks from 0 on and ranges of them, such as 0 or 0,3-5, or all", err)
	}
	*l.to, *l.all = list, false
	return nil
}

// numbersFlag is a flag with one number or several, such as of ranks.
type numbersFlag []int

func (l *numbersFlag) Type() string   { return "N,..." }
func (l *numbersFlag) String() string { return (*rankList)(l).String() }

func (l *numbersFlag) Set(s string) error {
	const most = 1 << 12 // numbers; a longer list is probably a mistake
	list, err := parseList(s, 1, most)
	if err != nil {
		return fmt.Errorf("%w, want a number from 1 to %d, or several such as 8,16,32", err, math.MaxInt32)
	}
	*l = list
	return nil
}

// variations is a flag with a key and several values. It is given once for each key.
type variations []sweep.Variation

func (v *variations) Type() string   { return "KEY=V1,V2,..." }
func (v *variations) String() string { return "" }

func (v *variations) Set(s string) error {
	key, values, found := strings.Cut(s, "=")
	key = strings.TrimSpace(key)
	if key == "" || !found {
		return fmt.Errorf("found %q, want KEY=V1,V2,..., such as n_slots=2,4,8", s)
	}
	one := sweep.Variation{Key: key}
	for _, value := range splitValues(values) {
		if value = strings.TrimSpace(value); value == "" {
			return fmt.Errorf("key %s has an empty value", key)
		}
		one.Values = append(one.Values, value)
	}
	*v = append(*v, one)
	return nil
}

// splitValues splits at commas, but not at those of a list in brackets.
func splitValues(s string) []string {
	var all []string
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			all, from = append(all, s[from:i]), i+1
		}
	}
	return append(all, s[from:])
}
