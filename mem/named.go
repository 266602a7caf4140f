package mem

import "fmt"

// Named is a range of memory with a name, such as "tensor x", for errors.
type Named struct {
	Name  string
	From  Addr
	Bytes int64
}

// Describe returns the name and the extent of the range that holds an address. If none does, it
// describes the last range before the address in the same memory. It returns "" if there is none.
func Describe(a Addr, ranges []Named) string {
	var best Named
	for _, r := range ranges {
		before := r.Bytes > 0 && r.From <= a && r.From.Space() == a.Space() && r.From.Unit() == a.Unit()
		if before && (best.Bytes == 0 || r.From > best.From) {
			best = r
		}
	}
	switch {
	case best.Bytes == 0:
		return ""
	case a < best.From+Addr(best.Bytes):
		return fmt.Sprintf("%s has %d bytes from %v on", best.Name, best.Bytes, best.From)
	}
	return fmt.Sprintf("the last memory before it is %s, with %d bytes from %v on", best.Name, best.Bytes, best.From)
}
