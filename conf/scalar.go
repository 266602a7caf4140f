package conf

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"kernbench/unit"
)

// nameForm matches names of algorithms and modules. A dot separates the parts of a module's path.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

const longestName = 128 // bytes; the expression does not say so, because it would take long to make

func isName(word string) bool { return len(word) <= longestName && nameForm.MatchString(word) }

// scalar converts the scalar n to the type of f and checks it against f's range or words. The error
// has the value found and the expected ones.
func (f *field) scalar(n *yaml.Node) (reflect.Value, error) {
	v := reflect.New(f.typ).Elem()
	if f.zero != "" && n.Tag == "!!str" && n.Value == f.zero {
		return v, nil
	}
	switch f.kind {
	case kindBool:
		if n.Tag != "!!bool" {
			return v, f.unexpected(n)
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case kindString:
		if n.Tag != "!!str" {
			return v, f.unexpected(n)
		}
		if err := f.checkWord(n.Value); err != nil {
			return v, err
		}
		v.SetString(n.Value)
	case kindFloat:
		x, err := f.number(n)
		if err != nil {
			return v, err
		}
		v.SetFloat(x)
		return v, f.checkRange(x, n.Value)
	default:
		x, err := f.quantity(n)
		if err != nil {
			return v, err
		}
		v.SetInt(x)
		return v, f.checkRange(float64(x), f.show(n))
	}
	return v, nil
}

// checkWord checks a text against f's words, or against the form of a name where f has none.
func (f *field) checkWord(word string) error {
	switch {
	case f.form != nil && !f.form.MatchString(word):
		return fmt.Errorf("found %q, want %s", clip(word), f.sample)
	case f.form != nil:
		return nil
	}
	if f.enum == nil {
		if !isName(word) {
			return fmt.Errorf("found %q, want a name of letters, digits, _, . and -", clip(word))
		}
		return nil
	}
	for _, known := range f.enum {
		if word == known {
			return nil
		}
	}
	hint := ""
	if near := Nearest(word, f.enum); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("found %q, want %s%s", clip(word), oneOf(f.enum), hint)
}

// checkRange checks x against f's limits. found is x as the source has it. NaN is outside every
// range.
func (f *field) checkRange(x float64, found string) error {
	if x >= f.min.value && x <= f.max.value {
		return nil
	}
	return fmt.Errorf("found %s, want %s", clip(found), f.rangeText())
}

func (f *field) rangeText() string { return f.min.label + " to " + f.max.label }

// number reads an integer or a decimal number.
func (f *field) number(n *yaml.Node) (float64, error) {
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return 0, f.unexpected(n)
	}
	switch strings.ToLower(strings.TrimPrefix(n.Value, "+")) {
	case ".nan", ".inf", "-.inf":
		return 0, fmt.Errorf("found %s, want %s", n.Value, f.expected())
	}
	if n.Tag == "!!int" {
		x, err := f.integer(n)
		return float64(x), err
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("found %s, want %s", clip(n.Value), f.expected())
	}
	return x, nil
}

// integer reads a whole number: decimal, 0x, 0o or 0b. A leading zero is refused, since YAML 1.1
// reads 010 as 8.
func (f *field) integer(n *yaml.Node) (int64, error) {
	digits := strings.TrimLeft(n.Value, "+-")
	if len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		return 0, fmt.Errorf("found %s, with a leading zero, want %s", clip(n.Value), f.expected())
	}
	x, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64)
	if err != nil {
		return 0, fmt.Errorf("found %s, want %s", clip(n.Value), f.expected())
	}
	return x, nil
}

// quantity reads an integer, a time, a rate or a size in its base unit. Bare numbers of a time are
// ns, of a rate GB/s.
func (f *field) quantity(n *yaml.Node) (int64, error) {
	text := n.Value
	switch {
	case n.Tag == "!!str" && f.kind != kindInt:
	case n.Tag == "!!int" && (f.kind == kindInt || f.kind == kindBytes):
		return f.integer(n)
	case (n.Tag == "!!int" || n.Tag == "!!float") && (f.kind == kindTime || f.kind == kindRate):
		x, err := f.number(n)
		if err != nil {
			return 0, err
		}
		text = strconv.FormatFloat(x, 'f', -1, 64) + map[kind]string{kindTime: "ns", kindRate: "GB/s"}[f.kind]
	default:
		return 0, f.unexpected(n)
	}
	var x int64
	var err error
	switch f.kind {
	case kindTime:
		var t unit.Time
		t, err = unit.ParseTime(text)
		x = int64(t)
	case kindRate:
		var r unit.Rate
		r, err = unit.ParseRate(text)
		x = int64(r)
	case kindBytes:
		var b unit.Bytes
		b, err = unit.ParseBytes(text)
		x = int64(b)
	}
	if err != nil {
		if f.zero != "" || len(text) > 40 { // a number beyond all limits: its digits would not help
			return 0, fmt.Errorf("found %s, want %s", clip(f.show(n)), f.expected())
		}
		if text != n.Value && text[0] == '-' { // n has no unit, so the error must not quote one
			return 0, fmt.Errorf("found %s, want %s", n.Value, f.rangeText())
		}
		return 0, err // with the value found and the expected ones
	}
	return x, nil
}

// unexpected returns the error for a node of the wrong type.
func (f *field) unexpected(n *yaml.Node) error {
	found, hint := found(n), ""
	if n.Kind == yaml.ScalarNode {
		switch {
		case n.Tag == "!!str" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && f.kind != kindString:
			hint = ": drop the quotes"
		case f.kind == kindString && f.enum == nil:
			hint = ": put quotes around it if it is meant as text"
		}
	}
	return fmt.Errorf("found %s, want %s%s", found, f.expected(), hint)
}

// expected describes the values of f.
func (f *field) expected() string {
	switch f.kind {
	case kindStruct:
		return "a mapping with the keys " + strings.Join(f.keys(), ", ")
	case kindMap:
		return "a mapping of names"
	case kindList:
		if f.elem.kind == kindStruct {
			return "a list of mappings with the keys " + strings.Join(f.elem.keys(), ", ")
		}
		return "a list such as [" + f.elem.example() + ", ...]"
	case kindInt:
		return "a whole number, " + f.rangeText()
	case kindFloat:
		return "a number, " + f.rangeText()
	case kindBool:
		return "true or false"
	case kindTime:
		return "a number of ns, or a time such as 1.5us"
	case kindRate:
		return "a number of GB/s, or a rate such as 1.2TB/s"
	case kindBytes:
		if f.zero != "" {
			return "a number of bytes, a size such as 4KiB, or " + f.zero
		}
		return "a number of bytes, or a size such as 4KiB"
	}
	if f.enum != nil {
		return oneOf(f.enum)
	}
	return "a name"
}

func (f *field) example() string {
	if f.enum != nil {
		return f.enum[0]
	}
	return f.min.label
}

// show prints a number as the source has it, with the unit that a bare one means.
func (f *field) show(n *yaml.Node) string {
	bare := n.Tag != "!!str"
	switch {
	case f.kind == kindTime && bare:
		return n.Value + " ns"
	case f.kind == kindRate && bare:
		return n.Value + " GB/s"
	}
	return n.Value
}

// found describes a node of the wrong type.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "the number " + clip(n.Value)
	case "!!bool":
		return clip(n.Value)
	case "!!str":
		return "the text " + strconv.Quote(clip(n.Value))
	}
	return fmt.Sprintf("%s with the tag %s", strconv.Quote(clip(n.Value)), clip(n.Tag))
}

// oneOf joins words as in a sentence.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// clip shortens a quoted text.
func clip(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return s
}
