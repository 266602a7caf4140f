package conf

import (
	"fmt"
	"strings"

	"kernbench/internal/near"
)

// Nearest returns the element of known that word was probably meant to be, or "" when none is near.
func Nearest(word string, known []string) string { return near.Name(word, known) }

// didYouMean returns the end of an error message about word: the nearest known word, or all known
// words.
func didYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known here: " + strings.Join(known, ", ")
}
