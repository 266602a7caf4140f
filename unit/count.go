package unit

import "fmt"

// Count returns a number of things in words: "1 PE", "8 PEs".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
