package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// A reader types the blocks of the author's guide one below the other. Each block is declarations,
// and the first of a file has its package and imports.
func TestGuideCanBeTyped(t *testing.T) {
	begun := false
	for _, b := range pageBlocks(t) {
		if b.page != "../author-guide.md" || b.info != "go" {
			continue
		}
		text := b.text
		if strings.HasPrefix(text, "package ") {
			begun = true
		} else {
			text = "package main\n" + text
		}
		if !begun {
			t.Errorf("%v: the first block has no package clause", &b)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), b.String(), text, 0); err != nil {
			t.Errorf("%v: it is not declarations: %v", &b, err)
		}
	}
}
