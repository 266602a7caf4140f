package conf

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// parse reads the one YAML document of data, whose first line is line 1 of t. shift is how far to
// the right of a line's start data begins in it. No document at all gives nil.
func parse(t *text, data string, shift int) (*yaml.Node, *Error) {
	if len(data) > maxSource {
		return nil, t.at(1, 1, 1).errorf("", "found %d bytes; a configuration may have %d", len(data), maxSource)
	}
	if at, what, ok := t.readable(); !ok {
		return nil, at.errorf("", "found %s, want text in UTF-8", what)
	}
	loader, err := yaml.NewLoader(strings.NewReader(data))
	if err != nil {
		return nil, t.at(1, 1, 1).errorf("", "cannot be read: %v", err)
	}
	var first, second yaml.Node
	if err := loader.Load(&first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, syntaxError(t, err, shift)
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, syntaxError(t, err, shift)
	default:
		return nil, t.at(second.Line, second.Column, 3).errorf("",
			"found a second document; a file has one: remove the line ---, or make two files of it")
	}
	root := &first
	for root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	return root, nil
}

// syntaxError turns the parser's error into an *Error.
func syntaxError(t *text, err error, shift int) *Error {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return t.at(1, 1, 1).errorf("", "is not YAML: %v", err)
	}
	mark := load.Mark
	if load.ContextMark.Line > 0 && (mark.Line > len(t.lines) || t.lines[max(mark.Line, 1)-1] == "") {
		mark = load.ContextMark // the end of the file has no text; show the construct that is still open
	}
	line, col := mark.Line, mark.Column
	if line == 1 {
		col += shift
	}
	if line > len(t.lines) {
		line = len(t.lines)
		col = utf8.RuneCountInString(t.lines[line-1]) + 1
	}
	p := t.at(line, col, 1)
	if line >= 1 && line <= len(t.lines) {
		source := t.lines[line-1]
		indent := source[:len(source)-len(strings.TrimLeft(source, " \t"))]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 {
			return t.at(line, tab+1, 1).errorf("", "found a tab in the indentation; YAML is indented with spaces")
		}
	}
	message := load.Message
	if load.ContextMsg != "" {
		message += " " + load.ContextMsg
	}
	switch {
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "expected <block end>"):
		message += " (do the keys above start in the same column?)"
	case strings.Contains(message, "mapping values are not allowed"):
		message += " (a second \": \" in one line: put quotes around the text, or start a new line)"
	}
	return p.errorf("", "is not YAML: %s", message)
}
